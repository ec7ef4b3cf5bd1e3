package weir.stream

import weir.fiber.{DirectBlock, DirectCode, TaskFiber}
import weir.{Stream, Task}

/** Runs a stream to its end, in one loop: as a task, or as code of a `Task.direct`. */
private[weir] object RunStream:

  /** The result of `end`, once `stream` has ended.
    *
    * A stream with fibers of its own is not consumed on a platform thread that has called
    * `runSync`: to wake that thread takes ten times as long as to wake a fiber, and is due every
    * few elements.
    */
  def apply[B](stream: Stream[Any], end: Step.End): Task[B] = new DirectCode[B](run(stream, end)):
    override def isForWorker: Boolean = stream.openUntil(end).hasFibers

  private def run[B](stream: Stream[Any], end: Step.End)(fiber: TaskFiber): B =
    val pull = stream.openUntil(end)
    var result: Any = null
    Pull.closing(pull, fiber) {
      result = if pull.hasEnd then pull.next(fiber) else loop(pull, end, fiber)
    }
    result.asInstanceOf[B]

  private def loop(pull: Pull, end: Step.End, fiber: TaskFiber): Any =
    val each = end.begin()
    var value = pull.next(fiber)
    while !Pull.isEnd(value) do
      each.add(value)
      value = pull.next(fiber)
    each.result

  /** Pulls `stream` as `direct` awaits a task, and runs `f` as the code of that block. */
  def foreach[A](stream: Stream[A], f: A => Unit, direct: DirectBlock): Unit =
    direct.awaiting { fiber =>
      val pull = stream.open()
      Pull.closing(pull, fiber) {
        var value = pull.next(fiber)
        while !Pull.isEnd(value) do
          direct.call(f, value.asInstanceOf[A])
          value = pull.next(fiber)
      }
    }
