package weir.stream

import weir.kernel.RunLoop
import weir.{Stream, Task}

/** The values of one run after the other of a task that returns `Pull.End` once there are no more. */
private[weir] final class ChannelSource(receive: Task[Any]) extends Source:
  def next(fiber: RunLoop): Any =
    fiber.checkpoint()
    fiber.await(receive)

private[weir] object ChannelSource:
  def stream[A](receive: Task[Any]): Stream[A] = new Stream[A]:
    private[weir] def open(): Pull = ChannelSource(receive)
