package weir.postgres.input

import com.github.luben.zstd.{Zstd, ZstdIOException, ZstdInputStream}
import java.io.{EOFException, FileInputStream, IOException, InputStream}
import java.nio.channels.Channels

/** The decompressed bytes of a script.
  *
  * @param raw
  *   the file, compressed or not
  * @param report
  *   called with the number of its bytes that have been read so far
  * @param unpacks
  *   false for data, whose bytes are taken as they are
  */
private[postgres] final class ScriptInput(
    raw: InputStream,
    report: Long => Unit,
    unpacks: Boolean = true
) extends AutoCloseable:
  private val waiting = ScriptInput.channelOf(raw)
  private val file = PackedInput(waiting.getOrElse(raw), ScriptInput.sizeOf(raw), report)
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
    Packing.values.find(format => unpacks && file.beginsWith(format.mark)) match
      case Some(Packing.Gzip) =>
        packing = "gzip"
        GzipInput(file, ScriptInput.PackedBytes)
      case Some(Packing.Zstd) =>
        packing = "zstd"
        ZstdInputStream(file)
      case Some(other) => throw Packing.NotRead(other)
      case None => file

  def close(): Unit =
    val stream = unpacked
    if stream ne null then stream.close() else file.close()

private[postgres] object ScriptInput:
  private final val PackedBytes = 64 * 1024

  /** Returns true if packed data ends too early, rather than being wrong. */
  def isCutOff(error: IOException): Boolean = error match
    case _: EOFException => true
    case zstd: ZstdIOException => zstd.getErrorCode == Zstd.errCorruptionDetected
    case _ => false

  /** Returns the number of bytes that a file has left to read now; 0 if it has no size. */
  private def sizeOf(raw: InputStream): Long = raw match
    case file: FileInputStream if file.getChannel.size() > 0 =>
      file.getChannel.size() - file.getChannel.position()
    case _ => 0

  /** The stream over the channel of a pipe or a terminal, which has no size: a channel can be
    * interrupted.
    */
  private def channelOf(raw: InputStream): Option[InputStream] = raw match
    case input: WaitingInput => Some(input)
    case file: FileInputStream if file.getChannel.size() == 0 =>
      Some(Channels.newInputStream(file.getChannel))
    case _ => None
