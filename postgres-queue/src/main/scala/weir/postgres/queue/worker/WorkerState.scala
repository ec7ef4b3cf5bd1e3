package weir.postgres.queue.worker

import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.ReentrantLock
import scala.collection.mutable

/** The jobs that a worker holds and the reports that it has not sent. The fibers of the jobs, the
  * exchange loop that talks to the server, and the consumer of the results share it.
  *
  * The states of a job, and who moves it:
  * {{{
  * (server) --loop: took--> ahead --startable--> running --its fiber: ended--> to report
  *                            |                    |                          |       ^
  *                            +---loop: lost-------+--> (dropped)    loop: collect   putBack
  *                                                                            v       |
  *                                          unread <--loop: exchanged-- (in the exchange)
  * }}}
  *
  * Waiting is blocking, on one condition: a worker of Weir that blocks costs no thread.
  *
  * @param wanted
  *   the number of jobs that may run, the parallelism; three times as many may be held in all,
  *   from their take until their result is read
  */
private[queue] final class WorkerState[A](wanted: Int, pollNanos: Long):
  import WorkerState.*

  // so that sums of a few do not overflow
  private val parallelism = wanted.min(Int.MaxValue / 8)

  private val lock = ReentrantLock()
  private val changed = lock.newCondition()

  // guarded by lock
  private val held = mutable.LinkedHashSet.empty[LeasedJob[A]] // running or ahead
  private val ahead = mutable.ArrayDeque.empty[LeasedJob[A]]
  private var reports = Vector.empty[Report[A]]
  private var putOff = Vector.empty[Report[A]] // their rows were locked
  private var nextPutOff = Long.MaxValue
  private var inExchange = 0
  private var unread = 0
  private var phase = Phase.Open
  private var nextTake = System.nanoTime()
  private var nextRenewal = Long.MaxValue
  private var isWoken = false
  private var isLingering = false
  private var collectedNanos = System.nanoTime()
  private var exchangeNanos = 0L

  /** Returns what the exchange loop should do next.
    *
    * **Waits** until there is something to do, and then a moment longer for further jobs to end,
    * since an exchange for one job takes as long as one for twenty.
    */
  def next(): Plan[A] = locked:
    exchangeNanos = System.nanoTime() - collectedNanos
    while !isTimely do sleep()
    linger()
    collect()

  /** Waits for about `nanos`, less if it becomes time to close. */
  def pause(nanos: Long): Unit = locked:
    val until = System.nanoTime() + nanos
    val wasClosing = phase == Phase.Closing
    while (wasClosing || phase != Phase.Closing) && until - System.nanoTime() > 0 do
      val _ = changed.awaitNanos(until - System.nanoTime())

  /** Returns the jobs whose lease must be renewed. */
  def toRenew(now: Long): Vector[LeasedJob[A]] = locked:
    if now - nextRenewal >= 0 then held.toVector else Vector.empty

  def renewAgain(atNanos: Long): Unit = locked { nextRenewal = atNanos }

  /** Adds the jobs that were taken, and returns those to begin now, of these and of the ones that
    * were ahead. If no more is to be taken, the jobs are given back and none is returned.
    */
  def took(jobs: Vector[LeasedJob[A]], renewal: Long): Vector[LeasedJob[A]] = locked:
    if phase != Phase.Open then
      reports ++= jobs.map(Report.GivenBack(_))
      Vector.empty
    else
      if held.isEmpty && jobs.nonEmpty then nextRenewal = renewal
      held ++= jobs
      ahead ++= jobs
      startable()

  /** Sets the time of the next take. It has no effect if `wake` was called since the plan was made.
    */
  def lookAgain(afterNanos: Long): Unit = locked:
    if !isWoken then nextTake = System.nanoTime() + afterNanos.max(0L).min(pollNanos)

  /** Says that there may be jobs to take. */
  def wake(): Unit = locked:
    isWoken = true
    nextTake = System.nanoTime()
    changed.signalAll()

  /** Records that the fiber of a job has ended, and returns the jobs to begin in its place. The
    * report is dropped if the lease was lost before.
    */
  def ended(report: Report[A]): Vector[LeasedJob[A]] = locked:
    if held.remove(report.leased) then reports :+= report
    if !(isLingering && isWorthWaiting) then changed.signalAll()
    startable()

  /** Records that the leases of these have ended, and returns those that were still held. */
  def lost(leasedJobs: Vector[LeasedJob[A]]): Vector[LeasedJob[A]] = locked:
    val gone = leasedJobs.filter(held.remove)
    gone.foreach(_.isLost = true)
    ahead --= gone
    if gone.nonEmpty then changed.signalAll()
    gone

  /** Returns the held jobs whose lease has ended by this process's clock, since it could not be
    * renewed.
    */
  def expired(now: Long): Vector[LeasedJob[A]] = locked:
    held.filter(leased => now - leased.endsNanos >= 0).toVector

  /** Returns the time in nanoseconds until the first lease of a held job ends, `most` at most. */
  def untilExpiry(now: Long, most: Long): Long = locked:
    held.iterator.map(_.endsNanos - now).foldLeft(most)(_ min _).max(0L)

  /** Takes back reports that have not reached the server. */
  def putBack(unsent: Vector[Report[A]]): Unit = locked:
    inExchange = 0
    reports = unsent ++ reports

  /** Keeps reports whose rows another transaction has locked. The first exchange after `atNanos`
    * sends them again, or the last one.
    */
  def sendAgain(unsent: Vector[Report[A]], atNanos: Long): Unit = locked:
    putOff ++= unsent
    nextPutOff = atNanos

  /** Records that the reports have reached the server, and that this number of results goes to the
    * consumer.
    */
  def exchanged(results: Int): Unit = locked:
    inExchange = 0
    unread += results

  /** Records that the consumer has taken a result. */
  def read(): Unit = locked:
    unread -= 1
    if want > 0 then changed.signalAll()

  /** Ends the taking of jobs, and gives back those that have not begun. */
  def stop(): Unit = locked:
    if phase == Phase.Open then phase = Phase.Stopping
    reports ++= ahead.map(Report.GivenBack(_))
    held --= ahead
    ahead.clear()
    changed.signalAll()

  /** The exchange loop is to end when it has told the server all. */
  def close(): Unit =
    stop()
    locked:
      phase = Phase.Closing
      changed.signalAll()

  def isClosing: Boolean = locked(phase == Phase.Closing)

  /** Returns true if nothing is held any more, nothing will be, and there is nothing to report. */
  def isFinished: Boolean = locked(isOver && reports.isEmpty && putOff.isEmpty)

  private def running: Int = held.size - ahead.size

  private def startable(): Vector[LeasedJob[A]] =
    val count = (parallelism - running).min(ahead.size).max(0)
    Vector.fill(count)(ahead.removeHead())

  private def isOver: Boolean = phase != Phase.Open && held.isEmpty

  private def linger(): Unit =
    val until = System.nanoTime() + (exchangeNanos / 4).max(shortestLinger).min(longestLinger)
    isLingering = true
    while isWorthWaiting && until - System.nanoTime() > 0 do
      val _ = changed.awaitNanos(until - System.nanoTime())
    isLingering = false

  /** Returns true if most of the held jobs may end in a moment. */
  private def isWorthWaiting = phase == Phase.Open && reports.nonEmpty && reports.size < held.size

  private def collect(): Plan[A] =
    val now = System.nanoTime()
    isWoken = false
    val sent = if isPutOffDue(now) then putOff ++ reports else reports
    if isPutOffDue(now) then putOff = Vector.empty
    reports = Vector.empty
    inExchange = sent.size
    // If the exchange before was just now, as many jobs will end during this one as since then.
    val soon = if now - collectedNanos < justNow then sent.size.min(parallelism) else 0
    collectedNanos = now
    val take = if isOpen then (parallelism + soon - held.size).min(room).max(0) else 0
    Plan(sent, take, isOver)

  private def isOpen = phase == Phase.Open

  private def room: Int =
    3 * parallelism - held.size - reports.size - putOff.size - inExchange - unread

  /** Returns the number of jobs that are needed now, without those for jobs that may end meanwhile.
    */
  private def want: Int = if isOpen then (parallelism - held.size).min(room).max(0) else 0

  private def isPutOffDue(now: Long): Boolean =
    putOff.nonEmpty && (isOver || now - nextPutOff >= 0)

  private def isTimely: Boolean =
    val now = System.nanoTime()
    reports.nonEmpty || (want > 0 && now - nextTake >= 0) ||
    (held.nonEmpty && now - nextRenewal >= 0) || isPutOffDue(now) || isOver

  private def sleep(): Unit =
    val now = System.nanoTime()
    val take = if want > 0 then nextTake - now else Long.MaxValue
    val renewal = if held.nonEmpty then nextRenewal - now else Long.MaxValue
    val again = if putOff.nonEmpty then nextPutOff - now else Long.MaxValue
    val nanos = take.min(renewal).min(again)
    if nanos == Long.MaxValue then changed.await()
    else
      val _ = changed.awaitNanos(nanos.max(1L))

  private def locked[R](body: => R): R =
    lock.lock()
    try body
    finally lock.unlock()

private[queue] object WorkerState:
  private val shortestLinger = TimeUnit.MICROSECONDS.toNanos(100)
  private val longestLinger = TimeUnit.MILLISECONDS.toNanos(2)
  private val justNow = TimeUnit.MILLISECONDS.toNanos(20)

  enum Phase:
    case Open, Stopping, Closing

  /** @param want
    *   the number of jobs to take
    * @param isLast
    *   true if nothing is held any more, and nothing will be
    */
  final case class Plan[A](reports: Vector[Report[A]], want: Int, isLast: Boolean)
