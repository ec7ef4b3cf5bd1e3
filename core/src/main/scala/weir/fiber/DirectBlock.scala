package weir.fiber

import scala.annotation.implicitNotFound
import scala.util.control.ControlThrowable
import weir.Task

/** The capability of the code of one running `Task.direct` to await: see `Task.Direct`.
  *
  * `fiber.block` is this block exactly while its own code runs. It is not this block before or
  * after, while the block waits for a task, whose functions may hold the block too, or in a nested
  * `runSync`. If a function could await with a block that waits for that function, a cancel could
  * be lost; on another thread, such an await would corrupt the stack of the fiber.
  *
  * So `await` compares the thread first, which is the block's until its end, and then reads that
  * field. Only the block's own thread writes this block into the field, and removes it. So no other
  * thread can pass both checks, and the thread that passes owns the fiber.
  */
@implicitNotFound(
  "await needs an enclosing Task.direct. In a method that is called from one, take it as a " +
    "parameter: `(using Task.Direct)`. Elsewhere put the code into `Task.direct { ... }`, use " +
    "flatMap, or, at the edge of the program, runSync()."
)
final class DirectBlock private (fiber: TaskFiber):
  private val thread = Thread.currentThread()

  /** For a message only: other threads may read an old value. */
  private var hasEnded = false

  private[weir] def await[A](task: Task[A]): A =
    check()
    fiber.checkpoint()
    if task.tag == Tag.Pure then task.asInstanceOf[Pure[A]].value
    else
      // No check for a cancel after it: the value may be the only reference to what was taken.
      inBlock(null)(fiber.await(task))

  /** Runs `body` in place of the block's code, as `await` runs a task. */
  private[weir] def awaiting[A](body: TaskFiber => A): A =
    check()
    inBlock(null)(body(fiber))

  /** Returns true if this is a block of `fiber` on the calling thread. */
  private[weir] def isOf(fiber: TaskFiber): Boolean =
    (this.fiber eq fiber) && (Thread.currentThread() eq thread)

  /** Runs `body` as the code of this block. */
  private[weir] inline def run[A](inline body: DirectBlock ?=> A): A =
    inBlock(this)(body(using this))

  /** Runs `f` as the block's own code, inside of `awaiting`. */
  private[weir] def call[A](f: A => Unit, value: A): Unit = inBlock(this)(f(value))

  /** Runs `body` with `block` as the block whose code runs. */
  private inline def inBlock[A](block: DirectBlock | Null)(inline body: A): A =
    val outer = fiber.block
    fiber.block = block
    try body
    finally fiber.block = outer

  private def check(): Unit =
    if (Thread.currentThread() ne thread) || (fiber.block ne this) then throw misused()

  private def misused(): IllegalStateException = IllegalStateException(
    if Thread.currentThread() ne thread then
      s"await was called on ${Thread.currentThread()}, but its Task.direct runs on $thread. Only " +
        "the thread that runs a block may await in it. For code that runs elsewhere, write a " +
        "Task.direct of its own there."
    else if hasEnded then
      "await was called after its Task.direct had ended. Code that outlives a block cannot await " +
        "in it. Write a Task.direct of its own there."
    else
      "await was called by code that its Task.direct is waiting for: a function in a task or a " +
        "stream, an inner Task.direct, or a runSync. Write a Task.direct there, or flatMap; a " +
        "method that both blocks call takes `(using Task.Direct)`."
  )

private[weir] object DirectBlock:
  /** Returns a block for plain code that `fiber` runs on the calling thread piece by piece: see
    * `run`.
    */
  private[weir] def of(fiber: TaskFiber): DirectBlock = new DirectBlock(fiber)

  def run[A](body: DirectBlock ?=> A): Task[A] =
    new DirectCode[A](code(body)):
      override def isForContext: Boolean = true

  /** As `run`, for code that waits for a consumer: apart from the context of an `evalOn`. */
  private[weir] def runApart[A](body: DirectBlock ?=> A): Task[A] = DirectCode(code(body))

  private def code[A](body: DirectBlock ?=> A): TaskFiber => A = fiber =>
    val block = new DirectBlock(fiber)
    fiber.block = block
    try body(using block)
    finally
      block.hasEnded = true
      fiber.block = null

/** Unwinds plain code of a fiber that was cancelled while it awaited.
  *
  * It is not an `Exception`, and `NonFatal` does not match it (so `Try` does not either): ordinary
  * handlers let it pass. A handler that catches it changes nothing; the fiber unwinds nevertheless.
  */
private[weir] object CancelSignal
    extends ControlThrowable("The fiber was cancelled while it awaited."):

  /** Returns true if `error` is the signal, or wraps it. */
  def isIn(error: Throwable): Boolean =
    var cause: Throwable | Null = error
    var left = 100 // the causes may form a circle
    while (cause ne null) && (cause ne this) && left > 0 do
      cause = cause.getCause
      left -= 1
    cause eq this
