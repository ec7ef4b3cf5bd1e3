package weir.http

import java.io.IOException
import java.net.http.HttpClient as JdkClient
import java.util.concurrent.Executors
import java.util.concurrent.atomic.AtomicBoolean
import scala.jdk.DurationConverters.*
import weir.http.client.JdkExchange
import weir.{Resource, Task, WeirRuntime}

/** Sends requests, and reuses its connections. It uses HTTP/1.1 for `http`, and HTTP/2 for `https`
  * if the server supports it. Any number of fibers may use it.
  */
final class HttpClient private (
    client: JdkClient,
    isReleased: AtomicBoolean,
    settings: ClientSettings,
    runtime: WeirRuntime
):

  /** Sends `request`, and returns the response with its whole body in memory. A status such as 404
    * is a response, not an error.
    *
    * **Waits** for the response, and between retries: see `ClientSettings.retry`. **Cancelled**:
    * closes the exchange. **Fails** with an `IOException` if there is no response: with a
    * `java.net.ConnectException` that names host and port if the server cannot be reached, and with
    * a `java.net.http.HttpTimeoutException` if it takes longer than the settings allow. Fails with
    * a [[ResponseTooLarge]] if the body is larger than `bodyLimitBytes`, and with an
    * `IllegalArgumentException` if the request has a field that the JDK's client sets by itself,
    * such as `Host` or `Content-Length`.
    * {{{
    * def page(client: HttpClient): Task[String] =
    *   client.send(Request.get("http://localhost:8080/")).flatMap(_.body.text())
    * }}}
    */
  def send(request: Request): Task[Response] =
    val once = stream(request).use(response =>
      response.body
        .bytes(settings.bodyLimitBytes)
        .map(bytes => response.copy(body = Body.ofResponse(bytes)))
    )
    if !HttpClient.mayRepeat(request) then once
    else
      once
        .flatMap(response =>
          if HttpClient.isTemporary(response.status) then Task.fail(Temporary(response))
          else Task.pure(response)
        )
        .retryWhen(settings.retry) {
          case _: IOException | _: Temporary => true
          case _ => false
        }
        .recover { case temporary: Temporary => temporary.response }

  /** Sends `request`, once. The body of the response is read while its stream runs, within the use
    * of the resource. The body of the request is sent while its stream runs. The release closes the
    * exchange, if the body was not read to its end.
    *
    * A redirect of status 307 or 308 sends the body again, and fails with an `IOException` if the
    * body is a stream and not [[Body.repeatable]].
    *
    * **Fails** and **Cancelled** as `send`, and the stream too.
    * {{{
    * def download(client: HttpClient): Task[Long] =
    *   client.stream(Request.get("http://localhost:8080/")).use(_.body.stream.writeTo(path))
    * }}}
    */
  def stream(request: Request): Resource[Response] =
    JdkExchange(client, isReleased, settings, request)(using runtime)

/** A response after which a request is sent again. */
private final class Temporary(val response: Response)
    extends Exception(s"The server has answered with status ${response.status}.", null, true, false)

object HttpClient:
  /** Returns a client. The release closes its connections, and fails the exchanges that are open.
    * {{{
    * val status = HttpClient
    *   .resource(ClientSettings(retry = Schedule.exponential(100.millis).fullJitter.times(4)))
    *   .use(_.send(Request.get("https://example.org/")).map(_.status))
    * }}}
    */
  def resource(settings: ClientSettings = ClientSettings())(using
      runtime: WeirRuntime
  ): Resource[HttpClient] =
    for
      threads <- Resource.make(Task.delay(Executors.newVirtualThreadPerTaskExecutor()))(pool =>
        Task.delay(pool.shutdown())
      )
      isReleased = AtomicBoolean()
      client <- Resource.make(Task.delay {
        val builder = JdkClient.newBuilder()
        settings.tls.foreach { tls =>
          val context = tls.currentContext
          builder.sslContext(context).sslParameters(tls.parameters(context)): Unit
        }
        builder
          .executor(threads)
          .connectTimeout(settings.connectTimeout.toJava)
          .followRedirects(
            if settings.followRedirects then JdkClient.Redirect.NORMAL else JdkClient.Redirect.NEVER
          )
          .build()
      })(client => Task.delay { isReleased.set(true); client.shutdownNow() })
    yield new HttpClient(client, isReleased, settings, runtime)

  private val idempotent = Set("GET", "HEAD", "PUT", "DELETE", "OPTIONS")
  private val temporary = Set(429, 502, 503, 504)

  private def mayRepeat(request: Request): Boolean =
    request.body.isRepeatable &&
      (idempotent(request.method) || request.headers.contains("Idempotency-Key"))

  private def isTemporary(status: Int): Boolean = temporary(status)
