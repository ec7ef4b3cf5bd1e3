package weir.cli.feeds.fetch

import java.io.{BufferedInputStream, EOFException, FilterInputStream, InputStream}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Locale
import java.util.zip.{GZIPInputStream, Inflater, InflaterInputStream}

/** The bytes of a body without its `Content-Encoding`, which servers often name wrongly.
  *
  * A body is what it looks like: gzip is known by its first two bytes and unpacked, named or not;
  * text is text, whatever is named. Only what looks like neither is read as what is named.
  */
private[fetch] object Unpacked:
  private val bufferBytes = 32 * 1024

  /** Enough for the start of any feed, and too many for packed data to be ASCII by chance. */
  private val headBytes = 16

  private val utf8Mark = "\uFEFF".getBytes(UTF_8)

  /** Names that say that the body is packed; all others that occur ("none", "UTF-8", …) say
    * nothing.
    */
  private val foreign = Set("br", "zstd", "compress", "x-compress", "dcb", "dcz", "exi")

  /** `body`, unpacked as it is read; `encodings` is the `Content-Encoding`, or empty.
    *
    * **Waits** for the first bytes. **Fails** with [[Failure.Abandoned]] if it is packed in a way
    * that was not asked for.
    */
  def of(body: InputStream, encodings: String): InputStream =
    val names = encodings.toLowerCase(Locale.ROOT).split(',').map(_.trim)
    val in = BufferedInputStream(body, bufferBytes)
    in.mark(headBytes)
    val head = in.readNBytes(headBytes)
    in.reset()
    if isGzip(head) then WholeOnly(whole(GZIPInputStream(in, bufferBytes)))
    else if head.isEmpty || isText(head) then in
    else
      names
        .find(foreign)
        .foreach: name =>
          Failure.abandon(Reason.OtherAnswer, s"Content-Encoding $name was not asked for")
      if !names.contains("deflate") then in
      else WholeOnly(InflaterInputStream(in, Inflater(!isZlib(head)), bufferBytes))

  /** Packed data that ends too early: an end of the connection looks the same to the client
    * otherwise.
    */
  private final class WholeOnly(in: InputStream) extends FilterInputStream(in):
    override def read(bytes: Array[Byte], offset: Int, length: Int): Int =
      whole(super.read(bytes, offset, length))

  private def whole[A](read: => A): A =
    try read
    catch case _: EOFException => Failure.abandon(Reason.BrokenGzip, "it ends too early")

  private def isGzip(head: Array[Byte]) =
    head.length > 1 && (head(0) & 0xff) == 0x1f && (head(1) & 0xff) == 0x8b

  private def isText(head: Array[Byte]) =
    val afterMark = if head.startsWith(utf8Mark) then head.drop(utf8Mark.length) else head
    afterMark.forall(byte => (byte >= ' ' && byte < 0x7f) || "\t\r\n".contains(byte.toChar))

  /** By RFC 1950, section 2.2; some servers send bare deflate data instead. */
  private def isZlib(head: Array[Byte]) =
    head.length > 1 && (head(0) & 0x0f) == 8 && (((head(0) & 0xff) << 8) | (head(
      1
    ) & 0xff)) % 31 == 0
