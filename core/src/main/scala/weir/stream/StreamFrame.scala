package weir.stream

import weir.fiber.TaskFiber
import weir.{Outcome, Stream, Task}

/** The continuation of a `CompositePull` once the part of the stream that it pulls has ended or
  * failed. A frame has no elements of its own. It is a pull since it is closed as one, and since a
  * trace searches pulls for the functions that come next.
  *
  * @param outer the frame that comes after this one
  * @param continues true if elements may follow the end of that part
  */
private sealed abstract class StreamFrame(
    val outer: StreamFrame | Null,
    final val continues: Boolean
) extends PlainSource:
  final def next(fiber: TaskFiber): Any = Pull.End

  /** True if this frame or one outside of it is a `handleErrorWith`. */
  final val isHandled: Boolean =
    isInstanceOf[StreamFrame.Handler] || ((outer ne null) && outer.isHandled)

private object StreamFrame:
  /** The second stream of `++`. */
  final class Following(val stream: () => Stream[Any], outer: StreamFrame | Null)
      extends StreamFrame(outer, continues = true)

  /** A `flatMap`: the pull of its source, and its function. */
  final class Mapping(val pull: Pull, val f: Any => Stream[Any], outer: StreamFrame | Null)
      extends StreamFrame(outer, continues = true):
    override def holdsNothing: Boolean = pull.holdsNothing
    override def hasFibers: Boolean = pull.hasFibers || pull.isOneEffect
    override def close(fiber: TaskFiber, outcome: Outcome[Unit]): Unit = pull.close(fiber, outcome)

  /** A `handleErrorWith`. */
  final class Handler(val f: Throwable => Stream[Any], outer: StreamFrame | Null)
      extends StreamFrame(outer, continues = false)

  /** An `onFinalize`. */
  final class Finalizer(task: Outcome[Unit] => Task[Unit], outer: StreamFrame | Null)
      extends StreamFrame(outer, continues = false):
    override def holdsNothing: Boolean = false
    override def close(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
      fiber.await(task(outcome))
