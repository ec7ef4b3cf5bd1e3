package weir.postgres

import java.time.Instant

/** A job that was taken from a [[PgQueue]]: its holder may work on it until the lease ends.
  *
  * @param id
  *   its number, which no other job of the queue ever has
  * @param attempt
  *   how often it has been begun, this time included; 1 at first
  * @param maxAttempts
  *   how often it may be begun
  * @param runAt
  *   when it was due
  * @param lastError
  *   what the attempt before failed with, if it has said so
  * @param token
  *   the fencing token: each take gives the job a higher one, and what is said of a job with an
  *   older token is refused. It can be passed on to a store of yours that is to refuse the late
  *   writes of a worker that was believed dead
  */
final class PgJob[+A] private[postgres] (
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
  /** The payload. **Fails** with what the codec throws for it. */
  lazy val payload: A = decoded()

  /** What the server knows this take of the job by. */
  private[postgres] def taken: (Long, Int) = (id, token)

  /** Whether a failure of this attempt makes the job a dead one. */
  def isLastAttempt: Boolean = attempt >= maxAttempts

  override def toString: String = s"job $id (attempt $attempt of $maxAttempts)"
