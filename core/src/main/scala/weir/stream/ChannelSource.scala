package weir.stream

import weir.fiber.TaskFiber
import weir.{Stream, Task}

/** Emits the values of a channel: runs `receive` again and again, which returns `Pull.End` at the
  * end.
  */
private[weir] final class ChannelSource(receive: Task[Any]) extends PlainSource:
  def next(fiber: TaskFiber): Any =
    fiber.checkpoint()
    fiber.await(receive)

private[weir] object ChannelSource:
  def stream[A](receive: Task[Any]): Stream[A] = new Stream[A]:
    private[weir] def open(): Pull = ChannelSource(receive)
