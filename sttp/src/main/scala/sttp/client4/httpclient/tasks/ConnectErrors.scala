package sttp.client4.httpclient.tasks

import java.net.http.HttpConnectTimeoutException
import java.net.{ConnectException, URI}
import java.nio.channels.UnresolvedAddressException

/** The errors of the JDK's client for a server that cannot be reached. Its own ones do not name the
  * server, and most have no message.
  */
private[tasks] object ConnectErrors:

  /** Returns `error`, or if it is of this kind, one of the same class and cause that names the
    * server of `uri`.
    */
  def named(error: Throwable, uri: URI): Throwable =
    def message = s"TaskBackend: cannot connect to ${place(uri)}: ${reason(error)}."
    error match
      case _: HttpConnectTimeoutException =>
        HttpConnectTimeoutException(message).initCause(causeOf(error))
      case _ if error.getClass == classOf[ConnectException] =>
        ConnectException(message).initCause(causeOf(error))
      case _ => error

  private def place(uri: URI): String =
    val usual = if uri.getScheme == "https" then 443 else 80
    val port = if uri.getPort >= 0 then uri.getPort else usual
    s"${uri.getHost}:$port"

  /** The JDK's client connects again by a closed channel, and so loses the reason of a refusal. */
  private def reason(error: Throwable): String =
    if error.getCause.isInstanceOf[UnresolvedAddressException] then "the host has no known address"
    else
      Option(error.getMessage).getOrElse(
        "the connection was refused, or there is no way to that host"
      )

  private def causeOf(error: Throwable): Throwable = Option(error.getCause).getOrElse(error)
