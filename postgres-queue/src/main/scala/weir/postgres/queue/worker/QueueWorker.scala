package weir.postgres.queue.worker

import java.util.concurrent.CancellationException
import java.util.concurrent.atomic.AtomicReference
import scala.concurrent.duration.*
import scala.util.control.NonFatal

import weir.std.Supervisor
import weir.{Channel, Fiber, Outcome, Resource, Stream, Task}
import weir.postgres.queue.{PgJob, PgWorker}
import weir.postgres.queue.tables.{QueueAccess, QueueCalls}

/** Takes jobs, runs them, and reports their outcomes: one run of `PgQueue.stream`.
  *
  * The end has these steps, in order: no more jobs are taken; the fibers of the jobs are cancelled,
  * and end; the exchange loop reports done jobs and gives back the others; the connections are
  * closed.
  */
private[queue] final class QueueWorker[A, B] private (
    calls: QueueCalls[A],
    channel: String,
    access: QueueAccess,
    settings: PgWorker,
    parallelism: Int,
    lease: FiniteDuration,
    work: PgJob[A] => Task[B]
):
  private val state = WorkerState[A](parallelism, settings.poll.toNanos)

  /** Returns the results of the jobs that are done, as they are acknowledged. */
  private def results: Stream[B] =
    Stream
      .resource(open)
      .flatMap(_.stream)
      .map { result =>
        state.read()
        result.asInstanceOf[B]
      }

  private def open: Resource[Channel[Any]] =
    for
      held <- access.held
      out <- Resource.eval(Channel.unbounded[Any])
      running <- Resource.make(Task(AtomicReference(Option.empty[Fiber[Unit]])))(endLoop)
      jobs <- Supervisor()
      loop = ExchangeLoop(
        calls,
        access,
        held,
        state,
        settings,
        lease.toMillis,
        start(jobs),
        cancel,
        emit(out)
      )
      _ <- Resource.eval(loop.begin.adaptError { case error => access.meaning(error) })
      _ <- Resource.eval(loop.run.guaranteeCase(endOf(out)).start.map(f => running.set(Some(f))))
      _ <- loop.dropExpired.background
      _ <- Resource.make(Task.unit)(_ => Task(state.stop()))
      _ <- (settings.stop.attempt >> Task(state.stop())).background
      _ <-
        if settings.listens then
          Listening.forever(access, channel, () => state.wake()).background.map(_ => ())
        else Resource.pure(())
    yield out

  private def endOf(out: Channel[Any])(outcome: Outcome[Unit]): Task[Unit] = outcome match
    case Outcome.Failed(error) => out.closeWithError(access.meaning(error)).void
    case Outcome.Succeeded(_) => out.close.void
    case Outcome.Canceled =>
      out.closeWithError(CancellationException("PgQueue.stream: its worker was cancelled.")).void

  /** The exchange loop gives up by itself if the server cannot be reached; this is the net below
    * that.
    */
  private def endLoop(running: AtomicReference[Option[Fiber[Unit]]]): Task[Unit] =
    Task(state.close()) >>
      running.get.fold(Task.unit)(fiber => fiber.join.timeoutTo(15.seconds, fiber.cancel).void)

  private def start(jobs: Supervisor)(leasedJobs: Vector[LeasedJob[A]]): Task[Unit] =
    Task.foreach(leasedJobs)(leased =>
      jobs
        .supervise(run(jobs, leased))
        .flatMap { fiber =>
          leased.fiber = Some(fiber)
          // The lease may have been lost before there was a fiber to cancel.
          if leased.isLost then fiber.cancel.startDaemon.void else Task.unit
        }
        .recover {
          case _: IllegalStateException => // the supervisor has ended, so none begins
            state.ended(Report.GivenBack(leased)): Unit
        }
    )

  private def run(jobs: Supervisor, leased: LeasedJob[A]): Task[Unit] =
    Task
      // one that is lost before it begins is cancelled by `start`
      .defer(if leased.isLost then Task.never else work(leased.job))
      .guaranteeCase(outcome =>
        Task
          .delay(state.ended(report(leased, outcome)))
          .flatMap(next => if next.isEmpty then Task.unit else start(jobs)(next))
      )
      .void

  private def report(leased: LeasedJob[A], outcome: Outcome[Any]): Report[A] = outcome match
    case Outcome.Succeeded(result) => Report.Done(leased, result)
    case Outcome.Failed(error) => Report.Failed(leased, error, pause(leased.job.attempt))
    case Outcome.Canceled => Report.GivenBack(leased)

  private def pause(attempt: Int): FiniteDuration =
    try settings.pause(attempt).max(Duration.Zero)
    catch case NonFatal(_) => PgWorker.backOff(attempt)

  private def cancel(leasedJobs: Vector[LeasedJob[A]]): Task[Unit] =
    Task.foreach(leasedJobs.flatMap(_.fiber))(_.cancel.startDaemon)

  private def emit(out: Channel[Any])(results: Vector[Any]): Task[Unit] =
    Task.foreach(results)(out.send)

private[queue] object QueueWorker:
  /** The results of a worker, which is made anew each time the stream runs. */
  def results[A, B](
      calls: QueueCalls[A],
      channel: String,
      access: QueueAccess,
      settings: PgWorker,
      parallelism: Int,
      lease: FiniteDuration,
      work: PgJob[A] => Task[B]
  ): Stream[B] = Stream.suspend(
    new QueueWorker(calls, channel, access, settings, parallelism, lease, work).results
  )
