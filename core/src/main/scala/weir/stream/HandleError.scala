package weir.stream

import weir.kernel.{CancelSignal, RunLoop}
import weir.{Outcome, Stream}

/** A stream that goes on as another one if it fails. What has failed is closed first. */
private[weir] final class HandleErrorStage(first: Pull, f: Throwable => Stream[Any]) extends Pull:
  private var current = first
  private var handled = false
  private var left = Long.MaxValue

  def next(fiber: RunLoop): Any =
    if handled then
      val value = current.next(fiber)
      current = current.settled
      value
    else
      try
        val value = current.next(fiber)
        left -= 1
        value
      catch
        case CancelSignal => throw CancelSignal
        case error: Throwable =>
          handled = true
          val failed = current
          current = EmptySource
          try fiber.masked(failed.close(fiber, Outcome.Failed(error)))
          catch case later: Throwable => if later ne error then error.addSuppressed(later)
          current = f(error).open()
          current.atMost(left)
          current.next(fiber)

  override def atMost(count: Long): Unit =
    left = math.min(left, count)
    current.atMost(count) // still the first: this comes before `next`

  def close(fiber: RunLoop, outcome: Outcome[Unit]): Unit = current.close(fiber, outcome)

  override def settled: Pull = if handled then current.settled else this
