package weir.stream

import scala.collection.mutable.ListBuffer
import weir.kernel.Direct
import weir.{Stream, Task}

/** A stream as a task: one loop that pulls until the end, and closes. */
private[weir] object Compile:

  def fold[A, B](stream: Stream[A], zero: B, f: (B, A) => B): Task[B] = Direct { fiber =>
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

  def toList[A](stream: Stream[A]): Task[List[A]] = Task.defer {
    val buffer = ListBuffer[A]()
    fold(stream, (), (_, value: A) => buffer += value: Unit).map(_ => buffer.toList)
  }
