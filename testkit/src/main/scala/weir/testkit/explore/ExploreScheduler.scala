package weir.testkit.explore

import java.util.concurrent.ThreadFactory
import weir.runtime.{Job, Scheduler, SpinListener, Spins, Watch, Worker}

/** The scheduler of an explored program. It keeps no queue, and gives each job to the execution,
  * which decides what runs next.
  */
private[explore] final class ExploreScheduler(execution: StrandRunner, threads: ThreadFactory)
    extends Scheduler(carriers = 1, ringCapacity = 2):
  override def runsOn(caller: Thread): Boolean = false
  override def spawns: Boolean = false
  override protected def newWatch(): Watch =
    Watch(() => Iterator.empty, Spins(SpinListener.Silent), begin = _ => ())
  override def ticks: Int = 0
  override def submit(job: Job): Unit = execution.submit(job)
  override def submit(job: Job, preferredShard: Int): Unit = execution.submit(job)
  override def hasWork(preferredShard: Int): Boolean = true
  override def mayHaveWork(preferredShard: Int): Boolean = true
  override def raiseStandby(): Unit = ()
  def worker(): ExploreWorker = ExploreWorker(this, execution, threads)

/** A thread that runs slices of fibers, one after the other, as the execution decides. */
private[explore] final class ExploreWorker(
    scheduler: Scheduler,
    execution: StrandRunner,
    threads: ThreadFactory
) extends Worker(scheduler, threads):

  /** The representation of its thread in the execution. Set before the first slice. */
  var mount: Mount | Null = null

  /** The slice to run next. */
  var next: Job | Null = null

  override def run(): Unit =
    while next ne null do
      val job = next.nn
      next = null
      runJob(job)
      execution.sliceEnded(this)

  /** True if the fiber has ceded since its slice began. Then it does not yield once more because of
    * the number of times that this thread has ceded, which differs from run to run.
    */
  var hasCeded = false

  override def beginSlice(): Int =
    hasCeded = false
    ExploreWorker.sliceInstructions

  override def moreBudget(): Int = 0
  override def handOver(job: Job): Unit = scheduler.submit(job)
  override protected def rest(): Unit = ()
  override def yieldIfDue(inSlice: Boolean): Unit =
    if inSlice && !hasCeded then execution.yieldHere()

private[explore] object ExploreWorker:
  /** After so many instructions that touch nothing, a fiber yields: others must be able to end it.
    */
  private inline val sliceInstructions = 1000
