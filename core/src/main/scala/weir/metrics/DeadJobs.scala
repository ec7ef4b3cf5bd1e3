package weir.metrics

import java.time.Instant

/** The dead jobs of a queue, which an operator can list, revive and delete. A console shows the
  * queues that are registered. It calls the methods on threads that may block.
  */
trait DeadJobs:

  /** Returns the name of the queue. */
  def name: String

  /** Returns up to `limit` dead jobs, the latest first. */
  def list(limit: Int): Vector[DeadJobs.Job]

  /** Puts the dead jobs with these numbers back into the queue, and returns how many. */
  def revive(ids: Vector[Long]): Int

  /** Deletes the dead jobs with these numbers, and returns how many. */
  def delete(ids: Vector[Long]): Int

object DeadJobs:

  /** A job whose last attempt has failed.
    *
    * @param error the error of that attempt
    */
  final case class Job(
      id: Long,
      attempts: Int,
      diedAt: Instant,
      key: Option[String],
      error: String
  )

  private val sources = Registry[DeadJobs]()

  /** Shows `jobs` to operators until the result is closed.
    * {{{
    * def show(jobs: weir.metrics.DeadJobs): AutoCloseable = weir.metrics.DeadJobs.register(jobs)
    * }}}
    */
  def register(jobs: DeadJobs): AutoCloseable = sources.add(jobs)

  /** Returns the registered ones, in the order of their registration. */
  def registered: Vector[DeadJobs] = sources.all
