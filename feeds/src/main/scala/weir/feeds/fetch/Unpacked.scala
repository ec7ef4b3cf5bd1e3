package weir.feeds.fetch

import java.io.{BufferedInputStream, FilterInputStream, IOException, InputStream}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Locale
import java.util.zip.{GZIPInputStream, Inflater, InflaterInputStream}

import com.aayushatharva.brotli4j.Brotli4jLoader
import com.aayushatharva.brotli4j.decoder.BrotliInputStream
import com.github.luben.zstd.ZstdInputStream

/** Removes the `Content-Encoding` of a body. Servers often name it wrongly, so the first bytes
  * decide: gzip and zstd are recognized by them and decompressed, named or not. Text stays text,
  * whatever is named. Only other bodies are read with the encoding that the server names.
  */
private[fetch] object Unpacked:
  private val bufferBytes = 32 * 1024

  /** Enough for the start of any feed, and too many for packed data to be ASCII by chance. */
  private val headBytes = 16

  private val utf8Mark = "\uFEFF".getBytes(UTF_8)

  /** Brotli is native code, for the usual systems. */
  private lazy val hasBrotli = Brotli4jLoader.isAvailable

  /** The value of `Accept-Encoding`. */
  lazy val accepted: String = if hasBrotli then "gzip, br, zstd" else "gzip, zstd"

  /** Names that say that the body is packed; all others that occur ("none", "UTF-8", …) say
    * nothing.
    */
  private val foreign = Set("br", "compress", "x-compress", "dcb", "dcz", "exi")

  /** Returns `body`, decompressed as it is read. `encodings` is the `Content-Encoding`, or empty.
    * The caller closes it. **Waits** for the first bytes. **Fails** with [[Failure.Abandoned]] if
    * the body has an encoding that was not asked for, or not the one that is named.
    */
  def of(body: InputStream, encodings: String): InputStream =
    val names = encodings.toLowerCase(Locale.ROOT).split(',').map(_.trim)
    val received = Received(body)
    val in = BufferedInputStream(received, bufferBytes)
    in.mark(headBytes)
    val head = in.readNBytes(headBytes)
    in.reset()
    def unpacked(name: String)(open: => InputStream) =
      Whole(received, name, received.orBroken(name)(open))
    if begins(head, 0x1f, 0x8b) then unpacked("gzip")(GZIPInputStream(in, bufferBytes))
    else if begins(head, 0x28, 0xb5, 0x2f, 0xfd) then unpacked("zstd")(ZstdInputStream(in))
    else if head.isEmpty || isText(head) then in
    else if names.contains("br") && hasBrotli then unpacked("br")(BrotliInputStream(in))
    else
      names
        .find(foreign)
        .foreach: name =>
          Failure.abandon(Reason.OtherAnswer, s"Content-Encoding $name was not asked for")
      if !names.contains("deflate") then in
      else unpacked("deflate")(InflaterInputStream(in, Inflater(!isZlib(head)), bufferBytes))

  /** The body as the client returns it. It distinguishes failures of the connection from failures
    * of the compressed data.
    */
  private final class Received(in: InputStream) extends FilterInputStream(in):
    private var isBroken = false

    override def read(bytes: Array[Byte], offset: Int, length: Int): Int =
      try super.read(bytes, offset, length)
      catch
        case error: IOException =>
          isBroken = true
          throw error

    /** Runs `read`. Its failure counts as one of the data compressed by `name`, unless the
      * connection failed.
      */
    def orBroken[A](name: String)(read: => A): A =
      try read
      catch
        case error: IOException if !isBroken =>
          val why = Option(error.getMessage).getOrElse("it ends too early")
          Failure.abandon(Reason.BrokenPacking, s"the body is no whole $name: $why")

  private final class Whole(received: Received, name: String, in: InputStream)
      extends FilterInputStream(in):
    override def read(bytes: Array[Byte], offset: Int, length: Int): Int =
      received.orBroken(name)(super.read(bytes, offset, length))

  private def begins(head: Array[Byte], bytes: Int*): Boolean =
    head.take(bytes.length).map(_ & 0xff).sameElements(bytes)

  private def isText(head: Array[Byte]) =
    val afterMark = if head.startsWith(utf8Mark) then head.drop(utf8Mark.length) else head
    afterMark.forall(byte => (byte >= ' ' && byte < 0x7f) || "\t\r\n".contains(byte.toChar))

  /** By RFC 1950, section 2.2; some servers send bare deflate data instead. */
  private def isZlib(head: Array[Byte]) =
    head.length > 1 && (head(0) & 0x0f) == 8 && (((head(0) & 0xff) << 8) | (head(
      1
    ) & 0xff)) % 31 == 0
