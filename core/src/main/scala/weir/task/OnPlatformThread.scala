package weir.task

import weir.Task
import weir.kernel.{Pure, RunLoop, Suspend, Waiter}
import weir.sync.Awaited

/** Plain code on a thread of the operating system, while the fiber waits. */
private[weir] final class OnPlatformThread[A](thunk: () => A) extends Suspend[A]:
  def begin(fiber: RunLoop): Any =
    val call = PlatformCall(fiber, thunk)
    fiber.runtime.platformThreads.execute(call)
    call

/** The fiber's wait, and what the thread runs.
  *
  * The thread is interrupted only under the lock and only between the two locked parts of `run`. So no interrupt is
  * under way when the thread goes back to its pool, which clears the flag before the next call.
  */
private final class PlatformCall(fiber: RunLoop, thunk: () => Any)
    extends Waiter(fiber),
      Runnable,
      Awaited:

  // immutable: where a hook is installed, what the fiber's thread carries goes with the code
  private val hook = fiber.runtime.hook
  private val context = if hook eq null then null else hook.capture()

  // shared, under this object's lock
  @volatile private var runner: Thread | Null = null // a dump reads it without the lock
  private var canceled = false
  private var ended = false

  /** What the code has returned, also where it has outlived a cancel. */
  private var returned: Pure[Any] | Null = null

  /** Where the fiber waits for the code to end after its own cancel. */
  private var canceling: Waiter | Null = null

  def run(): Unit =
    val begins = synchronized {
      if canceled then ended = true else runner = Thread.currentThread()
      !canceled
    }
    if begins then
      var result: Pure[Any] | Null = null
      var error: Throwable | Null = null
      if hook ne null then hook.install(context)
      try result = Pure(thunk())
      catch case thrown: Throwable => error = thrown
      if hook ne null then hook.install(null)
      synchronized {
        runner = null
        ended = true
        returned = result
      }
      if error ne null then fail(error): Unit else complete(result.nn.value): Unit
    val waiter = synchronized(canceling)
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
    def begin(fiber: RunLoop): Any = PlatformCall.this.synchronized {
      if ended then ()
      else
        canceled = true
        val thread = runner
        if thread ne null then thread.interrupt()
        val waiter = Waiter(fiber)
        canceling = waiter
        waiter
    }
