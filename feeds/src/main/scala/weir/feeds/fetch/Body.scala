package weir.feeds.fetch

import java.io.InputStream
import java.net.http.HttpResponse

import weir.program.ByteSize

/** Reads the body of an answer, up to a limit. The limit counts bytes after decompression, so a
  * small body that decompresses to gigabytes is refused as early as a large one. A body that
  * announces a larger size is refused before any of it is read.
  */
private[fetch] object Body:
  private val bufferBytes = 32 * 1024

  /** Returns the decompressed bytes.
    *
    * **Waits** for the server; a body that trickles is ended by the interrupt of the deadline.
    * **Fails** with [[Failure.Abandoned]] beyond `limitBytes`.
    */
  def read(response: HttpResponse[InputStream], limitBytes: Int): Content =
    val announced = response.headers.firstValueAsLong("Content-Length").orElse(-1)
    if announced > limitBytes then tooLarge(limitBytes, s"it announces ${ByteSize.show(announced)}")
    val encodings = response.headers.allValues("Content-Encoding")
    val in = Unpacked.of(response.body, String.join(",", encodings))
    try
      Content.read(in): size =>
        if size > limitBytes then tooLarge(limitBytes, "it goes on")
    finally in.close()

  /** Reads on a little, since a connection can be used again only after its body was read whole. */
  def discard(response: HttpResponse[InputStream]): Unit =
    val _ = response.body.readNBytes(bufferBytes)

  private def tooLarge(limitBytes: Int, why: String): Nothing =
    Failure.abandon(Reason.TooLarge, s"more than ${ByteSize.show(limitBytes)} ($why)")
