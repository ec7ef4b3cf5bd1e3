package weir.postgres.send

import scala.concurrent.duration.*
import weir.Task

/** Tells when the server has not answered for long, again after twice the time, and so on.
  *
  *   - '''Shared''': `since`, written by the fiber that calls the server, read by the one that watches.
  *
  * @param stalled
  *   is told how long the call has taken by now, by the fiber that watches
  */
private[postgres] final class CallWatch(after: FiniteDuration, stalled: FiniteDuration => Unit):
  @volatile private var since = 0L // when the call began; 0 if there is none

  def begin(): Unit = since = System.nanoTime() | 1L
  def end(): Unit = since = 0

  /** `task`, watched. */
  def during[A](task: Task[A]): Task[A] = watch(0, after).background.use(_ => task)

  /** @param told
    *   which call has been told of
    * @param next
    *   how long it may take before it is told of again
    */
  private def watch(told: Long, next: FiniteDuration): Task[Nothing] =
    Task.sleep(after / 10).flatMap { _ =>
      val call = since
      val limit = if call == told then next else after
      val waited = (System.nanoTime() - call).nanos
      if call == 0 || waited < limit then watch(told, next)
      else
        stalled(waited)
        watch(call, limit * 2)
    }
