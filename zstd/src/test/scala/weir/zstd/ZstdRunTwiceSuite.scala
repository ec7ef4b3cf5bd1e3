package weir.zstd

import weir.{RunTwice, Stream}

/** Each pipe of Zstandard, run again and beside another run. */
class ZstdRunTwiceSuite extends RunTwice:
  private val bytes = Stream("ab".getBytes, "cd".getBytes)
  private def text(bytes: Stream[Array[Byte]]) = bytes.map(String(_)).mkString()

  complete(List(Zstd.getClass))
  row("Zstd.compress")("abcd") {
    val compress = Zstd.compress()
    text(bytes.through(compress).through(Zstd.decompress))
  }
  row("Zstd.decompress")("abcd") {
    val decompress = Zstd.decompress
    text(bytes.through(Zstd.compress()).through(decompress))
  }
