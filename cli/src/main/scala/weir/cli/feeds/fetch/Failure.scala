package weir.cli.feeds.fetch

import java.io.IOException
import java.net.{ConnectException, UnknownHostException}
import java.net.http.{HttpConnectTimeoutException, HttpTimeoutException}
import java.nio.channels.UnresolvedAddressException
import java.util.concurrent.TimeoutException
import java.util.zip.ZipException
import javax.net.ssl.SSLException
import scala.concurrent.duration.FiniteDuration

/** Why a fetch failed: the row of the table, the detail that is stored, and what the server asked
  * for.
  *
  * @param busyHost
  *   the host whose answer says that it is asked too much, so that all of it is to be left alone
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

  /** What `error`, thrown by an exchange, means. The innermost known cause counts. */
  def of(error: Throwable): Failure =
    error match
      case abandoned: Abandoned => abandoned.failure
      case _ =>
        val chain = Iterator.iterate(error)(_.getCause).takeWhile(_ != null).take(10).toVector
        val reason = chain.reverseIterator.flatMap(reasonOf).nextOption()
        Failure(reason.getOrElse(Reason.Reset), describe(chain.last))

  private def reasonOf(error: Throwable): Option[Reason] =
    error match
      case _: HttpConnectTimeoutException => Some(Reason.ConnectTimedOut)
      case _: HttpTimeoutException | _: TimeoutException => Some(Reason.TimedOut)
      case _: UnknownHostException | _: UnresolvedAddressException => Some(Reason.UnknownHost)
      case _: ConnectException => Some(Reason.NoConnection)
      case _: SSLException => Some(Reason.Insecure)
      case _: ZipException => Some(Reason.BrokenGzip)
      case _: IllegalArgumentException => Some(Reason.BadRedirect)
      case _ => None

  private def describe(error: Throwable): String =
    Option(error.getMessage).filter(_.nonEmpty).getOrElse(error.getClass.getSimpleName)
