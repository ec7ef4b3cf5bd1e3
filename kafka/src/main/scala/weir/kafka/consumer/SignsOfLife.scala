package weir.kafka.consumer

import java.time.Duration

/** The signs that a poll thread is not asleep with its whole process, as on a machine that sleeps.
  * Each says by when the next one comes. By the clock on the wall, since the other one stands still
  * while a machine sleeps.
  *
  * @param sleepTime
  *   a thread that is so late was asleep: less than the time after which the group gives the
  *   partitions of a silent member away
  */
private[kafka] final class SignsOfLife(sleepTime: Duration, clock: PollClock):
  /** Written by the poll thread, and by a transaction that `confirmed`. */
  @volatile private var nextByMillis = nextBy(clock.nowMillis, Duration.ZERO)

  /** Returns false from a sleep on until the group has confirmed that the member belongs to it. */
  def hasNotSlept: Boolean = clock.nowMillis < nextByMillis

  /** Gives a sign, unless it is too late. The clock is read once, so that a sleep before the write
    * is noticed too.
    *
    * @param next
    *   the time that the thread may need before it gives the next one
    */
  def give(next: Duration = Duration.ZERO): Unit =
    val now = clock.nowMillis
    if now < nextByMillis then nextByMillis = nextBy(now, next)

  /** Called once the group has confirmed that the member belongs to it.
    *
    * @param askedMillis
    *   the time at which it was asked: the process may sleep before the answer is read
    */
  def confirmed(askedMillis: Long): Unit = nextByMillis = nextBy(askedMillis, Duration.ZERO)

  /** Returns true if there has been no sign for so long. */
  def isOverdueFor(time: Duration): Boolean =
    clock.nowMillis - nextByMillis > time.toMillis

  private def nextBy(signMillis: Long, next: Duration): Long =
    signMillis + next.plus(sleepTime).toMillis
