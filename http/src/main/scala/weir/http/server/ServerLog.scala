package weir.http.server

import java.lang.System.Logger.Level
import org.eclipse.jetty.server.Request as JettyRequest

/** Logs the requests and errors of a server to the JDK's `System.Logger`, which logging libraries
  * take over.
  */
private[server] final class ServerLog(isAccessLogged: Boolean):
  private val errors = System.getLogger("weir.http")
  private val access = System.getLogger("weir.http.access")

  /** Logs the error of a handler, or of the body that it has returned. */
  def failed(in: JettyRequest, error: Throwable): Unit =
    errors.log(Level.ERROR, s"${line(in)} failed: $error", error)

  def sweepFailed(error: Throwable): Unit =
    errors.log(Level.ERROR, s"The look for late requests failed: $error", error)

  def served(in: JettyRequest, status: Int, sentBytes: Long, nanos: Long): Unit =
    if isAccessLogged && access.isLoggable(Level.INFO) then
      val ended = if status == Requests.aborted then "aborted" else status.toString
      val micros = nanos / 1000
      access.log(
        Level.INFO,
        s"${JettyRequest.getRemoteAddr(in)} ${line(in)} $ended, $sentBytes bytes, $micros us"
      )

  private def line(in: JettyRequest): String = s"${in.getMethod} ${in.getHttpURI.getPathQuery}"
