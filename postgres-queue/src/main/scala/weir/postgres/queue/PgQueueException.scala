package weir.postgres.queue

/** An error of a queue, described for its users. Other errors of the server are passed on
  * unchanged.
  */
final class PgQueueException private[queue] (
    val kind: PgQueueException.Kind,
    message: String,
    cause: Throwable | Null = null
) extends RuntimeException(message, cause)

object PgQueueException:
  enum Kind:
    /** The queue's tables do not exist. */
    case NoTable

    /** The tables belong to another version, or to another program. */
    case OtherVersion

    /** The payload's column has another type than the codec. */
    case OtherColumn

    /** The user may not do this with the tables. */
    case NotPermitted

    /** Postgres cannot store the offer: a payload or a key is text with U+0000 or half of a
      * surrogate pair, a key is too long, or a time is too far away.
      */
    case NotStorable

    /** The caller has reported the job already, or the job's lease has ended, and another worker
      * has taken the job, or it is done.
      */
    case LeaseLost
