package weir.runtime

import scala.concurrent.ExecutionContext

/** A thread of a user's execution context, while it runs one slice of a job that was sent there.
  *
  * It runs only that slice: the jobs that the slice queues or hands over go to the runtime's
  * workers.
  */
private[weir] final class ContextThread private (scheduler: Scheduler)
    extends ExecutionThread(scheduler):
  val thread: Thread = Thread.currentThread()

  /** The job gives the thread back at the end of each slice. */
  def pooled: Boolean = true
  def preferredShard: Int = thread.threadId().toInt
  override def handOver(job: Job): Unit = scheduler.submit(job)
  override def yieldIfDue(inSlice: Boolean): Unit = ()

private[weir] object ContextThread:

  /** Has a thread of `context` run the next slice of `job`. Returns false if the caller has to run
    * it itself: the context has refused it, or would run it in place, on the caller's stack.
    */
  def send(job: Job, context: ExecutionContext, scheduler: Scheduler): Boolean =
    val slice = Slice(job, scheduler)
    try
      context.execute(slice)
      !slice.sent()
    catch case _: Throwable => !slice.take()

  /** One slice that was sent to a context.
    *
    *   - **Shared**: the flag decides by CAS which thread runs the slice, if a context has both
    *     thrown and queued it.
    */
  private final class Slice(job: Job, scheduler: Scheduler)
      extends java.util.concurrent.atomic.AtomicBoolean,
        Runnable:
    // read by other threads too, which compare it with themselves
    @volatile private var sender: Thread | Null = Thread.currentThread()

    // the sender's only
    private var inPlace = false

    def run(): Unit =
      if Thread.currentThread() eq sender then inPlace = true
      else if take() then
        val here = new ContextThread(scheduler)
        ExecutionThread.as(here)(job.runSlice(here))

    def take(): Boolean = compareAndSet(false, true)

    /** Returns true if the context has run this before it returned. */
    def sent(): Boolean =
      sender = null
      inPlace
