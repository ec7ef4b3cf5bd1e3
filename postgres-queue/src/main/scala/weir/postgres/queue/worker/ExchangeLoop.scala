package weir.postgres.queue.worker

import java.sql.{Connection, SQLException}
import java.util.concurrent.TimeUnit
import java.util.concurrent.locks.ReentrantLock
import scala.concurrent.duration.*
import scala.util.control.NonFatal

import weir.Task
import weir.postgres.queue.{PgJob, PgWorker}
import weir.postgres.queue.PgWorker.Event
import weir.postgres.queue.tables.{HeldConnection, Jdbc, QueueAccess, QueueCalls, Storable}
import weir.postgres.queue.tables.QueueCalls.Locked

/** Talks to the server for a worker: one fiber, one connection, one exchange after the other.
  *
  * An exchange is a transaction: it reports the jobs that have ended, renews leases, and takes as
  * many jobs as there is room for. So all statements of a worker have an order, and share one
  * commit.
  *
  * @param lease
  *   the length of a lease in milliseconds; it is renewed after each third of it
  * @param held
  *   the place of its connection, which others close at the end
  * @param start
  *   begins to run jobs
  * @param cancel
  *   cancels the jobs' fibers, without waiting
  * @param emit
  *   gives results to the consumer
  */
private[queue] final class ExchangeLoop[A](
    calls: QueueCalls[A],
    access: QueueAccess,
    held: HeldConnection,
    state: WorkerState[A],
    worker: PgWorker,
    lease: Long,
    start: Vector[LeasedJob[A]] => Task[Unit],
    cancel: Vector[LeasedJob[A]] => Task[Unit],
    emit: Vector[Any] => Task[Unit]
):
  import ExchangeLoop.*

  /** The time within which the server must answer, so that no lease is in danger. */
  private val patience = (lease.millis / 3).max(shortestPatience).min(QueueAccess.patience)
  private val bare = calls.withoutSettings
  private val third = TimeUnit.MILLISECONDS.toNanos(lease) / 3

  /** Short enough for many tries: a lease is renewed when two thirds of its time are left. */
  private val longestWait = (third / 4).min(longestRetry).max(2 * firstRetry)

  /** Held while the listener is told of an event, so that it is told of one at a time. */
  private val telling = ReentrantLock()

  // owner only: the fiber of `run`
  private var mayBeCommitted = false
  private var foundNone = true
  private var promotedAt = System.nanoTime() - promoteEvery
  private var takeFrom = Option.empty[PgJob[A]]

  /** Opens the first connection. **Fails** if there is none within the time of a call. */
  def begin: Task[Unit] = open(QueueAccess.patience).void

  /** Exchanges with the server until the worker's state has been closed or stopped, and all is
    * reported.
    *
    * **Fails** with an error of the server that would not pass by trying again.
    */
  def run: Task[Unit] = Task.direct:
    var retry = firstRetry
    var isDone = false
    var closingSince = Option.empty[Long]
    while !isDone do
      held.current match
        case Some(current) =>
          val plan = state.next()
          mayBeCommitted = false
          try
            exchange(current, plan).await
            isDone = plan.isLast
            if retry > firstRetry then tell(Event.Reconnected)
            retry = firstRetry
          catch
            case error: SQLException if TransientErrors.includes(error) =>
              foundNone = true // the knowledge of the queue may be outdated
              if mayBeCommitted then plan.reports.foreach(_.leased.isDoubted = true)
              state.putBack(plan.reports)
              if retry == firstRetry then tell(Event.Disconnected(error))
              if !TransientErrors.keepConnection(error) then held.close()
              state.pause(retry)
              retry = (retry * 2).min(longestWait)
        case None =>
          if state.isClosing then
            val since = closingSince.getOrElse(System.nanoTime())
            closingSince = Some(since)
            isDone = System.nanoTime() - since > farewell
          if state.isFinished then isDone = true
          try if !isDone then open(patience.max(shortestConnect)).await: Unit
          catch
            case error: SQLException if TransientErrors.includes(error) =>
              held.close()
              state.pause(retry)
              retry = (retry * 2).min(longestWait)

  /** Drops the jobs whose lease could not be renewed, when it ends: another worker may have them.
    * Never ends. It runs beside the loop, which may wait for the server for longer than a lease.
    * The listener is told by fibers of their own, since it may block or fail.
    */
  def dropExpired: Task[Nothing] = Task.defer {
    val now = System.nanoTime()
    val lost = state.lost(state.expired(now))
    val telling = Task.foreach(lost)(leased => Task(tell(Event.LeaseLost(leased.job))).startDaemon)
    cancel(lost).andThen(telling).andThen(Task.sleep(state.untilExpiry(now, third).nanos))
  }.forever

  private def open(limit: FiniteDuration): Task[Connection] = access.open(held, limit, patience)

  private def tell(event: Event): Unit =
    telling.lock()
    try worker.listener(event)
    catch case NonFatal(_) => ()
    finally telling.unlock()

  private def drop(leasedJobs: Vector[LeasedJob[A]]): Task[Unit] =
    val lost = state.lost(leasedJobs)
    if lost.isEmpty then Task.unit
    else cancel(lost).andThen(Task(lost.foreach(leased => tell(Event.LeaseLost(leased.job)))))

  private def exchange(connection: Connection, plan: WorkerState.Plan[A]): Task[Unit] =
    val now = System.nanoTime()
    val done = plan.reports.collect { case report: Report.Done[A] => report }
    val failed = plan.reports.collect { case report: Report.Failed[A] => report }
    val returned = plan.reports.collect { case report: Report.GivenBack[A] => report }
    val renewing = state.toRenew(now)
    val isPlain = done.size == plan.reports.size && done.nonEmpty && renewing.isEmpty &&
      plan.want > 0 && !mayPromote(now)
    val answer =
      if isPlain then ackAndTake(connection, plan, done)
      else inSteps(connection, plan, done, failed, returned, renewing)
    for leased <- renewing if answer.renewal.renewed(leased.job.taken) do
      leased.endsNanos = now + 3 * third
    if renewing.nonEmpty then
      state.renewAgain(now + (if answer.renewal.isAll(renewing) then third else longestWait))
    val (locked, sent) = (failed ++ done).partition { report =>
      answer.locked(report.leased.job.taken) && System.nanoTime() - report.leased.endsNanos < 0
    }
    if locked.nonEmpty then state.sendAgain(locked, now + longestWait)
    for case report: Report.Failed[A] <- sent do tellFailed(report, answer)
    val (kept, refused) = sent
      .collect { case report: Report.Done[A] => report }
      .partition(report => answer.acked(report.leased.job.taken))
    refused.foreach(report => tell(Event.LeaseLost(report.leased.job)))
    val taken = answer.taken.jobs.map(LeasedJob(_, now + 3 * third))
    if plan.want > 0 then state.lookAgain(answer.taken.againNanos)
    state.exchanged(kept.size)
    val begun = state.took(taken, now + third)
    drop(renewing.filter(leased => answer.renewal.lost(leased.job.taken)))
      // The exchange may have taken longer than the leases that it began with.
      .andThen(Task.defer(drop(state.expired(System.nanoTime()))))
      .andThen(if begun.isEmpty then Task.unit else start(begun))
      .andThen(if kept.isEmpty then Task.unit else emit(kept.map(_.result)))

  /** Acknowledges and takes jobs in one round trip: most exchanges of a busy worker do just that.
    */
  private def ackAndTake(
      connection: Connection,
      plan: WorkerState.Plan[A],
      done: Vector[Report.Done[A]]
  ): Answer[A] =
    val from = takeFrom
    mayBeCommitted = true
    val (acked, all) = orRolledBack {
      Jdbc.committed(connection)(
        calls.ackAndTake(connection, done.map(_.leased.job), from, plan.want, lease, worker.name)
      )
    }
    takeFrom = nextFrom(all)
    val (spent, jobs) = all.partition(QueueCalls.isSpent)
    val missing = missingOf(done, acked)
    foundNone = all.size < plan.want
    var again = 0L
    var before, locked = Set.empty[(Long, Int)]
    val isAll = foundNone && from.isEmpty // otherwise all of the queue is looked at next, at once
    if spent.nonEmpty || missing.nonEmpty || isAll then
      Jdbc.transaction(connection) {
        if spent.nonEmpty then calls.bury(connection, spent)
        before = doneBefore(calls, connection, missing.filter(_.mayBeDone))
        locked = stillHeld(calls, connection, missing)
        if isAll then again = untilNext(calls, connection)
      }
    Answer(acked ++ before, Map.empty, locked, Renewal.none, Taken(jobs, again))

  private def inSteps(
      connection: Connection,
      plan: WorkerState.Plan[A],
      done: Vector[Report.Done[A]],
      failed: Vector[Report.Failed[A]],
      returned: Vector[Report.GivenBack[A]],
      renewing: Vector[LeasedJob[A]]
  ): Answer[A] =
    // The last exchange may wait: no lease depends on it.
    val atLocked = if plan.isLast then Locked.Wait else Locked.Skip
    def within: Answer[A] =
      val calls = inOneTransaction
      val acked =
        if done.isEmpty then Set.empty[(Long, Int)]
        else calls().ack(connection, done.map(_.leased.job), atLocked)
      val nacked =
        if failed.isEmpty then Map.empty[(Long, Int), Boolean]
        else
          calls().nack(
            connection,
            failed.map(report =>
              val error = Storable.error(report.error)
              QueueCalls.Failure(report.leased.job, report.pause.toMillis, error)
            ),
            atLocked
          )
      val missing = missingOf(done ++ failed, acked ++ nacked.keySet)
      // One that is locked is not given back: it can be taken when its lease ends.
      if returned.nonEmpty then
        calls().giveBack(connection, returned.map(_.leased.job), Locked.Skip): Unit
      val renewal =
        if renewing.isEmpty then Renewal.none else renew(calls, connection, renewing.map(_.job))
      Answer(
        acked ++ doneBefore(calls(), connection, missing.filter(_.mayBeDone)),
        nacked,
        stillHeld(calls(), connection, missing),
        renewal,
        take(calls, connection, plan.want)
      )
    orRolledBack(Jdbc.transaction(connection, () => mayBeCommitted = true)(within))

  /** Runs a transaction. An error after which the connection can be used has rolled it back. */
  private def orRolledBack[R](transaction: => R): R =
    try transaction
    catch
      case error: SQLException if TransientErrors.keepConnection(error) =>
        mayBeCommitted = false
        throw error

  /** The settings are sent with the first statement of a transaction, and hold for the others. */
  private def inOneTransaction: () => QueueCalls[A] =
    var isFirst = true
    () => {
      val result = if isFirst then calls else bare
      isFirst = false
      result
    }

  private def missingOf(
      sent: Vector[Report[A]],
      reported: Set[(Long, Int)]
  ): Vector[LeasedJob[A]] =
    sent.map(_.leased).filter(leased => !reported(leased.job.taken))

  /** Returns the jobs of `missing` that the worker still holds: another transaction has locked
    * their rows.
    */
  private def stillHeld(
      calls: => QueueCalls[A],
      connection: Connection,
      missing: Vector[LeasedJob[A]]
  ): Set[(Long, Int)] =
    if missing.isEmpty then Set.empty else calls.stillHeld(connection, missing.map(_.job))

  /** Extends the leases of `jobs`. One whose row another transaction has locked is neither renewed
    * nor lost. One that has acknowledged itself and is gone cannot be lost any more.
    */
  private def renew(
      calls: () => QueueCalls[A],
      connection: Connection,
      jobs: Vector[PgJob[A]]
  ): Renewal =
    val renewed = calls().extend(connection, jobs, lease, Locked.Skip)
    val others = jobs.filterNot(job => renewed(job.taken))
    if others.isEmpty then Renewal(renewed, Set.empty)
    else
      val present = calls().present(connection, others)
      val (done, rest) =
        others.partition(job => job.isAcknowledged && !present.contains(job.id))
      val lost = rest.filterNot(job => present.get(job.id).contains(job.token))
      Renewal(renewed ++ done.map(_.taken), lost.map(_.taken).toSet)

  /** Returns the jobs of `missing` that are done. They were in an exchange whose answer was lost,
    * or have acknowledged themselves, and are not in the table any more.
    */
  private def doneBefore(
      calls: => QueueCalls[A],
      connection: Connection,
      missing: Vector[LeasedJob[A]]
  ): Set[(Long, Int)] =
    val asked = missing.map(_.job)
    if asked.isEmpty then Set.empty
    else
      val present = calls.present(connection, asked)
      asked.filter(job => !present.contains(job.id)).map(_.taken).toSet

  private def take(calls: () => QueueCalls[A], connection: Connection, want: Int): Taken[A] =
    if want == 0 then Taken(Vector.empty, 0L)
    else
      if mayPromote(System.nanoTime()) then
        calls().promote(connection): Unit
        promotedAt = System.nanoTime()
      val all = calls().takeWithSpent(connection, want, lease, worker.name)
      takeFrom = nextFrom(all)
      foundNone = all.size < want
      val (spent, jobs) = all.partition(QueueCalls.isSpent)
      if spent.nonEmpty then calls().bury(connection, spent)
      Taken(jobs, if foundNone then untilNext(calls(), connection) else 0L)

  /** Returns the job at which the next take may begin, as long as that finds enough: no job before
    * these could be taken. Jobs that are given back or offered before that place are found by the
    * next look at the whole queue, within `promoteEvery`.
    */
  private def nextFrom(jobs: Vector[PgJob[A]]): Option[PgJob[A]] =
    jobs.headOption.filter(job => job.priority == jobs.last.priority && QueueCalls.isPlace(job))

  /** Returns true if it is time to look at the whole queue, and for jobs whose time has come. */
  private def mayPromote(now: Long): Boolean = foundNone || now - promotedAt > promoteEvery

  /** Returns the time to the next look, in nanoseconds, if no notification comes before. */
  private def untilNext(calls: QueueCalls[A], connection: Connection): Long =
    calls
      .untilNext(connection)
      .fold(Long.MaxValue)(millis => TimeUnit.MILLISECONDS.toNanos(millis.max(1L)))

  private def tellFailed(
      report: Report.Failed[A],
      answer: Answer[A]
  ): Unit =
    val job = report.leased.job
    answer.nacked.get(job.taken) match
      case Some(dead) =>
        tell(Event.Failed(job, report.error, Option.when(!dead)(report.pause)))
      case None if job.isAcknowledged && answer.acked(job.taken) =>
        tell(Event.Failed(job, report.error, None))
      case None if report.leased.isDoubted =>
        tell(Event.Failed(job, report.error, Option.when(!job.isLastAttempt)(report.pause)))
      case None => tell(Event.LeaseLost(job))

private[queue] object ExchangeLoop:
  private final case class Taken[A](jobs: Vector[PgJob[A]], againNanos: Long)

  private final case class Answer[A](
      acked: Set[(Long, Int)],
      nacked: Map[(Long, Int), Boolean],
      locked: Set[(Long, Int)],
      renewal: Renewal,
      taken: Taken[A]
  )

  private final case class Renewal(renewed: Set[(Long, Int)], lost: Set[(Long, Int)]):
    /** Returns false if the rows of some jobs were locked, so that their leases go on ending. */
    def isAll(jobs: Vector[LeasedJob[?]]): Boolean =
      jobs.map(_.job.taken).forall(taken => renewed(taken) || lost(taken))

  private object Renewal:
    val none: Renewal = Renewal(Set.empty, Set.empty)

  private val shortestPatience = 1.second
  private val shortestConnect = 3.seconds

  private val firstRetry = TimeUnit.MILLISECONDS.toNanos(50)
  private val longestRetry = TimeUnit.SECONDS.toNanos(2)

  /** The time for which to try to give back the jobs that are left, if the server cannot be reached
    * at the end.
    */
  private val farewell = TimeUnit.SECONDS.toNanos(5)

  private val promoteEvery = TimeUnit.MILLISECONDS.toNanos(100)
