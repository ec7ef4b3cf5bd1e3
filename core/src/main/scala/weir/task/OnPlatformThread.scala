package weir.task

import weir.Task
import weir.fiber.{Awaited, Pure, Suspend, TaskFiber, Waiter}

/** Runs plain code on a thread of the operating system, while the fiber waits. */
private[weir] final class OnPlatformThread[A](thunk: () => A) extends Suspend[A]:
  def begin(fiber: TaskFiber): Any =
    val call = PlatformCall(fiber, thunk)
    fiber.runtime.platformThreads.execute(call)
    call

/** One call of such code: the wait of the fiber, and the code that the thread runs.
  *
  * The thread is interrupted only under the lock, and only between the two locked parts of `run`.
  * So no interrupt is under way when the thread goes back to its pool, which clears the flag before
  * the next call.
  */
private final class PlatformCall(fiber: TaskFiber, thunk: () => Any)
    extends Waiter(fiber),
      Runnable,
      Awaited:

  // immutable
  // If a hook is installed, the context of the fiber's thread goes with the code.
  private val hook = fiber.runtime.hook
  private val context = if hook eq null then null else hook.capture()

  // shared, under this object's lock
  @volatile private var runner: Thread | Null = null // a dump reads it without the lock
  private var cancelled = false
  private var ended = false

  /** The value that the code has returned, also if it has ended after a cancel. */
  private var returned: Pure[Any] | Null = null

  /** The wait of the cancelled fiber for the code to end. */
  private var cancelWaiter: Waiter | Null = null

  def run(): Unit =
    val begins = synchronized {
      if cancelled then ended = true else runner = Thread.currentThread()
      !cancelled
    }
    if begins then
      var result: Pure[Any] | Null = null
      var error: Throwable | Null = null
      if hook ne null then hook.install(context)
      try result = Pure(thunk())
      catch case thrown: Throwable => error = thrown
      if hook ne null then hook.install(null)
      synchronized {
        ended = true
        returned = result
      }
      if error ne null then fail(error): Unit else complete(result.nn.value): Unit
    val waiter = synchronized(cancelWaiter)
    if waiter ne null then waiter.complete(()): Unit

  override def awaited: Awaited = this
  def awaitedAs: String =
    val thread = runner
    s"Task.onPlatformThread, whose code ${
        if thread eq null then "has not begun" else s"runs on ${thread.getName}"
      }"

  override def late: Pure[Any] | Null = returned

  /** Interrupts the code, and waits until it has ended. */
  override val cancelHook: Task[Unit] = new Suspend[Unit]:
    def begin(fiber: TaskFiber): Any = PlatformCall.this.synchronized {
      if ended then ()
      else
        cancelled = true
        val thread = runner
        if thread ne null then thread.interrupt()
        val waiter = Waiter(fiber)
        cancelWaiter = waiter
        waiter
    }
