package weir.postgres.protocol

import java.util.concurrent.locks.ReentrantLock
import org.postgresql.util.ServerErrorMessage
import scala.util.control.NonFatal
import weir.postgres.ServerNotice

/** Passes the server's notices to the user, always on the session's own thread.
  *
  * A statement's notices are passed on as they arrive, since that thread reads them. During a COPY
  * another thread reads: its notices wait until the next data is sent, at most `Kept` of them; of
  * further ones only the number is passed on.
  */
private[postgres] final class NoticeDispatcher(tellUser: ServerNotice => Unit):
  // shared: under the lock
  private val lock = ReentrantLock()
  private var waiting = Vector.empty[ServerNotice]
  private var untold = 0

  // owner only: the session's thread
  private var listenerFailure: Throwable | Null = null

  /** True if the session's thread reads the socket, rather than the watch of a COPY. */
  @volatile var isLive = false

  def receive(said: => ServerErrorMessage): Unit =
    if isLive then tell(NoticeDispatcher.of(said))
    else
      lock.lock()
      try
        if waiting.size < NoticeDispatcher.Kept then waiting :+= NoticeDispatcher.of(said)
        else untold += 1
      finally lock.unlock()

  /** Passes on the notices that have waited. **Fails** with the error that the user's code has
    * thrown since the last call.
    */
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
    if more > 0 then tell(NoticeDispatcher.untold(more))
    val failure = listenerFailure
    if failure ne null then
      listenerFailure = null
      throw failure

  /** The user's code must not throw in the middle of a message of the server. */
  private def tell(notice: ServerNotice): Unit =
    try tellUser(notice)
    catch case NonFatal(error) => if listenerFailure eq null then listenerFailure = error

private[postgres] object NoticeDispatcher:
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
