package weir.json

import com.github.plokhotnyuk.jsoniter_scala.core.JsonValueCodec
import com.github.plokhotnyuk.jsoniter_scala.macros.JsonCodecMaker
import weir.RunTwice

/** Each pipe of JSON lines, run again and beside another run. */
class JsonRunTwiceSuite extends RunTwice:
  private given JsonValueCodec[Int] = JsonCodecMaker.make
  private val one = "1\n".getBytes
  private val two = "2\n".getBytes

  complete(List(JsonLines.getClass))
  pipe("JsonLines.decode")(one, two)(1, 2)(JsonLines.decode[Int]())
  pipe("JsonLines.encode")(1, 2)(one, two)(JsonLines.encode[Int])
