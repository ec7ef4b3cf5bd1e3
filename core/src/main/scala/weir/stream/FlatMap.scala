package weir.stream

import weir.kernel.RunLoop
import weir.{Outcome, Stream}

/** One stream for each element, one after the other; each is closed before the next begins. */
private[weir] final class FlatMapStage(outer: Pull, f: Any => Stream[Any]) extends Pull:
  private var inner: Pull | Null = null
  private var left = Long.MaxValue

  def next(fiber: RunLoop): Any =
    while true do
      val current = inner
      if current ne null then
        val value = current.next(fiber)
        if !Pull.isEnd(value) then
          left -= 1
          inner = current.settled
          return value
        inner = null
        fiber.masked(current.close(fiber, Pull.succeeded))
      else if outer.isSpent then return Pull.End
      else
        val value = outer.next(fiber)
        if Pull.isEnd(value) then return value
        val opened = f(value).open()
        opened.atMost(left)
        inner = opened
    Pull.End

  override def atMost(count: Long): Unit = left = math.min(left, count)

  def close(fiber: RunLoop, outcome: Outcome[Unit]): Unit =
    val current = inner
    inner = null
    Pull.both(if current ne null then current.close(fiber, outcome), outer.close(fiber, outcome))

  override def settled: Pull =
    val current = inner
    if (current ne null) && outer.isSpent then current.settled else this
