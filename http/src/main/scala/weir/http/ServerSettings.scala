package weir.http

import scala.concurrent.duration.{DurationInt, FiniteDuration}

/** The settings of a server. Each limit has a status, with which the server answers when the limit
  * is exceeded.
  *
  * @param host
  *   the address to listen on: `0.0.0.0` for all
  * @param requestLimit
  *   the number of requests in flight. Beyond it: 503, with `Retry-After`
  * @param headerLimitBytes
  *   the size of a request's line and header fields. Beyond it: 431
  * @param bodyLimitBytes
  *   the size of a request's body. Beyond it: 413; if the client announces such a size, the handler
  *   is not called
  * @param headerTimeout
  *   the time from the first byte of a request to the end of its header fields. After it: 408, and
  *   the connection is closed
  * @param handlerTimeout
  *   the time that the handler may take for its `Response`, without the sending of the body. After
  *   it, the handler's task is cancelled: 408 if it is waiting for the body of the request,
  *   otherwise 503. It is cancelled up to a quarter of that time later, and at most a second
  * @param idleTimeout
  *   the time without a byte in either direction after which a connection is closed: between two
  *   requests, in a body that the client sends (408), and in one that it does not read
  * @param drainDelay
  *   the time, at the release, for which `readyPath` answers 503 while the server continues to
  *   serve, so that a load balancer stops sending requests
  * @param drainTimeout
  *   the time, after that, in which the requests in flight may end. The remaining ones are
  *   cancelled
  * @param healthPath
  *   a path that answers 200 as long as the server runs; it begins with `/`
  * @param readyPath
  *   a path that answers 200, and 503 from the beginning of the release on; it begins with `/`
  * @param accessLog
  *   true to log a line for each request, to the `System.Logger` called `weir.http.access`
  * @param tls
  *   the TLS of `https`. Without it, the server speaks plain `http`. `headerTimeout` limits the
  *   handshake as well
  */
final case class ServerSettings(
    host: String = "localhost",
    requestLimit: Int = 1024,
    headerLimitBytes: Int = 8192,
    bodyLimitBytes: Long = 10_485_760,
    headerTimeout: FiniteDuration = 10.seconds,
    handlerTimeout: FiniteDuration = 30.seconds,
    idleTimeout: FiniteDuration = 30.seconds,
    drainDelay: FiniteDuration = 0.seconds,
    drainTimeout: FiniteDuration = 8.seconds,
    healthPath: Option[String] = Some("/health"),
    readyPath: Option[String] = Some("/ready"),
    accessLog: Boolean = false,
    tls: Option[Tls] = None
):
  private def checked(name: String, value: Any, isFine: Boolean, least: String): Unit =
    require(isFine, s"ServerSettings: $name was $value. It must be at least $least.")

  checked("requestLimit", requestLimit, requestLimit >= 1, "1")
  checked("headerLimitBytes", headerLimitBytes, headerLimitBytes >= 128, "128")
  checked("bodyLimitBytes", bodyLimitBytes, bodyLimitBytes >= 0, "0")
  for (name, time) <- List(
      "headerTimeout" -> headerTimeout,
      "handlerTimeout" -> handlerTimeout,
      "idleTimeout" -> idleTimeout
    )
  do checked(name, time, time >= 1.milli, "1 ms")
  checked("drainDelay", drainDelay, drainDelay >= 0.seconds, "0 s")
  checked("drainTimeout", drainTimeout, drainTimeout >= 0.seconds, "0 s")
  for
    (name, path) <- List("healthPath" -> healthPath, "readyPath" -> readyPath)
    value <- path
  do require(value.startsWith("/"), s"ServerSettings: $name was '$value'. It must begin with /.")
