package weir.stream

import scala.collection.mutable.ListBuffer
import weir.fiber.{DirectBlock, DirectCode}
import weir.{Stream, Task}

/** Runs a stream to its end, in one loop: as a task, or as code of a `Task.direct`. */
private[weir] object RunStream:

  def fold[A, B](stream: Stream[A], zero: B, f: (B, A) => B): Task[B] = DirectCode { fiber =>
    val pull = stream.open()
    var result = zero
    Pull.closing(pull, fiber) {
      var value = pull.next(fiber)
      while !Pull.isEnd(value) do
        result = f(result, value.asInstanceOf[A])
        value = pull.next(fiber)
    }
    result
  }

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

  def toList[A](stream: Stream[A]): Task[List[A]] = Task.defer {
    val buffer = ListBuffer[A]()
    fold(stream, (), (_, value: A) => buffer += value: Unit).map(_ => buffer.toList)
  }
