package weir.feeds.fetch

import java.io.IOException
import scala.concurrent.duration.FiniteDuration

/** The failure of a fetch: the row of the table, the detail that is stored, and the pause that the
  * server asks for.
  *
  * @param busyHost
  *   the host that answered that it gets too many requests, so that no process may ask it
  */
final case class Failure(
    reason: Reason,
    detail: String,
    retryAfter: Option[FiniteDuration] = None,
    busyHost: Option[String] = None
)

object Failure:
  /** Ends an exchange early; caught where the exchange began. */
  final class Abandoned(val failure: Failure) extends IOException(failure.detail):
    override def fillInStackTrace(): Throwable = this

  def abandon(reason: Reason, detail: String): Nothing = throw Abandoned(Failure(reason, detail))

  /** Returns the failure for `error`, which an exchange threw. */
  def of(error: Throwable): Failure =
    val chain = Iterator.iterate(error)(_.getCause).takeWhile(_ != null).take(10).toVector
    chain
      .collectFirst { case abandoned: Abandoned => abandoned.failure }
      .getOrElse(FailureWords.of(chain))
