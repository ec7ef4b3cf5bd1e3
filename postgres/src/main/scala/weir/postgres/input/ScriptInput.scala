package weir.postgres.input

import com.github.luben.zstd.ZstdInputStream
import java.io.{FileInputStream, InputStream}
import java.nio.channels.Channels
import java.util.zip.GZIPInputStream

/** The decompressed bytes of a script.
  *
  * @param raw
  *   the file, compressed or not
  * @param report
  *   called with the number of its bytes that have been read so far
  */
private[postgres] final class ScriptInput(raw: InputStream, report: Long => Unit)
    extends AutoCloseable:
  private val waiting = ScriptInput.channelOf(raw)
  private val file = PackedInput(waiting.getOrElse(raw), report)
  private var unpacked: InputStream | Null = null
  private var packing: String | Null = null

  /** Returns true if a read may wait for long; an interrupt ends it on a platform thread. */
  def mayWait: Boolean = waiting.nonEmpty

  /** Returns the format it is packed in. None before the first `read`. */
  def packed: Option[String] = Option(packing)

  /** As `InputStream.read`. */
  def read(block: Array[Byte]): Int = stream.read(block, 0, block.length)

  /** Returns the unpacked bytes. */
  def stream: InputStream =
    if unpacked eq null then unpacked = unpack()
    unpacked.nn

  private def unpack(): InputStream =
    if file.beginsWith(0x1f, 0x8b) then
      packing = "gzip"
      GZIPInputStream(file, ScriptInput.PackedBytes)
    else if file.beginsWith(0x28, 0xb5, 0x2f, 0xfd) then
      packing = "zstd"
      ZstdInputStream(file)
    else file

  def close(): Unit =
    val stream = unpacked
    if stream ne null then stream.close() else file.close()

private[postgres] object ScriptInput:
  private final val PackedBytes = 64 * 1024

  /** The stream over the channel of a pipe or a terminal, which has no size: a channel can be
    * interrupted.
    */
  private def channelOf(raw: InputStream): Option[InputStream] = raw match
    case file: FileInputStream if file.getChannel.size() == 0 =>
      Some(Channels.newInputStream(file.getChannel))
    case _ => None
