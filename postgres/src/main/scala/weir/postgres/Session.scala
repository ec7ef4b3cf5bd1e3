package weir.postgres

import java.sql.SQLException
import org.postgresql.copy.{CopyIn, CopyManager}
import org.postgresql.core.TransactionState
import org.postgresql.util.ServerErrorMessage
import scala.concurrent.duration.*
import weir.Task
import weir.postgres.send.{DriverCall, NoticeDesk, SimpleQuery}

/** One connection, to which statements and COPY data are sent one after the other. It decides nothing: `SqlScript.applyTo` does.
  *
  * '''Cancelled''': each of these tasks asks the server to cancel, and waits until it has answered, so that the connection is of
  * use again; a server that does not answer within eight seconds has its connection closed. '''Fails''' with a `ServerError`. An
  * error in the middle of a transaction leaves it failed, as the server does.
  */
final class Session private (connection: ScriptConnection, desk: NoticeDesk, graceMillis: Long):
  import Session.*

  private val executor = connection.driver.getQueryExecutor
  private val simple = SimpleQuery(connection, desk)
  @volatile private var lost = false
  private var copy: CopyIn | Null = null

  /** Whether the server is in a transaction. */
  def transaction: Transaction = executor.getTransactionState match
    case TransactionState.IDLE => Transaction.Idle
    case TransactionState.OPEN => Transaction.Open
    case TransactionState.FAILED => Transaction.Failed

  /** That the connection is of no use any more. */
  def connectionLost: Boolean = lost || executor.isClosed

  /** That the server has agreed to a COPY, which has not ended. */
  def isCopying: Boolean = copy ne null

  /** The server has said no to the COPY that is open. It takes more data, and throws it away; `endCopy` fails with the error.
    * Always false where `ScriptConnection.isWatched` is false.
    */
  def copyHasFailed: Boolean =
    val socket = connection.watchedSocket
    (copy ne null) && (socket ne null) && socket.inbox.messages.copyFailed

  /** The server's `client_encoding`. */
  def encoding: String = connection.encoding

  /** Whether a backslash in a plain string is itself, by the setting `standard_conforming_strings` that the session has, wherever it
    * has it from.
    */
  def hasStandardStrings: Boolean =
    executor.getParameterStatus("standard_conforming_strings") != "off"

  /** What the statement has done. It is sent as it is, without a transaction around it. Rows that it returns are dropped as they
    * come in.
    */
  def execute(statement: Array[Byte]): Task[Done] = onServer {
    forgetLastWord()
    simple.execute(statement)
  }

  /** As `execute`, for SQL of one's own. Several statements in one are one transaction, unless they say otherwise. */
  def run(sql: String): Task[Done] =
    Task.defer(execute(sql.getBytes(Encodings.charset(encoding))))

  /** Nothing, once the server has agreed to a `COPY … FROM STDIN`. */
  def beginCopy(statement: Array[Byte]): Task[Unit] = onServer {
    forgetLastWord()
    val socket = connection.watchedSocket
    val copies =
      if socket eq null then CopyManager(connection.driver).copyIn(simple.decode(statement))
      else
        socket.outbox.sendInstead(statement)
        CopyManager(connection.driver).copyIn("COPY")
    copy = copies
    if socket ne null then socket.inbox.watch()
  }

  /** Nothing, once the data is on its way. '''Waits''' while the server is slower than this. */
  def write(bytes: Array[Byte], from: Int, length: Int): Task[Unit] = onServer {
    val open = openCopy
    val end = from + length
    var at = from
    while at < end do
      val size = math.min(MessageBytes, end - at)
      open.writeToCopy(bytes, at, size)
      at += size
  }

  /** How many rows the COPY has added. */
  def endCopy: Task[Long] = onServer {
    val copies = openCopy
    try copies.endCopy()
    finally copy = null
  }

  /** Nothing, once the server has forgotten the COPY that is open, which fails there with a word of the driver's; the transaction,
    * if one is open, has failed. Nothing at all if none is open.
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

  /** `task`; the connection is closed where it takes half as long as a cancel may, which ends it. */
  private[postgres] def inShort(task: Task[Unit]): Task[Unit] =
    val giveUp = Task.sleep((graceMillis / 2).millis).andThen(Task(connection.abort()))
    giveUp.background.use(_ => task)

  private def copyFailed: Boolean =
    val socket = connection.watchedSocket
    (socket ne null) && socket.inbox.messages.copyFailed

  private def openCopy: CopyIn =
    val open = copy
    if open eq null then
      throw IllegalStateException("Session: no COPY is open. Call beginCopy before.")
    open

  /** `send`, with errors as they should be. */
  private def onServer[A](send: => A): Task[A] = Task.defer {
    if connectionLost then Task.fail(gone)
    else
      val call = DriverCall(connection, graceMillis)
      Task
        .uninterruptible {
          val result =
            try Right(call.run(send))
            catch case error: SQLException => Left(placed(error))
          desk.tellWaiting()
          result.fold(throw _, identity)
        }
        .cancelable(call.cancel)
  }

  private def placed(error: SQLException): ServerError =
    val broken = executor.isClosed || isBroken(error)
    if !broken then ServerError.of(error, lastWord, connectionLost = false)
    else
      lost = true
      val word = lastWord
      connection.abort()
      ServerError.of(error, word, connectionLost = true)

  /** Of this statement: what the server has said about one before it was forgotten. */
  private def lastWord: ServerErrorMessage | Null =
    val socket = connection.watchedSocket
    val body = if socket eq null then null else socket.inbox.messages.lastError
    if body eq null then null else connection.message(body)

  private def forgetLastWord(): Unit =
    val socket = connection.watchedSocket
    if socket ne null then socket.inbox.messages.lastError = null

  private def gone: ServerError =
    ServerError.of(
      SQLException("The connection is closed.", "08003"),
      null,
      connectionLost = true
    )

object Session:
  enum Transaction:
    case Idle, Open, Failed

  /** What one message carries. The server copies each as a whole before it looks at it: of 128 KB and more the copy falls out of its
    * processor's nearest caches, and COPY takes 3 to 5 % longer. Between 16 and 64 KB no difference was found.
    */
  private inline val MessageBytes = 32 << 10

  /** A session on this connection. What the server tells goes to `notice`, on the thread that runs the session's task.
    *
    * A connection has one session at a time.
    */
  def apply(connection: ScriptConnection, notice: ServerNotice => Unit): Session =
    within(connection, notice, DriverCall.GraceMillis)

  /** As `apply`; the connection is closed where the server has not answered a cancel after `graceMillis`. */
  private[postgres] def within(
      connection: ScriptConnection,
      notice: ServerNotice => Unit,
      graceMillis: Long
  ): Session =
    val desk = NoticeDesk(notice)
    connection.notices.receive = body => desk.receive(connection.message(body))
    new Session(connection, desk, graceMillis)

  /** An error of the connection, not of a statement: it could not be read or written. */
  private def isBroken(error: SQLException): Boolean =
    Iterator
      .iterate[Throwable | Null](error)(_.nn.getCause)
      .takeWhile(_ ne null)
      .exists(_.isInstanceOf[java.io.IOException]) ||
      (error.getNextException ne null) && isBroken(error.getNextException)
