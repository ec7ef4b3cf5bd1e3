package weir.http.client

import java.io.IOException
import java.net.http.HttpClient.Version
import java.net.http.HttpRequest.{BodyPublisher, BodyPublishers}
import java.net.http.HttpResponse.BodyHandlers
import java.net.http.{HttpClient, HttpRequest, HttpResponse, HttpTimeoutException}
import java.nio.ByteBuffer
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.{CompletionException, Flow}
import scala.jdk.CollectionConverters.*
import weir.http.{Body, ClientSettings, Headers, Request, Response}
import weir.{Resource, Stream, Task, WeirRuntime}

/** A request that is sent once, by the JDK's client, and its response. */
private[http] object JdkExchange:
  private type Answer = HttpResponse[Flow.Publisher[java.util.List[ByteBuffer]]]

  /** Sends `request` by `client`, which its owner may have released. */
  def apply(
      client: HttpClient,
      isReleased: AtomicBoolean,
      settings: ClientSettings,
      request: Request
  )(using WeirRuntime): Resource[Response] =
    val limit = settings.responseTimeout
    val tooLate = Task.defer(
      Task.fail(
        HttpTimeoutException(s"${request.method} ${request.uri}: no response within $limit.")
      )
    )
    def explained(error: Throwable) = error match
      case error: IOException if isReleased.get => IOException(released, error)
      case error => ConnectErrors.named(error, request.uri, settings.followRedirects)
    def answered(sent: BodyPublisher) =
      Task.asyncCancelable[Answer](done =>
        send(client, requestOf(request, sent), result => done(result.left.map(explained)))
      )
    for
      sent <- publisher(request.body)
      (answer, body) <- Resource.makeFull(poll =>
        poll(answered(sent).timeoutTo(limit, tooLate)).map(answer => (answer, bodyOf(answer)))
      ) { case ((_, body), _) => Task.delay(body.close()) }
    yield received(answer, body, settings)

  /** Sends the request. The result closes the exchange, and the body of a response that has come in
    * spite of that.
    */
  private def send(
      client: HttpClient,
      request: HttpRequest,
      done: Either[Throwable, Answer] => Unit
  ): Task[Unit] =
    val sent = client.sendAsync(request, BodyHandlers.ofPublisher())
    sent.whenComplete((answer, error) =>
      if answer != null then done(Right(answer))
      else
        done(Left(error match
          case wrapped: CompletionException if wrapped.getCause != null => wrapped.getCause
          case error => error))
    ): Unit
    Task.delay {
      sent.whenComplete((answer, _) => if answer != null then bodyOf(answer).close()): Unit
      sent.cancel(true): Unit
    }

  private def bodyOf(answer: Answer): ResponseBody =
    val body = ResponseBody()
    answer.body.subscribe(body)
    body

  private def requestOf(request: Request, body: BodyPublisher): HttpRequest =
    val builder = HttpRequest.newBuilder(request.uri).method(request.method, body)
    // Over plain HTTP the JDK would ask each server for an upgrade to HTTP/2.
    if request.uri.getScheme == "http" then builder.version(Version.HTTP_1_1): Unit
    request.headers.toVector.foreach((name, value) => builder.header(name, value): Unit)
    builder.build()

  /** Returns the body of a request, which is sent within the use. The JDK's client leaves its run
    * when a server answers before it has read all, or when the exchange is cancelled after that.
    */
  private def publisher(body: Body)(using WeirRuntime): Resource[BodyPublisher] =
    val bytes = body.inMemory
    if body.length.contains(0) then Resource.pure(BodyPublishers.noBody())
    else if bytes != null then Resource.pure(BodyPublishers.ofByteArray(bytes))
    else
      val all = if body.isRepeatable then body.stream else once(body.stream)
      all.filter(_.nonEmpty).map(ByteBuffer.wrap).toPublisherResource[ByteBuffer].map { blocks =>
        body.length match
          case Some(length) => BodyPublishers.fromPublisher(blocks, length)
          case None => BodyPublishers.fromPublisher(blocks)
      }

  /** Returns `blocks`, whose second run fails: the JDK's client would send what is left of them. */
  private def once(blocks: Stream[Array[Byte]]): Stream[Array[Byte]] =
    val isSent = AtomicBoolean()
    Stream
      .eval(Task.defer {
        if isSent.getAndSet(true) then Task.fail(IOException(cannotRepeat))
        else Task.unit
      })
      .flatMap(_ => blocks)

  private val released =
    "HttpClient: it has been released. Send requests only inside of the `use` of its resource."

  private val cannotRepeat =
    "The body of the request was sent, and cannot be sent again after a redirect. Mark it as " +
      "repeatable if each run of its stream emits the same bytes."

  private def received(answer: Answer, body: ResponseBody, settings: ClientSettings): Response =
    val fields = for
      entry <- answer.headers.map.asScala.toVector
      value <- entry._2.asScala
      if !entry._1.startsWith(":")
    yield entry._1 -> value
    val length = answer.headers.firstValueAsLong("content-length")
    val isBare = answer.request.method == "HEAD" || answer.statusCode == 304
    Response(
      answer.statusCode,
      Headers.received(fields),
      if isBare then Body.empty
      else
        Body.ofResponse(
          body.stream(settings.idleTimeout, s"${answer.request.method} ${answer.uri}"),
          Option.when(length.isPresent)(length.getAsLong)
        )
    )
