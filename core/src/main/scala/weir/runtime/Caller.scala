package weir.runtime

/** The thread of a caller of `runSync`, which runs the first slice of its task itself. */
private[weir] final class Caller private (scheduler: Scheduler) extends Host(scheduler):
  val thread: Thread = Thread.currentThread()

  /** A virtual thread holds a carrier, a platform thread does not. */
  val pooled: Boolean = thread.isVirtual

  def home: Int = thread.threadId().toInt

  /** Runs one slice of `job`, and of the jobs that it hands over. */
  private def run(job: Job): Unit =
    var current: Job | Null = job
    while current ne null do
      current.runSlice(this)
      current = takeHandedOver()

private[weir] object Caller:
  private final class Depth:
    var calls = 0

  private val depth: ThreadLocal[Depth] = ThreadLocal.withInitial(() => Depth())

  /** Runs the first slice of `job` on the calling thread. Where calls of `runSync` are nested so deep that the
    * thread's stack could overflow, it queues the job instead: a worker then has a stack of its own for it.
    */
  def run(job: Job, scheduler: Scheduler): Unit =
    val here = depth.get
    if here.calls == Tuning.nestedCalls then scheduler.submit(job)
    else
      here.calls += 1
      try Caller(scheduler).run(job)
      finally here.calls -= 1
