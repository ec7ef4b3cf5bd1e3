package weir.postgres

import weir.Stream
import weir.postgres.input.ScriptSource

/** The limit up to which a script is read and split ahead of the statements that are sent.
  *
  * A script is never whole in memory. Memory holds the pieces that wait, two groups of them, of
  * which one is being sent and one is ready, and the block that is being split. A group is one
  * piece, or small ones of a block.
  */
enum Prefetch:
  /** Reads nothing ahead: a piece is read once the one before it has been sent. */
  case Off

  /** Up to this number of pieces wait. Each is one statement, or up to 256 KB of data. */
  case Pieces(count: Int)

  /** Pieces of up to this number of bytes wait. */
  case Bytes(limit: Long)

  /** Returns the largest number of bytes that the reader is ahead, except where statements are very
    * long.
    */
  private[postgres] def mostBytes: Long = this match
    case Off => 0
    case Pieces(count) => count * ScriptSource.BlockBytes.toLong
    case Bytes(limit) => limit + 2 * groupBytes

  /** Returns the number of bytes at which a group of pieces ends: small enough that some wait while
    * one is being sent. 0 for groups of one piece.
    */
  private[postgres] def groupBytes: Int = this match
    case Off | Pieces(_) => 0
    case Bytes(limit) => (limit / 8).min(Prefetch.MostGroupBytes.toLong).toInt

  /** Reads groups of pieces ahead. */
  private[postgres] def of(groups: Stream[Vector[Piece]]): Stream[Vector[Piece]] = this match
    case Off => groups
    case Pieces(count) => groups.prefetchN(count)
    case Bytes(limit) => groups.prefetchBytes(limit)(bytesOf)

  private def bytesOf(group: Vector[Piece]): Int =
    var bytes = 0L
    var at = 0
    while at < group.length do
      bytes += group(at).sizeBytes
      at += 1
    bytes.min(Int.MaxValue.toLong).toInt

object Prefetch:
  private final val MostGroupBytes = 64 << 10
