package weir.stream

import weir.kernel.RunLoop
import weir.{Outcome, Stream}

/** One stream after the other; each is closed before the next begins. */
private[weir] final class Concat[+A](val first: Stream[A], val second: () => Stream[A])
    extends Stream[A]:
  private[weir] def open(): Pull = ConcatPull(this)

/** However the `++` are nested, it is one pull with a list of what is to come: recursion costs neither stack nor
  * heap.
  */
private final class ConcatPull(stream: Concat[Any]) extends Pull:
  private var rest: List[() => Stream[Any]] = Nil
  private var left = Long.MaxValue
  private var current: Pull = begin(stream)

  private def begin(stream: Stream[Any]): Pull =
    var from = stream
    while from.isInstanceOf[Concat[?]] do
      val concat = from.asInstanceOf[Concat[Any]]
      rest = concat.second :: rest
      from = concat.first
    from.open()

  def next(fiber: RunLoop): Any =
    while true do
      val value = current.next(fiber)
      if !Pull.isEnd(value) then
        left -= 1
        current = current.settled
        return value
      if rest.isEmpty then return Pull.End
      val ended = current
      current = EmptySource
      fiber.masked(ended.close(fiber, Pull.succeeded))
      val following = rest.head
      rest = rest.tail
      current = begin(following())
      current.atMost(left)
    Pull.End

  override def atMost(count: Long): Unit =
    left = math.min(left, count)
    current.atMost(count)

  def close(fiber: RunLoop, outcome: Outcome[Unit]): Unit = current.close(fiber, outcome)

  override def settled: Pull = if rest.isEmpty then current.settled else this
