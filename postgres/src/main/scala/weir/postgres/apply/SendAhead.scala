package weir.postgres.apply

import weir.postgres.Piece
import weir.postgres.split.{Tokens, WordScan}

/** Says which statements are sent before the results of those before them are there.
  *
  * After an error no statement may run that would not have run without this. In a transaction the
  * server itself refuses all after an error, up to its end. Without an open transaction a statement
  * goes ahead only if it would run after an error as well.
  */
private[apply] final class SendAhead(stopsOnError: Boolean):
  import SendAhead.*

  /** Returns true if `next` may be sent while `last`, and others before it, have no result.
    *
    * @param sentBytes
    *   the bytes of these statements
    */
  def mayFollow(
      last: Piece.Statement,
      next: Piece.Statement,
      sentBytes: Long,
      inTransaction: Boolean
  ): Boolean =
    sentBytes + next.sizeBytes <= MostBytes && (!stopsOnError || inTransaction) &&
      isPlain(last) && isPlain(next)

  /** A backslash may mean something else after a function that has changed a setting. */
  private def isPlain(statement: Piece.Statement): Boolean =
    WordScan
      .indexOf(statement.text, '\\') < 0 && (Tokens.parts(statement.text, statement.reading) match
      case List(one) =>
        Tokens.leading(one, 1) match
          case List(word) =>
            !ChangesSession(word) && (!stopsOnError || !EndsTransaction(word))
          case _ => false
      case _ => false)

private[apply] object SendAhead:
  /** Less than the buffers between the two processes hold, so that no write waits for a server that
    * itself waits for its results to be read.
    */
  val MostBytes = 32L << 10

  private val ChangesSession = Set("SET", "RESET", "DISCARD", "COPY")
  private val EndsTransaction =
    Set("BEGIN", "START", "COMMIT", "END", "ROLLBACK", "ABORT", "PREPARE")
