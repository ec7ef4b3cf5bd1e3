package weir.postgres

import java.sql.SQLException
import org.postgresql.copy.{CopyIn, CopyManager}
import org.postgresql.core.TransactionState
import org.postgresql.util.ServerErrorMessage
import scala.concurrent.duration.*
import weir.Task
import weir.postgres.protocol.{
  DriverCall,
  Exchange,
  ExtendedCall,
  ExtendedQuery,
  KeptRows,
  NoticeDispatcher,
  RowSink,
  SimpleQuery
}
import weir.postgres.split.Reading

/** One connection, to which statements and COPY data are sent one after the other. It does not
  * decide what follows an error: `SqlScript.applyTo` does.
  *
  * **Cancelled**: each of these tasks asks the server to cancel, and waits until it has answered,
  * so that the connection can be used again; the connection is closed if the server does not answer
  * within eight seconds. **Fails** with a `ServerError`. An error in the middle of a transaction
  * leaves it failed, as the server does.
  */
final class Session private (
    first: ScriptConnection,
    dispatcher: NoticeDispatcher,
    graceMillis: Long
):
  import Session.*

  private var connection = first
  private var simple = SimpleQuery(first, dispatcher)
  private def executor = connection.driver.getQueryExecutor
  @volatile private var lost = false
  private var copy: CopyIn | Null = null

  /** Goes on over another connection. No COPY may be open. */
  private[postgres] def moveTo(next: ScriptConnection): Unit =
    connection.notices.receive = _ => ()
    connection = next
    simple = SimpleQuery(next, dispatcher)
    lost = false
    receiveNotices()

  private def receiveNotices(): Unit =
    val from = connection
    from.notices.receive = body => dispatcher.receive(from.message(body))

  /** Returns true if the server is in a transaction. */
  def transaction: Transaction = executor.getTransactionState match
    case TransactionState.IDLE => Transaction.Idle
    case TransactionState.OPEN => Transaction.Open
    case TransactionState.FAILED => Transaction.Failed

  /** Returns true if the connection cannot be used any more. */
  def connectionLost: Boolean = lost || executor.isClosed

  /** Returns true if the server has agreed to a COPY, which has not ended. */
  def isCopying: Boolean = copy ne null

  /** Returns true if the server has reported an error in the COPY that is open. It accepts more
    * data and discards it; `endCopy` fails with the error. Always false where
    * `ScriptConnection.isWatched` is false.
    */
  def copyHasFailed: Boolean =
    val socket = connection.watchedSocket
    (copy ne null) && (socket ne null) && socket.input.messages.copyFailed

  /** Returns the settings by which the session reads statements. */
  private[postgres] def reading: Reading = connection.reading

  /** Returns the server's `client_encoding`. */
  def encoding: String = connection.encoding

  /** Returns true if a backslash in a plain string is an ordinary character, by the session's
    * setting of `standard_conforming_strings`, wherever that comes from.
    */
  def hasStandardStrings: Boolean = connection.hasStandardStrings

  /** Executes the statement, and returns its result. The statement is sent unchanged, without a
    * transaction around it. The rows that it returns are dropped as they arrive.
    */
  def execute(statement: Array[Byte]): Task[Done] = onServer {
    forgetLastError()
    simple.execute(statement)
  }

  /** Executes the statement, and does with its answer what it says. */
  private[postgres] def send(statement: Piece.Statement): Task[Done] =
    val form = statement.extended
    if form ne null then
      onServer {
        forgetLastError()
        sendExtended(statement, form)
      }
    else sendSimple(statement)

  private def sendSimple(statement: Piece.Statement): Task[Done] = statement.answer match
    case Piece.Answer.Dropped | Piece.Answer.Shown(_, _) =>
      onServer {
        forgetLastError()
        simple.execute(statement.text, statement.long, rowSink)
      }
    case Piece.Answer.Kept =>
      onServer {
        forgetLastError()
        keptRows = null
        val (done, rows) = simple.executeKeeping(statement.text, statement.long)
        keptRows = rows
        done
      }
    case Piece.Answer.Copied =>
      onServer {
        forgetLastError()
        val rows = copyOut(statement.text, copyTarget.nn)
        Done(rows, s"COPY $rows")
      }

  /** Sends messages of the extended protocol, and passes the answers to `call`, up to the last.
    * Only if `exchanges`.
    */
  private[postgres] def converse(messages: Array[Byte], call: ExtendedCall): Task[Unit] = onServer {
    forgetLastError()
    simple.converse(messages, call)
  }

  private def sendExtended(statement: Piece.Statement, form: Extended): Done =
    val sink = if statement.answer == Piece.Answer.Kept then KeptRows.Sink() else null
    keptRows = null
    val done = ExtendedQuery(connection, simple).execute(
      statement,
      form,
      if sink eq null then rowSink else sink
    )
    if sink ne null then keptRows = sink.rows
    done

  /** Receives the rows of the statements that are sent; null if they are dropped. */
  private[postgres] var rowSink: RowSink | Null = null

  /** The rows of the last statement whose rows are kept; null if it has failed or has none. */
  private[postgres] var keptRows: KeptRows | Null = null

  /** Returns these rows, and forgets them. */
  private[postgres] def takeRows(): KeptRows | Null =
    val rows = keptRows
    keptRows = null
    rows

  /** Called before a call of the server is cancelled: ends what the rows may wait for. */
  private[postgres] var whenCancelled: () => Unit = () => ()

  /** Receives the data of the next `COPY … TO STDOUT`. */
  private[postgres] var copyTarget: java.io.OutputStream | Null = null

  private def copyOut(statement: Array[Byte], target: java.io.OutputStream): Long =
    val socket = connection.watchedSocket
    val sql =
      if socket eq null then simple.decode(statement)
      else
        socket.output.sendInstead(statement)
        "COPY"
    CopyManager(connection.driver).copyOut(sql, target)

  /** As `execute`, for SQL that is not the script's. Several statements in one text are one
    * transaction, unless they say otherwise.
    */
  def run(sql: String): Task[Done] =
    Task.defer(execute(sql.getBytes(Encodings.charset(encoding))))

  /** Returns true if `exchange` may be called. */
  private[postgres] def exchanges: Boolean = connection.watchedSocket ne null

  /** Executes the statements that `source` returns, one after the other, until it returns none. It
    * is asked on the thread that reads the results. **Fails** with the error that `source` throws.
    */
  private[postgres] def exchange(source: Exchange.Source): Task[Unit] = calling { call =>
    forgetLastError()
    simple.exchange(source, () => call.isCancelled, rowSink)
  }

  /** Nothing, once the server has agreed to a `COPY … FROM STDIN`. */
  def beginCopy(statement: Array[Byte]): Task[Unit] = onServer {
    forgetLastError()
    val socket = connection.watchedSocket
    val copies =
      if socket eq null then CopyManager(connection.driver).copyIn(simple.decode(statement))
      else
        socket.output.sendInstead(statement)
        CopyManager(connection.driver).copyIn("COPY")
    copy = copies
    if socket ne null then socket.input.watch()
  }

  /** Nothing, once the data has been written to the socket. **Waits** while the server reads more
    * slowly than this writes.
    */
  def write(bytes: Array[Byte], from: Int, length: Int): Task[Unit] = onServer {
    val open = openCopy
    val end = from + length
    var at = from
    while at < end do
      val size = math.min(MessageBytes, end - at)
      open.writeToCopy(bytes, at, size)
      at += size
  }

  /** Ends the COPY, and returns the number of rows that it has added. */
  def endCopy: Task[Long] = onServer {
    val copies = openCopy
    try copies.endCopy()
    finally copy = null
  }

  /** Nothing, once the server has given up the open COPY, which fails with a message of the driver;
    * an open transaction has then failed. Does nothing if no COPY is open.
    */
  def abortCopy: Task[Unit] = Task.defer {
    val open = copy
    if (open eq null) || connectionLost then
      copy = null
      Task.unit
    else
      onServer {
        copy = null
        try if copyFailed then open.endCopy(): Unit else open.cancelCopy()
        catch case error: SQLException if !executor.isClosed && !isBroken(error) => ()
      }
  }

  /** `task`; if it takes more than half of the grace period of a cancel, the connection is closed,
    * which ends it.
    */
  private[postgres] def inShort(task: Task[Unit]): Task[Unit] =
    val giveUp = Task.sleep((graceMillis / 2).millis).andThen(Task(connection.abort()))
    giveUp.background.use(_ => task)

  private def copyFailed: Boolean =
    val socket = connection.watchedSocket
    (socket ne null) && socket.input.messages.copyFailed

  private def openCopy: CopyIn =
    val open = copy
    if open eq null then
      throw IllegalStateException("Session: no COPY is open. Call beginCopy before.")
    open

  /** Runs `send` as a cancellable call of the driver, with its errors as `ServerError`s. */
  private def onServer[A](send: => A): Task[A] = calling(_ => send)

  private def calling[A](send: DriverCall => A): Task[A] = Task.defer {
    if connectionLost then Task.fail(gone)
    else
      val call = DriverCall(connection, graceMillis)
      DriverCall
        .onThread {
          val result =
            try Right(call.run(send(call)))
            catch
              case error: SQLException => Left(placed(error))
              case error: VirtualMachineError =>
                // It may have come in the middle of an answer, the rest of which nobody awaits.
                lost = true
                connection.abort()
                throw error
          dispatcher.tellWaiting()
          result.fold(throw _, identity)
        }
        .cancelable(Task.uninterruptible(whenCancelled()).andThen(call.cancel))
  }

  /** Returns the server's error with this body. */
  private[postgres] def errorOf(body: Array[Byte]): ServerError =
    val said = connection.message(body)
    ServerError.of(org.postgresql.util.PSQLException(said), said, connectionLost = false)

  private def placed(error: SQLException): ServerError =
    val broken = executor.isClosed || isBroken(error)
    if !broken then ServerError.of(error, lastMessage, connectionLost = false)
    else
      lost = true
      val word = lastMessage
      connection.abort()
      ServerError.of(error, word, connectionLost = true)

  /** Returns the server's last error about this statement: the one about an earlier statement has
    * been cleared.
    */
  private def lastMessage: ServerErrorMessage | Null =
    val socket = connection.watchedSocket
    val body = if socket eq null then null else socket.input.messages.lastError
    if body eq null then null else connection.message(body)

  private def forgetLastError(): Unit =
    val socket = connection.watchedSocket
    if socket ne null then socket.input.messages.lastError = null

  private def gone: ServerError =
    ServerError.of(
      SQLException("The connection is closed.", "08003"),
      null,
      connectionLost = true
    )

object Session:
  enum Transaction:
    case Idle, Open, Failed

  /** The data in one CopyData message. The server copies each message before it reads it: at 128 KB
    * and more the copy no longer fits the nearest caches, and COPY takes 3 to 5 % longer. Between
    * 16 and 64 KB no difference was found.
    */
  private inline val MessageBytes = 32 << 10

  /** Returns a session on this connection. The server's notices go to `notice`, on the thread that
    * runs the session's task.
    *
    * A connection has one session at a time.
    */
  def apply(connection: ScriptConnection, notice: ServerNotice => Unit): Session =
    within(connection, notice, DriverCall.GraceMillis)

  /** As `apply`; the connection is closed if the server has not answered a cancel after
    * `graceMillis`.
    */
  private[postgres] def within(
      connection: ScriptConnection,
      notice: ServerNotice => Unit,
      graceMillis: Long
  ): Session =
    val session = new Session(connection, NoticeDispatcher(notice), graceMillis)
    session.receiveNotices()
    session

  /** Returns true if the connection has failed, rather than a statement: it could not be read or
    * written.
    */
  private def isBroken(error: SQLException): Boolean =
    Iterator
      .iterate[Throwable | Null](error)(_.nn.getCause)
      .takeWhile(_ ne null)
      .exists(_.isInstanceOf[java.io.IOException]) ||
      (error.getNextException ne null) && isBroken(error.getNextException)
