package weir.postgres.input

import java.security.MessageDigest
import java.util.concurrent.ConcurrentLinkedQueue

/** The SHA-256 of a script's bytes, up to any place that has been read.
  *
  * The reader is ahead of the caller of `at`: it appends the blocks that it has read, which are
  * never changed, and `at` sums them up to the offset that is asked for. So the sum costs no copy,
  * and holds no more blocks than wait for the sender anyway.
  *
  *   - **Shared**: `blocks`, one thread that appends and one that takes. A piece is emitted only
  *     after its bytes have been appended, so its receiver finds them.
  *   - **Owner only**: the rest, of the thread that calls `advance` and `at`.
  */
final class Checksum:
  // shared
  private val blocks = ConcurrentLinkedQueue[Checksum.Block]()

  // owner only
  private val digest = MessageDigest.getInstance("SHA-256")
  private var summed = 0L

  /** Appends the next bytes of the script. They must not be changed any more. */
  def append(bytes: Array[Byte], from: Int, length: Int): Unit =
    blocks.add(Checksum.Block(bytes, from, length)): Unit

  /** Sums up to `offset`, so that the blocks before it are free. Does nothing for an `offset` that
    * has been passed already.
    */
  def advance(offset: Long): Unit =
    while summed < offset do
      val block = blocks.peek()
      if block eq null then
        throw IllegalStateException(
          s"Checksum: $summed bytes have been read, and the sum up to $offset was asked for. " +
            "Ask only for what has been read."
        )
      val length = math.min(block.length.toLong, offset - summed).toInt
      digest.update(block.bytes, block.from, length)
      summed += length
      block.from += length
      block.length -= length
      if block.length == 0 then blocks.poll(): Unit

  /** Returns the sum of the first `offset` bytes. **Fails** if they are not read yet, or more have
    * been summed already.
    */
  def at(offset: Long): Array[Byte] =
    advance(offset)
    require(
      summed == offset,
      s"Checksum: the sum up to $offset was asked for after that up to $summed. Ask in order."
    )
    digest.clone().asInstanceOf[MessageDigest].digest()

  /** Returns a key that can only be made from the script: another sum of its first `offset` bytes,
    * which cannot be computed from the one of `at`. From a SHA-256 sum one can compute only the
    * sums of texts that continue with its padding, which begins with 0x80 (length extension).
    */
  def keyAt(offset: Long): Array[Byte] =
    at(offset): Unit
    val sum = digest.clone().asInstanceOf[MessageDigest]
    sum.update(Checksum.KeySuffix)
    sum.digest()

object Checksum:
  private val KeySuffix = "\u0000weir_sql.journal settings".getBytes("US-ASCII")

  /** The part of an array that is not summed yet. */
  private final class Block(val bytes: Array[Byte], var from: Int, var length: Int)
