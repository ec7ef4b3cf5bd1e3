package weir.task

import scala.annotation.implicitNotFound
import weir.kernel.{Direct, Pure, RunLoop, Tag}
import weir.stream.Pull
import weir.{Stream, Task}

/** The right of the code of one running `Task.direct` to await: see `Task.Direct`.
  *
  * `fiber.block` is this block exactly while its own code runs: not before or after, not while it waits for a task,
  * whose functions may hold this block too, and not in a nested `runSync`. A function that awaited in the name of a
  * block that waits for it could lose a cancel; on another thread it would corrupt the stack of the fiber. So `await`
  * looks at the thread, which is the block's until its end, and then at that field, into which nobody else puts
  * this block, and from which the block's thread takes it: so that thread alone can find it there, and is the owner.
  */
@implicitNotFound(
  "await needs an enclosing Task.direct. In a method that is called from one, take it as a parameter: " +
    "`(using Task.Direct)`. Elsewhere put the code into `Task.direct { ... }`, use flatMap, or, at the edge of the " +
    "program, runSync()."
)
final class DirectBlock private (fiber: RunLoop):
  private val thread = Thread.currentThread()

  /** For a message alone: other threads may read an old value. */
  private var hasEnded = false

  private[weir] def await[A](task: Task[A]): A =
    check()
    fiber.checkpoint()
    if task.tag == Tag.Pure then task.asInstanceOf[Pure[A]].value
    else
      // No look for a cancel after it: the value may be what it has taken.
      inBlock(null)(fiber.await(task))

  private[weir] def foreach[A](stream: Stream[A])(f: A => Unit): Unit =
    check()
    inBlock(null) {
      val pull = stream.open()
      Pull.closing(pull, fiber) {
        var value = pull.next(fiber)
        while !Pull.isEnd(value) do
          inBlock(this)(f(value.asInstanceOf[A]))
          value = pull.next(fiber)
      }
    }

  /** Runs `body` with `block` as the one whose code runs. */
  private inline def inBlock[A](block: DirectBlock | Null)(inline body: A): A =
    val outer = fiber.block
    fiber.block = block
    try body
    finally fiber.block = outer

  private def check(): Unit =
    if (Thread.currentThread() ne thread) || (fiber.block ne this) then throw misused()

  private def misused(): IllegalStateException = IllegalStateException(
    if Thread.currentThread() ne thread then
      s"await was called on ${Thread.currentThread()}, but its Task.direct runs on $thread. Only the thread that runs " +
        "a block may await in it. For code that runs elsewhere, write a Task.direct of its own there."
    else if hasEnded then
      "await was called after its Task.direct had ended. Code that outlives a block cannot await in it. Write a " +
        "Task.direct of its own there."
    else
      "await was called by code that its Task.direct is waiting for: a function in a task or a stream, an inner " +
        "Task.direct, or a runSync. Write a Task.direct there, or flatMap; a method that both blocks call takes " +
        "`(using Task.Direct)`."
  )

private[weir] object DirectBlock:
  def run[A](body: DirectBlock ?=> A): Task[A] = Direct { fiber =>
    val block = new DirectBlock(fiber)
    fiber.block = block
    try body(using block)
    finally
      block.hasEnded = true
      fiber.block = null
  }
