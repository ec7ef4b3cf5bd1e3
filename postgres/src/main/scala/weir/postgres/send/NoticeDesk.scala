package weir.postgres.send

import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicInteger
import org.postgresql.util.ServerErrorMessage
import scala.util.control.NonFatal
import weir.postgres.ServerNotice

/** Takes what the server tells to the user, always on the session's own thread.
  *
  * A statement's notices are told as they come in, since then it is that thread that reads. While a COPY is sent another one does: its
  * notices wait until the next data is sent, at most `Kept` of them; of the others only the number is told.
  */
private[postgres] final class NoticeDesk(tellUser: ServerNotice => Unit):
  private val waiting = ConcurrentLinkedQueue[ServerNotice]()
  private val count = AtomicInteger()

  // owner only: the session's thread
  private var listenerFailure: Throwable | Null = null

  /** Whether it is the session's thread that reads. */
  @volatile var isLive = false

  def receive(said: ServerErrorMessage): Unit =
    val notice = NoticeDesk.of(said)
    if isLive then tell(notice)
    else if count.incrementAndGet() <= NoticeDesk.Kept then waiting.add(notice): Unit

  /** Tells what has waited. '''Fails''' with what the user's code has thrown since the last time. */
  def tellWaiting(): Unit =
    if count.get() > 0 then
      val came = count.getAndSet(0)
      var told = 0
      var notice = waiting.poll()
      while notice ne null do
        told += 1
        tell(notice)
        notice = waiting.poll()
      if came > told then tell(NoticeDesk.untold(came - told))
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
