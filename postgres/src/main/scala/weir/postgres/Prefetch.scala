package weir.postgres

import weir.Stream
import weir.postgres.input.ScriptSource

/** Says how far a script is read and split ahead of the statements that are sent.
  *
  * A script is never whole in memory. Memory holds the pieces that wait, one piece that is ready,
  * and the block that is being split.
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
    case Bytes(limit) => limit

  /** Reads `pieces` ahead. */
  private[postgres] def of(pieces: Stream[Piece]): Stream[Piece] = this match
    case Off => pieces
    case Pieces(count) => pieces.prefetchN(count)
    case Bytes(limit) => pieces.prefetchBytes(limit)(_.sizeBytes)
