package weir.testkit

import java.util.concurrent.ThreadFactory
import scala.collection.mutable.ArrayBuffer
import weir.runtime.{Job, Worker}

/** A scheduler on one carrier, all of whose choices come from a seed: which fiber is next, how many instructions it may run,
  * and, where a worker could be held up, whether it is. It has slots for several workers, so that fibers also meet where plain
  * code of theirs yields or blocks.
  *
  * '''Shared, under `lock`''': the jobs. Others than the one carrier's threads and the conductor, which
  * is at work only while the carrier stands, come from outside of the runtime; then the order is not the seed's alone.
  */
private[testkit] final class SeededScheduler(carriers: Carriers, choices: Choices)
    extends TestScheduler(carriers, slots = 4):
  private val lock = SpinLock()
  private val jobs = ArrayBuffer[Job]()

  override protected def newWorker(): Worker =
    SeededWorker(this, threads, choices, carriers)

  override def submit(job: Job, home: Int): Unit =
    lock { jobs.addOne(job): Unit }
    raiseStandby()

  override def hasWork(home: Int): Boolean = lock(jobs.nonEmpty)

  override def mayHaveWork(home: Int): Boolean = hasWork(home)

  override def poll(home: Int): Job | Null = lock {
    if jobs.isEmpty then null
    else
      val place = choices.below(jobs.size)
      val job = jobs(place)
      val last = jobs.remove(jobs.size - 1)
      if place < jobs.size then jobs(place) = last
      job
  }

  override def pollStray(home: Int, turn: Int): Job | Null = poll(home)

private final class SeededWorker(
    scheduler: SeededScheduler,
    threads: ThreadFactory,
    choices: Choices,
    carriers: Carriers
) extends TestWorker(scheduler, threads):

  override def beginSlice(): Int =
    if carriers.hasQueued && choices.oneIn(2) then Thread.`yield`()
    choices.sliceInstructions()

  override def moreCredit(): Int = 0

  override def handOver(job: Job): Unit = scheduler.submit(job, home)

  override def yieldIfDue(inSlice: Boolean): Unit =
    if inSlice || choices.oneIn(2) then super.yieldIfDue(inSlice)

/** What a seed chooses. Asked by the one carrier alone, and by what it carries. */
private[testkit] final class Choices(seed: Long):
  private val random = java.util.SplittableRandom(seed)

  def below(bound: Int): Int = random.nextInt(bound)

  def oneIn(n: Int): Boolean = below(n) == 0

  /** Mostly few, so that fibers meet between any two steps; at times many, so that one gets far ahead. Never 1: a slice of one
    * instruction may be over before it has done anything.
    */
  def sliceInstructions(): Int = if oneIn(8) then 2 + below(1000) else 2 + below(12)
