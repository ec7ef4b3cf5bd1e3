package weir.postgres.send

import java.util.concurrent.locks.ReentrantLock
import org.postgresql.util.ServerErrorMessage
import scala.util.control.NonFatal
import weir.postgres.ServerNotice

/** Takes what the server tells to the user, always on the session's own thread.
  *
  * A statement's notices are told as they come in, since then it is that thread that reads. While a COPY is sent another one does: its
  * notices wait until the next data is sent, at most `Kept` of them; of the others only the number is told.
  */
private[postgres] final class NoticeDesk(tellUser: ServerNotice => Unit):
  // shared: under the lock
  private val lock = ReentrantLock()
  private var waiting = Vector.empty[ServerNotice]
  private var untold = 0

  // owner only: the session's thread
  private var listenerFailure: Throwable | Null = null

  /** Whether it is the session's thread that reads. */
  @volatile var isLive = false

  def receive(said: => ServerErrorMessage): Unit =
    if isLive then tell(NoticeDesk.of(said))
    else
      lock.lock()
      try
        if waiting.size < NoticeDesk.Kept then waiting :+= NoticeDesk.of(said)
        else untold += 1
      finally lock.unlock()

  /** Tells what has waited. '''Fails''' with what the user's code has thrown since the last time. */
  def tellWaiting(): Unit =
    lock.lock()
    val (notices, more) =
      try
        val all = (waiting, untold)
        waiting = Vector.empty
        untold = 0
        all
      finally lock.unlock()
    notices.foreach(tell)
    if more > 0 then tell(NoticeDesk.untold(more))
    val failure = listenerFailure
    if failure ne null then
      listenerFailure = null
      throw failure

  /** Code of the user's must not throw in the middle of a message of the server's. */
  private def tell(notice: ServerNotice): Unit =
    try tellUser(notice)
    catch case NonFatal(error) => if listenerFailure eq null then listenerFailure = error

private[postgres] object NoticeDesk:
  val Kept = 1000

  def of(said: ServerErrorMessage): ServerNotice = ServerNotice(
    Option(said.getSeverity).getOrElse("NOTICE"),
    Option(said.getSQLState).getOrElse("00000"),
    Option(said.getMessage).getOrElse(""),
    Option(said.getDetail),
    Option(said.getHint),
    Option(said.getWhere)
  )

  private def untold(count: Int): ServerNotice =
    ServerNotice("WARNING", "01000", s"$count more, which are not shown", None, None, None)
