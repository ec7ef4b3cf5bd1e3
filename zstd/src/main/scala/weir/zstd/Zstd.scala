package weir.zstd

import com.github.luben.zstd.{ZstdInputStream, ZstdOutputStream}
import java.io.{ByteArrayOutputStream, IOException}
import weir.io.Source
import weir.{Stream, Task, throughInputStream}

/** Zstandard (RFC 8878) for streams of bytes, by zstd-jni, which is native code: a program needs
  * `--enable-native-access=ALL-UNNAMED` so that JDK 25 does not warn about it.
  *
  * {{{
  * val lines: Stream[String] =
  *   Stream.fromPath(path).through(Zstd.decompress).through(Text.utf8Decode).through(Text.lines)
  * }}}
  */
object Zstd:
  val defaultLevel: Int = 3

  /** Compresses the bytes into one frame.
    *
    * @param level from 1, the fastest, to 22, which takes the most time and memory
    */
  def compress(level: Int = defaultLevel): Stream[Array[Byte]] => Stream[Array[Byte]] =
    require(
      level >= 1 && level <= 22,
      s"Zstd.compress: the level was $level. It must be 1 to 22."
    )
    bytes =>
      Stream.suspend {
        val compressed = ByteArrayOutputStream()
        val output = ZstdOutputStream(compressed, level)
        def taken(): Array[Byte] =
          val block = compressed.toByteArray
          compressed.reset()
          block
        val blocks = bytes.map { block =>
          output.write(block)
          taken()
        }
        val last = Stream.eval(Task.delay {
          output.close()
          taken()
        })
        (blocks ++ last).filter(_.length > 0).onFinalize(Task.delay(output.close()))
      }

  /** Decompresses any number of frames. The blocks of the input may end anywhere.
    *
    * The library blocks a separate fiber. **Fails**, after the bytes before it, with an
    * `IOException` if they are not compressed, are damaged, or end within a frame. **Cancelled**
    * while it waits for bytes.
    */
  def decompress: Stream[Array[Byte]] => Stream[Array[Byte]] = bytes =>
    bytes.throughInputStream(
      input => Stream.fromSource(Task(Blocks(ZstdInputStream(input)))),
      { case error: IOException => IOException(s"Zstd: ${error.getMessage}", error) }
    )

  /** A read of the library holds its lock, so that nothing could close it meanwhile: the interrupt
    * of a cancel ends the read of `input`, and so this one.
    */
  private final class Blocks(input: ZstdInputStream) extends Source[Array[Byte]]:
    private val block = new Array[Byte](65536)

    def next()(using Task.Direct): Array[Byte] | Source.End =
      val count = input.read(block)
      if count < 0 then Source.End else java.util.Arrays.copyOf(block, count)

    override def close()(using Task.Direct): Unit = input.close()
