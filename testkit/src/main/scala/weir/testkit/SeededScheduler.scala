package weir.testkit

import java.util.concurrent.ThreadFactory
import scala.collection.mutable.ArrayBuffer
import weir.runtime.{Job, Worker}

/** A scheduler on one carrier, whose choices all come from a seed: which fiber is next, how many
  * instructions it may run, and whether a worker is delayed where it could be. It has slots for
  * several workers, so that fibers also meet where their plain code yields or blocks.
  *
  * **Shared, under `lock`**: the jobs. The carrier's threads submit jobs, and the conductor does so
  * while the carrier stands still. Any other submit comes from outside of the runtime: then the
  * seed alone does not decide the order.
  */
private[testkit] final class SeededScheduler(carriers: Carriers, choices: Choices)
    extends TestScheduler(carriers, slots = 4):
  private val lock = SpinLock()
  private val jobs = ArrayBuffer[Job]()

  override protected def newWorker(): Worker =
    SeededWorker(this, threads, choices, carriers)

  override def submit(job: Job, preferredShard: Int): Unit =
    lock { jobs.addOne(job): Unit }
    raiseStandby()

  override def hasWork(preferredShard: Int): Boolean = lock(jobs.nonEmpty)

  override def mayHaveWork(preferredShard: Int): Boolean = hasWork(preferredShard)

  override def poll(preferredShard: Int): Job | Null = lock {
    if jobs.isEmpty then null
    else
      val index = choices.below(jobs.size)
      val job = jobs(index)
      val last = jobs.remove(jobs.size - 1)
      if index < jobs.size then jobs(index) = last
      job
  }

  override def pollForFairness(preferredShard: Int, turn: Int): Job | Null = poll(preferredShard)

private final class SeededWorker(
    scheduler: SeededScheduler,
    threads: ThreadFactory,
    choices: Choices,
    carriers: Carriers
) extends TestWorker(scheduler, threads):

  override def beginSlice(): Int =
    if carriers.hasQueued && choices.oneIn(2) then Thread.`yield`()
    begun = scheduler.ticks
    choices.sliceInstructions()

  override def moreBudget(): Int = 0

  override def handOver(job: Job): Unit = scheduler.submit(job, preferredShard)

  override def yieldIfDue(inSlice: Boolean): Unit =
    if inSlice || choices.oneIn(2) then super.yieldIfDue(inSlice)

/** The choices of a seed. They are used by the one carrier and by the threads that it carries, so
  * by one thread at a time.
  */
private[testkit] final class Choices(seed: Long):
  private val random = java.util.SplittableRandom(seed)

  def below(bound: Int): Int = random.nextInt(bound)

  def oneIn(n: Int): Boolean = below(n) == 0

  /** Returns the number of instructions that a slice may run. It is small most of the time, so that
    * fibers meet between any two steps, and at times large, so that one fiber gets far ahead. It is
    * never 1: a slice of one instruction may be over before it has done anything.
    */
  def sliceInstructions(): Int = if oneIn(8) then 2 + below(1000) else 2 + below(12)
