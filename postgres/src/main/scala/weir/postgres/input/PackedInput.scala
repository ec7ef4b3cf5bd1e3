package weir.postgres.input

import java.io.InputStream

/** A file whose first bytes can be examined before they are read, and which counts the bytes read.
  */
private[input] final class PackedInput(raw: InputStream, report: Long => Unit) extends InputStream:
  private val first = new Array[Byte](64 * 1024)
  private var firstLength = 0
  private var firstUsed = 0
  private var count = 0L

  report(0)

  /** Returns true if the file begins with `mark`. Waits for as many bytes. */
  def beginsWith(mark: Int*): Boolean =
    var ended = false
    while firstLength < mark.length && !ended do
      val taken = raw.read(first, firstLength, first.length - firstLength)
      if taken < 0 then ended = true
      else
        firstLength += taken
        add(taken)
    mark.length <= firstLength && mark.indices.forall(i => first(i) == mark(i).toByte)

  override def read(bytes: Array[Byte], from: Int, length: Int): Int =
    if firstUsed < firstLength then
      val taken = math.min(length, firstLength - firstUsed)
      System.arraycopy(first, firstUsed, bytes, from, taken)
      firstUsed += taken
      taken
    else
      val taken = raw.read(bytes, from, length)
      if taken > 0 then add(taken)
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
      firstLength = math.max(0, raw.read(first, 0, first.length))
      add(firstLength)
    firstLength - firstUsed

  override def close(): Unit = raw.close()

  private def add(bytes: Int): Unit =
    count += bytes
    report(count)
