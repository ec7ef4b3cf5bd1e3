package weir.json

import com.github.plokhotnyuk.jsoniter_scala.core.{
  JsonReaderException,
  JsonValueCodec,
  readFromString,
  writeToArray
}
import java.io.IOException
import weir.Stream
import weir.io.Text

/** JSON lines (NDJSON): a value of JSON in each line, by jsoniter-scala, whose macro makes the
  * codec of a type: `given JsonValueCodec[User] = JsonCodecMaker.make`.
  *
  * {{{
  * val users: Task[List[User]] = Stream.fromPath(path).through(JsonLines.decode[User]()).toList
  * }}}
  */
object JsonLines:

  /** Parses a value from each line of UTF-8 bytes, whose blocks may end anywhere. Blank lines are
    * left out.
    *
    * **Fails**, after the values before it, with an `IOException` that names the line: if it is not
    * a value of this type, or longer than `limitChars` characters.
    */
  def decode[A](limitChars: Int = 16 * 1024 * 1024)(using
      codec: JsonValueCodec[A]
  ): Stream[Array[Byte]] => Stream[A] = bytes =>
    bytes
      .through(Text.utf8Decode)
      .through(Text.linesOfAtMost(limitChars))
      .zipWithIndex
      .filter((line, _) => !line.isBlank)
      .map((line, index) => value(line, index + 1))

  private def value[A](line: String, number: Long)(using JsonValueCodec[A]): A =
    try readFromString(line)
    catch
      case error: JsonReaderException =>
        // Without the dump of the bytes that the message goes on with.
        val problem = error.getMessage.nn.linesIterator.next().stripSuffix(", buf:")
        throw IOException(s"JsonLines: line $number: $problem", error)

  /** Writes values as bytes, each with the end of its line, `\n`. **Fails** with the error of the
    * codec.
    */
  def encode[A](using codec: JsonValueCodec[A]): Stream[A] => Stream[Array[Byte]] =
    _.map { value =>
      val json = writeToArray(value)
      val line = java.util.Arrays.copyOf(json, json.length + 1)
      line(json.length) = '\n'
      line
    }
