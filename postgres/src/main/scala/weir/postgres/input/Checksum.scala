package weir.postgres.input

import java.security.MessageDigest
import java.util.concurrent.ConcurrentLinkedQueue

/** The SHA-256 of a script's bytes, up to any place at which a piece ends.
  *
  * The reader is ahead of the caller of `at`. So it notes the sum at the end of each piece, and
  * keeps no bytes for it, however long a piece is.
  *
  *   - **Shared**: `marks`, one thread that appends and one that takes. A piece is emitted only
  *     after its mark has been appended, so its receiver finds it.
  *   - **Of the reader**: `reading`, `read` and `marked`.
  *   - **Owner only**: `here`, of the thread that calls `advance` and `at`.
  */
final class Checksum:
  // shared
  private val marks = ConcurrentLinkedQueue[Checksum.Mark]()

  // of the reader
  private val reading = MessageDigest.getInstance("SHA-256")
  private var read = 0L
  private var marked = 0L

  // owner only
  private var here = Checksum.Mark(0, MessageDigest.getInstance("SHA-256"))

  /** Adds the next bytes of the script. */
  def append(bytes: Array[Byte], from: Int, length: Int): Unit =
    reading.update(bytes, from, length)
    read += length

  /** A piece ends behind the bytes that have been added. */
  def mark(): Unit = if marked < read then
    marks.add(Checksum.Mark(read, Checksum.copyOf(reading)))
    marked = read

  /** Goes on to `offset`, at which a piece ends. Does nothing for an `offset` that has been passed
    * already.
    */
  def advance(offset: Long): Unit =
    while here.offset < offset do
      val next = marks.peek()
      if (next eq null) || next.offset > offset then
        throw IllegalStateException(
          s"Checksum: the sum up to $offset was asked for, and no piece that was read ends there."
        )
      here = next
      marks.poll(): Unit

  /** Returns the sum of the first `offset` bytes. **Fails** if no piece that has been read ends
    * there, or a later sum has been asked for already.
    */
  def at(offset: Long): Array[Byte] =
    advance(offset)
    require(
      here.offset == offset,
      s"Checksum: the sum up to $offset was asked for after that up to ${here.offset}. Ask in " +
        "order."
    )
    Checksum.copyOf(here.sum).digest()

  /** Returns a key that can only be made from the script: another sum of its first `offset` bytes,
    * which cannot be computed from the one of `at`. From a SHA-256 sum one can compute only the
    * sums of texts that continue with its padding, which begins with 0x80 (length extension).
    */
  def keyAt(offset: Long): Array[Byte] =
    at(offset): Unit
    val sum = Checksum.copyOf(here.sum)
    sum.update(Checksum.KeySuffix)
    sum.digest()

object Checksum:
  private val KeySuffix = "\u0000weir_sql.journal settings".getBytes("US-ASCII")

  /** The sum of the bytes before `offset`, which is never changed. */
  private final class Mark(val offset: Long, val sum: MessageDigest)

  private def copyOf(sum: MessageDigest): MessageDigest =
    sum.clone().asInstanceOf[MessageDigest]
