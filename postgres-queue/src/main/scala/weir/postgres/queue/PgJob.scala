package weir.postgres.queue

import java.time.Instant

/** A job that was taken from a [[PgQueue]]: its holder may work on it until the lease ends.
  *
  * @param id
  *   its number, which is unique in the queue for ever
  * @param attempt
  *   the number of times that it has been begun, including this one; 1 at first
  * @param maxAttempts
  *   the number of times that it may be begun
  * @param runAt
  *   the time at which it was due
  * @param lastError
  *   the error of the previous attempt, if that was reported
  * @param token
  *   the fencing token. Each take gives the job a higher one, and the queue refuses reports with an
  *   older token. Pass it to a store that must refuse late writes of a worker that was considered
  *   dead
  */
final class PgJob[+A] private[queue] (
    val id: Long,
    val attempt: Int,
    val maxAttempts: Int,
    val priority: Int,
    val runAt: Instant,
    val key: Option[String],
    val lastError: Option[String],
    val token: Int,
    decoded: () => A
):
  /** The payload. **Fails** with the error of the codec. */
  lazy val payload: A = decoded()

  /** True once its holder has acknowledged it, in a transaction that may not be committed yet. */
  @volatile private[queue] var isAcknowledged: Boolean = false

  /** Returns the job's number and token, by which the server knows this take. */
  private[queue] def taken: (Long, Int) = (id, token)

  /** Returns true if a failure of this attempt makes the job a dead one. */
  def isLastAttempt: Boolean = attempt >= maxAttempts

  override def toString: String = s"job $id (attempt $attempt of $maxAttempts)"
