package weir.postgres.protocol

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.sql.SQLException
import java.util.ArrayDeque
import weir.postgres.Done

/** Statements that go over the connection within one call of the driver, which sees only the end of
  * the last one.
  *
  * {{{
  * driver     WatchedOutput           server              ServerMessages
  *   "-" ----> statement 1 ------------>
  *             statement 2 <- next() <--- ReadyForQuery -- done(1)
  *             …
  *                                   <--- ReadyForQuery -- done(n), and no next one
  *   <----------- CommandComplete, ReadyForQuery -----------
  * }}}
  *
  * So a statement costs a write and a read of the socket, and no hand-over between threads. All
  * methods are called by the thread that reads the socket, which is the driver's: no COPY is open.
  */
private[postgres] final class Exchange(
    source: Exchange.Source,
    output: WatchedOutput,
    isCancelled: () => Boolean
):
  import Exchange.*

  /** The statements to be sent. */
  private val outgoing = ArrayDeque[Array[Byte]]()
  private var unanswered = 0
  private var isStopped = false

  // of the oldest statement that has no ReadyForQuery yet
  private var done = Done(0, "")
  private var error: Array[Byte] | Null = null

  /** The last tag, which is most often the next one, too. */
  private var tag = Array.emptyByteArray

  private var failure: Throwable | Null = null

  /** True if the driver answers the server itself: the oldest statement was a COPY. */
  private var hasLeft = false

  /** Returns the first statement; null if there is none. */
  def begin(): Array[Byte] | Null =
    ask(Idle)
    outgoing.poll()

  /** Writes the statements that `ready` has asked for. */
  def send(): Unit = if !outgoing.isEmpty then output.sendAll(outgoing)

  def completed(body: Array[Byte]): Unit =
    if !java.util.Arrays.equals(body, tag) then
      tag = body
      done = doneOf(body)

  def failed(body: Array[Byte]): Unit = error = body

  /** Asks for no more statements: the caller must look at the session first. */
  def stop(): Unit = isStopped = true

  /** The driver reads the rest. */
  def leave(): Unit = hasLeft = true

  /** The server is ready after the oldest statement. Returns true if others have been sent, or are
    * to be sent.
    */
  def ready(transaction: Byte): Boolean =
    unanswered -= 1
    val problem = error
    error = null
    // After an error that ends the run, the server has refused those that were sent ahead. An error
    // after a cancel is the cancel's.
    if (failure eq null) && !(isCancelled() && (problem ne null)) then
      guarded(if problem eq null then source.done(done) else source.failed(problem.nn))
    ask(transaction)
    unanswered > 0

  private def ask(transaction: Byte): Unit =
    var goesOn = true
    while goesOn && !isStopped && !isCancelled() do
      var statement: Array[Byte] | Null = null
      guarded { statement = source.next(unanswered, transaction == InTransaction) }
      goesOn = statement ne null
      if goesOn then
        outgoing.add(statement.nn)
        unanswered += 1

  /** The source's code must not throw in the middle of a message of the server. */
  private inline def guarded(inline body: Unit): Unit =
    try body
    catch
      case thrown: Throwable =>
        if failure eq null then failure = thrown
        isStopped = true

  /** Runs the exchange by `call`, in which the driver sends something and reads the answer.
    * **Fails** with what the source has thrown.
    */
  def run(lastError: () => Array[Byte] | Null)(call: => Unit): Unit =
    try call
    catch
      case thrown: SQLException =>
        if hasLeft && (lastError() ne null) then guarded(source.failed(lastError().nn))
        else if failure eq null then throw thrown
    val thrown = failure
    if thrown ne null then throw thrown

private[postgres] object Exchange:
  /** Where the statements of an exchange come from, and who gets their results. */
  trait Source:
    /** Returns the next statement to send; null to send none before the next result.
      *
      * @param unanswered
      *   the number of statements that have been sent and have no result yet
      * @param inTransaction
      *   true if the server was in a transaction, which had not failed, after the last result
      */
    def next(unanswered: Int, inTransaction: Boolean): Array[Byte] | Null

    /** The oldest statement without a result has run. */
    def done(done: Done): Unit

    /** The oldest statement without a result has failed, with an error of this body. */
    def failed(body: Array[Byte]): Unit

  private val Idle = 'I'.toByte
  private val InTransaction = 'T'.toByte

  /** Returns the text of a CommandComplete. */
  private[protocol] def tagOf(body: Array[Byte]): String =
    String(body, 0, (body.length - 1) max 0, ISO_8859_1)

  /** The number behind the tag is that of the rows. */
  private[postgres] def doneOf(body: Array[Byte]): Done =
    val tag = tagOf(body)
    val last = tag.substring(tag.lastIndexOf(' ') + 1)
    Done(last.toLongOption.filter(_ => tag.contains(' ')).getOrElse(0L), tag)
