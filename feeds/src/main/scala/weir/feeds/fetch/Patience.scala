package weir.feeds.fetch

import java.util.concurrent.TimeoutException
import scala.concurrent.duration.*

import weir.Task
import weir.program.DurationText

/** Limits the time that a server takes for the requests of one fetch. Delays of this process do not
  * count.
  *
  * The time is counted in short sleeps. If the processors are busy, or the process was stopped, a
  * sleep ends late, but counts only for the requested time, since the server may have sent its
  * answer meanwhile. Time between the requests does not count.
  */
private[fetch] final class Patience(limit: FiniteDuration):
  private val step = (limit / 50) max Patience.shortest min Patience.longest

  /** Used by one request after the other. */
  private var left = limit

  /** Runs `task` within the limit.
    *
    * **Fails** with a `TimeoutException` when the time is over; then `task` has been cancelled, and
    * its finalizers have run.
    */
  def during[A](task: Task[A]): Task[A] = Task.race(task, end).map(_.merge)

  private val end: Task[Nothing] = Task.defer:
    if left <= Duration.Zero then
      Task.fail(TimeoutException(s"it took more than ${DurationText.show(limit)}"))
    else
      val nap = left min step
      Task
        .sleep(nap)
        .flatMap: _ =>
          left -= nap
          end

private object Patience:
  /** Sleeps that are cheap for thousands of requests at once. */
  val shortest: FiniteDuration = 10.millis
  val longest: FiniteDuration = 250.millis
