package weir.postgres.apply

import java.util.ArrayDeque
import weir.postgres.{Done, Piece}
import weir.postgres.protocol.Exchange

/** Consecutive statements of a script that are sent in one exchange: each after the result of the
  * one before it, or, with `ahead`, before that.
  *
  * @param from
  *   the index of the first of them in `pieces`, all of which up to `until` are statements
  */
private[apply] final class Batch(
    pieces: Vector[Piece],
    from: Int,
    until: Int,
    steps: Batch.Steps,
    ahead: Option[SendAhead]
) extends Exchange.Source:
  private var at = from
  private val sent = ArrayDeque[Piece.Statement]()
  private var sentBytes = 0L
  private var begunNanos = 0L

  /** Returns the index of the first piece that was not sent. */
  def index: Int = at

  def next(unanswered: Int, inTransaction: Boolean): Array[Byte] | Null =
    var found: Piece.Statement | Null = null
    while (found eq null) && at < until && (unanswered == 0 || mayGoAhead(inTransaction)) do
      val statement = pieces(at).asInstanceOf[Piece.Statement]
      at += 1
      if steps.mayRun(statement) then found = statement
    if found eq null then null
    else
      sent.add(found.nn)
      sentBytes += found.nn.sizeBytes
      if sent.size == 1 then begin(found.nn)
      found.nn.text

  /** A statement that is to be refused is not looked at before those before it have their results.
    */
  private def mayGoAhead(inTransaction: Boolean): Boolean =
    ahead.nonEmpty && {
      val statement = pieces(at).asInstanceOf[Piece.Statement]
      ahead.get.mayFollow(sent.peekLast, statement, sentBytes, inTransaction) &&
      !steps.isRefused(statement)
    }

  private def begin(statement: Piece.Statement): Unit =
    begunNanos = System.nanoTime()
    steps.begins(statement)

  def done(done: Done): Unit =
    val nanos = System.nanoTime() - begunNanos
    steps.done(ended(), done, nanos)

  def failed(body: Array[Byte]): Unit = steps.failed(ended(), body)

  private def ended(): Piece.Statement =
    val statement = sent.poll()
    sentBytes -= statement.sizeBytes
    if !sent.isEmpty then begin(sent.peek)
    statement

private[apply] object Batch:
  /** The steps that a batch takes with each statement. */
  trait Steps:
    /** Returns true if the statement cannot be sent. */
    def isRefused(statement: Piece.Statement): Boolean

    /** Returns true if the statement is to be sent. **Fails** if it is refused and the run ends. */
    def mayRun(statement: Piece.Statement): Boolean

    /** The server now works at this statement. */
    def begins(statement: Piece.Statement): Unit
    def done(statement: Piece.Statement, done: Done, nanos: Long): Unit

    /** The statement has failed with an error of this body. **Fails** if the run ends. */
    def failed(statement: Piece.Statement, body: Array[Byte]): Unit
