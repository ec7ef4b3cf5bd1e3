package weir.runtime

import java.util.concurrent.locks.LockSupport
import scala.compiletime.uninitialized
import weir.trace.Spins

/** The thread that runs slices: a worker, or a caller of `runSync` on its own thread.
  *
  * `next` is the job that this thread runs as soon as the present slice returns. Nobody else can take
  * it, which is safe because the thread cannot block between the hand-over and the run: the slice that
  * hands over returns at once.
  */
private[weir] abstract class Host(val scheduler: Scheduler):

  // immutable
  def thread: Thread

  /** How many calls of `runSync` stand on this thread's stack. */
  private[runtime] def nesting: Int = 0

  /** True for the thread of a caller of `runSync`. */
  def isCaller: Boolean = false

  /** True where a long slice would hold a carrier, so that it must give way to queued work. */
  def pooled: Boolean

  // owner only
  /** The job whose slice this thread runs, or ran last. */
  final var running: Job | Null = null
  private var handedOver: Job | Null = null
  private var handOvers: Int = 0
  private var lastYield: Long = uninitialized
  private var yields: Int = 0
  private var cedes: Int = 0

  private var sliceStart: Long = 0
  private var sliceInstructions: Int = 0

  /** True from the moment this thread has taken the slot of one that is blocked until its first job has returned, or has asked. */
  final protected var isReplacing: Boolean = false

  /** True, once, if this thread has come for one that is blocked, so that its own job may be about to block, too. */
  final def takeReplacing(): Boolean =
    val was = isReplacing
    isReplacing = false
    was

  /** The shard that this thread pushes to and takes from first. */
  def home: Int

  /** Runs `job` next on this thread, or queues it: after a row of hand-overs the queue has its turn, so
    * that two jobs that keep handing over to each other starve nobody.
    */
  def handOver(job: Job): Unit =
    if (handedOver eq null) && handOvers < Tuning.handOversInARow then
      handOvers += 1
      handedOver = job
    else
      handOvers = 0
      scheduler.submit(job, home)

  final protected def takeHandedOver(): Job | Null =
    val job = handedOver
    handedOver = null
    job

  /** Queues the job that was handed over, for a slice that does not return after all. */
  final def queueHandedOver(): Unit =
    val job = takeHandedOver()
    if job ne null then scheduler.submit(job, home)

  /** How many slices this thread has begun, and the watch's time when it began the latest: for those who look from outside. */
  final var slices: Int = 0
  final var begun: Int = 0

  /** What the watch has noted about this host; on the watch's thread only. */
  private[weir] final var seen: Spins.Seen | Null = null

  /** How many instructions a slice that begins now may run before it asks `moreCredit`. */
  def beginSlice(): Int =
    slices += 1
    begun = scheduler.watch.ticks
    sliceInstructions = 0
    Tuning.clockInstructions

  /** How many more the present slice may run; 0 if it is over. The clock is not read in slices that are shorter than the
    * first credit, and seldom in those that turn out to be fast.
    */
  def moreCredit(): Int =
    val now = System.nanoTime()
    if sliceInstructions == 0 then sliceStart = now
    sliceInstructions += Tuning.clockInstructions
    val took = now - sliceStart
    if took > Tuning.sliceNanos || sliceInstructions >= Tuning.sliceInstructions then 0
    else if sliceInstructions > Tuning.clockInstructions && took < Tuning.fastNanos then
      val rest = Tuning.sliceInstructions - sliceInstructions
      sliceInstructions = Tuning.sliceInstructions
      rest
    else Tuning.clockInstructions

  /** True if this thread was interrupted, of which `error` may be the sign; its flag is then clear. Only asked on the thread of
    * a caller of `runSync`: a worker is interrupted by cancels alone.
    */
  def takeInterrupt(error: Throwable | Null): Boolean = false

  /** Notes that an interrupt that was taken was not a cancel's. */
  def interruptedFromOutside(): Unit = ()

  /** True if an interrupt that was taken was not a cancel's. */
  def hasBeenInterrupted: Boolean = false

  /** Gives the carrier to the JDK's scheduler if this thread has had it for a while: virtual threads are
    * not time-sliced, and the user's own must not starve. If `inSlice`, the present job stays on this thread, so
    * it also lets another worker run what is queued.
    *
    * `Thread.yield` puts this thread into its carrier's own queue if that is not empty, and a carrier looks at what
    * was submitted from elsewhere only when it is: two threads that yield to each other would starve the rest. So
    * now and then, and wherever work is waiting, it parks for a moment, and comes back by the common queue.
    */
  def yieldIfDue(inSlice: Boolean): Unit =
    if pooled then
      val now = System.nanoTime()
      if now - lastYield > Tuning.yieldAfterNanos then
        yields += 1
        val others = inSlice && scheduler.hasWork
        if others then giveUpSlot()
        if others || yields % Tuning.yieldsPerPark == 0 then LockSupport.parkNanos(1)
        else Thread.`yield`()
        lastYield = System.nanoTime()

  /** As `yieldIfDue`, for fibers that cede while nothing is queued, which may be every few nanoseconds. */
  final def yieldNowAndThen(): Unit =
    cedes += 1
    if cedes % Tuning.cedesPerClock == 0 then yieldIfDue(inSlice = true)

  /** Lets the standby have this thread's slot, if it holds one. */
  protected def giveUpSlot(): Unit = ()

private[weir] object Host:
  /** The host of the calling thread, or null.
    *
    * A worker is found by the handler of its thread: a scoped value would put frames under everything that blocks, and a thread-local
    * a map beside it. Code that sets another handler is not found for the rest of its slice. Other threads, which run slices in
    * `runSync` alone, have a scoped value there.
    */
  def here: Host | Null =
    val worker = workerHere
    if worker ne null then
      val caller = worker.caller
      if caller eq null then worker else caller
    else Caller.here

  /** The worker that the calling thread is, or null. Threads of others may have copied the handler. */
  private[runtime] def workerHere: Worker | Null =
    val thread = Thread.currentThread()
    thread.getUncaughtExceptionHandler match
      case worker: Worker if worker.thread eq thread => worker
      case _ => null
