package weir.stream

import weir.fiber.{DirectBlock, DirectCode, TaskFiber}
import weir.{Stream, Task}

/** Runs a stream to its end, in one loop: as a task, or as code of a `Task.direct`. */
private[weir] object RunStream:

  /** Runs `stream` to its end and returns the result of `end`.
    *
    * A stream that waits should not run on a platform thread that has called `runSync`: waking that
    * thread takes ten times as long as waking a fiber. So a stream with fibers of its own is left
    * to a worker, and any other one after the first element at which it has had to wait.
    */
  def apply[B](stream: Stream[Any], end: Step.End): Task[B] =
    new DirectCode[B](begin[B](stream, end)):
      override def isForWorker: Boolean = stream.openUntil(end).hasFibers
      override def isForContext: Boolean = stream.openUntil(end).isPlain

  private def begin[B](stream: Stream[Any], end: Step.End)(fiber: TaskFiber): B =
    val result = stream.openUntil(end) match
      case fused: FusedPull if fused.hasEnd =>
        // It has one `next`, in which it could not leave the thread.
        if fused.parksCaller && fiber.isOnCallingThread then
          val parks = fiber.callerParks
          val result = consume(stream, stream.open(), end, fiber)
          if fiber.callerParks == parks then fused.parksNoCaller()
          result
        else fused.run(fiber)
      case pull => consume(stream, pull, end, fiber)
    result.asInstanceOf[B]

  private def consume(stream: Stream[Any], pull: Pull, end: Step.End, fiber: TaskFiber): Any =
    StreamLoop(stream, pull, end).begin(fiber)

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
