package weir.http

import scala.concurrent.duration.{DurationInt, FiniteDuration}
import weir.Schedule

/** The settings of a client.
  *
  * @param connectTimeout
  *   the time limit for opening a connection
  * @param responseTimeout
  *   the time limit for sending a request with its body and receiving the header fields of its
  *   response. A long upload needs a client with a longer limit
  * @param idleTimeout
  *   the time limit for each wait for the next bytes of a response's body
  * @param bodyLimitBytes
  *   the largest size of a body that `send` reads into memory
  * @param followRedirects
  *   true to follow redirects, except from `https` to `http`
  * @param retry
  *   the delays after which `send` tries again; by default it does not. It tries again after an
  *   `IOException`, and after the statuses 429, 502, 503 and 504, if the method is idempotent (GET,
  *   HEAD, PUT, DELETE, OPTIONS) or if the request has a field `Idempotency-Key`. A request whose
  *   body is a stream is sent once, unless the body is `repeatable`
  * @param tls
  *   the certificates that are trusted, and other parameters of TLS, for `https`. Without it, those
  *   of the JDK
  */
final case class ClientSettings(
    connectTimeout: FiniteDuration = 5.seconds,
    responseTimeout: FiniteDuration = 30.seconds,
    idleTimeout: FiniteDuration = 30.seconds,
    bodyLimitBytes: Int = 10_485_760,
    followRedirects: Boolean = false,
    retry: Schedule[Throwable] = Schedule.recurs(0),
    tls: Option[Tls] = None
):
  for (name, time) <- List(
      "connectTimeout" -> connectTimeout,
      "responseTimeout" -> responseTimeout,
      "idleTimeout" -> idleTimeout
    )
  do
    require(
      time >= 1.milli,
      s"ClientSettings: $name was $time. It must be at least 1 ms."
    )
