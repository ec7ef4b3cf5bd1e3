package weir.testkit

import java.util.concurrent.ThreadFactory
import weir.runtime.{Scheduler, SpinListener, Spins, Tuning, Watch, Worker}

/** The core's scheduler, with its workers on the carriers of a test. A `runSync` never runs on the
  * calling thread, which may be unknown to the carriers.
  */
private[testkit] class TestScheduler(carriers: Carriers, slots: Int)
    extends Scheduler(slots, Tuning.ringCapacity):
  protected val threads: ThreadFactory = Worker.threads(VirtualThreads.on(carriers))
  @volatile private var closed = false

  override def runsOn(caller: Thread): Boolean = false

  /** Returns false: a seed orders only the queue, and a fiber that is dropped would look as if it
    * hung.
    */
  override def spawns: Boolean = false

  /** Returns a watch without a thread. A thread that reads the stack of a virtual thread suspends
    * it for that time. If the turn of the virtual thread comes meanwhile, it gives that up, and is
    * queued again a moment later. Until then the conductor would take it for asleep.
    */
  override protected def newWatch(): Watch =
    Watch(() => Iterator.empty, Spins(SpinListener.Silent), begin = _ => ())

  override def ticks: Int = Watch.now

  override protected def newWorker(): Worker = TestWorker(this, threads)

  override def putIdle(worker: Worker): Boolean = !closed && super.putIdle(worker)

  /** Ends the idle workers, and those that would become idle. */
  def close(): Unit =
    closed = true
    var worker = takeIdle()
    while worker ne null do
      worker.wakeAsStandby()
      worker = takeIdle()

/** A worker that yields where others park for a real nanosecond: the clock of a test may stand
  * still.
  */
private[testkit] class TestWorker(scheduler: Scheduler, threads: ThreadFactory)
    extends Worker(scheduler, threads):

  override protected def rest(): Unit = Thread.`yield`()

  override def yieldIfDue(inSlice: Boolean): Unit =
    if inSlice && scheduler.hasWork then giveUpSlot()
    Thread.`yield`()
