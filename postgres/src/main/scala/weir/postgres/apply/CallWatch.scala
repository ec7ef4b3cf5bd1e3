package weir.postgres.apply

import scala.concurrent.duration.*
import weir.Task

/** Reports that the server has not answered for `after`, again after twice the time, and so on.
  *
  *   - **Shared**: `since`, written by the fiber that calls the server, read by the watching fiber.
  *
  * @param stalled
  *   called with the time that the call has taken so far, by the watching fiber
  */
private[postgres] final class CallWatch(after: FiniteDuration, stalled: FiniteDuration => Unit):
  @volatile private var since = 0L // when the call began; 0 if there is none

  def begin(): Unit = since = System.nanoTime() | 1L
  def end(): Unit = since = 0

  /** `task`, with a fiber beside it that watches the calls. */
  def during[A](task: Task[A]): Task[A] = watch(0, after).background.use(_ => task)

  /** @param told
    *   the call that was reported last
    * @param next
    *   the time after which that call is reported again
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
