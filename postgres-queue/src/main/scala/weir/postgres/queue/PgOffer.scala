package weir.postgres.queue

import java.time.Instant

/** A job to add to a [[PgQueue]].
  *
  * @param priority
  *   jobs with a higher priority are taken first, even if others have waited longer
  * @param runAt
  *   the earliest time at which it may be taken; none means at once. Among jobs of a priority, the
  *   one with the earlier time is taken first. The server's clock is used
  * @param key
  *   while a job with this key is in the queue, waiting or leased, no other job with that key is
  *   added
  * @param maxAttempts
  *   the number of times that it may be begun; after that it is dead
  */
final case class PgOffer[+A](
    payload: A,
    priority: Int = 0,
    runAt: Option[Instant] = None,
    key: Option[String] = None,
    maxAttempts: Int = PgOffer.usualAttempts
):
  require(
    maxAttempts >= 1,
    s"PgOffer: maxAttempts was $maxAttempts. It must be at least 1, which is one run of the job."
  )

object PgOffer:
  /** The number of times that a job may be begun, if its offer does not say. */
  val usualAttempts = 10
