package weir.postgres.input

import java.io.IOException
import java.util.zip.GZIPInputStream

/** The content of gzip's members, of which there may be several.
  *
  * **Fails** if something else follows the last one, which the JDK passes over.
  */
private[input] final class GzipInput(file: PackedInput, bufferBytes: Int)
    extends GZIPInputStream(file, bufferBytes):
  // The bytes of the file that the inflater has got.
  private var filled = 0L

  override def fill(): Unit =
    super.fill()
    filled = file.usedBytes

  override def read(bytes: Array[Byte], from: Int, length: Int): Int =
    val count = super.read(bytes, from, length)
    if count < 0 then refuseRest()
    count

  /** Eight bytes end a member: those that the inflater has left, and those read since. */
  private def refuseRest(): Unit =
    val rest = inf.getRemaining + (file.usedBytes - filled) - GzipInput.TrailerBytes
    if rest > 0 || file.read() >= 0 then
      throw IOException("the end of the gzip data is followed by bytes that are not gzip")

private object GzipInput:
  private val TrailerBytes = 8
