package weir.postgres.input

import java.io.{IOException, InputStream}

/** A file whose first bytes can be examined before they are read, and which counts the bytes read.
  *
  * **Fails** if it ends before `expectedBytes`: someone has cut it since it was opened.
  */
private[input] final class PackedInput(
    raw: InputStream,
    expectedBytes: Long,
    report: Long => Unit
) extends InputStream:
  private val first = new Array[Byte](64 * 1024)
  private var firstLength = 0
  private var firstUsed = 0
  private var count = 0L

  report(0)

  /** The number of bytes that `read` has returned. */
  var usedBytes = 0L

  /** Returns true if the file begins with `mark`. Waits for more bytes only while those before them
    * are the mark's.
    */
  def beginsWith(mark: Array[Byte]): Boolean =
    var fits = true
    var at = 0
    while fits && at < mark.length do
      if at < firstLength then
        fits = first(at) == mark(at)
        at += 1
      else
        val taken = readRaw(first, firstLength, first.length - firstLength)
        if taken < 0 then fits = false else firstLength += taken
    fits

  override def read(bytes: Array[Byte], from: Int, length: Int): Int =
    if firstUsed < firstLength then
      val taken = math.min(length, firstLength - firstUsed)
      System.arraycopy(first, firstUsed, bytes, from, taken)
      firstUsed += taken
      usedBytes += taken
      taken
    else
      val taken = readRaw(bytes, from, length)
      usedBytes += taken max 0
      taken

  def read(): Int =
    val one = new Array[Byte](1)
    if read(one, 0, 1) < 1 then -1 else one(0) & 0xff

  /** GZIPInputStream looks for a further gzip member only if this is not 0, which it would be for a
    * slow pipe: so this waits until there is a byte, or the end.
    */
  override def available(): Int =
    if firstUsed == firstLength then
      firstUsed = 0
      firstLength = math.max(0, readRaw(first, 0, first.length))
    firstLength - firstUsed

  override def close(): Unit = raw.close()

  private def readRaw(bytes: Array[Byte], from: Int, length: Int): Int =
    val taken = raw.read(bytes, from, length)
    if taken > 0 then
      count += taken
      report(count)
    else if taken < 0 && count < expectedBytes then
      throw IOException(
        s"the file had $expectedBytes bytes when it was opened, and ends after $count now"
      )
    taken
