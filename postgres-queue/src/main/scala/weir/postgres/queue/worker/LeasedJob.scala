package weir.postgres.queue.worker

import scala.concurrent.duration.FiniteDuration

import weir.Fiber
import weir.postgres.queue.PgJob

/** A job that a worker has taken, until the server has been told what became of it. */
private[queue] final class LeasedJob[A](val job: PgJob[A], @volatile var endsNanos: Long):
  /** The fiber that runs it, once it has begun. */
  @volatile var fiber: Option[Fiber[Any]] = None

  /** Set before the fiber is read for its cancel; read after the fiber is set. */
  @volatile var isLost: Boolean = false

  // owner only: the exchange loop
  /** True if its report was in an exchange that may have been committed, but was not answered. */
  var isDoubted: Boolean = false

  /** True if the job may be done although its acknowledgement finds no row. */
  def mayBeDone: Boolean = isDoubted || job.isAcknowledged

/** A report of a worker to the server about a job. */
private[queue] enum Report[A](val leased: LeasedJob[A]):
  case Done(of: LeasedJob[A], result: Any) extends Report[A](of)
  case Failed(of: LeasedJob[A], error: Throwable, pause: FiniteDuration) extends Report[A](of)
  case GivenBack(of: LeasedJob[A]) extends Report[A](of)
