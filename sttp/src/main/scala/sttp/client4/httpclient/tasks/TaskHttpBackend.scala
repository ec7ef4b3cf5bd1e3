package sttp.client4.httpclient.tasks

import java.io.IOException
import java.net.http.HttpRequest.{BodyPublisher, BodyPublishers}
import java.net.http.HttpResponse.{BodyHandler, BodyHandlers}
import java.net.http.{HttpClient, HttpRequest, HttpResponse}
import java.nio.ByteBuffer
import java.util.List as JavaList
import java.util.concurrent.Flow.Publisher
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.{CompletionException, Executors}
import scala.jdk.OptionConverters.*
import sttp.client4.*
import sttp.client4.compression.{CompressionHandlers, Compressor}
import sttp.client4.httpclient.{HttpClientAsyncBackend, HttpClientBackend}
import sttp.client4.internal.httpclient.{BodyToHttpClient, Sequencer, cancelPublisher}
import sttp.client4.internal.ws.SimpleQueue
import sttp.client4.wrappers.FollowRedirectsBackend
import sttp.monad.MonadError
import weir.interop.sttp.{WeirStreams, taskMonad}
import weir.{Mutex, Outcome, Queue, Resource, Stream, Task, WeirRuntime}

/** Sends requests of sttp as tasks. sttp's own base class makes requests and responses of them, and
  * has the web sockets.
  *
  * It is in sttp's package since the types of what a backend has to define are private to it:
  * decision 0049.
  */
final class TaskHttpBackend private (
    client: HttpClient,
    customizeRequest: HttpRequest => HttpRequest,
    isReleased: () => Boolean
)(using runtime: WeirRuntime)
    extends HttpClientAsyncBackend[
      Task,
      WeirStreams,
      Publisher[JavaList[ByteBuffer]],
      ReceivedBody
    ](client, taskMonad, false, customizeRequest, TaskHttpBackend.compression)
    with WebSocketStreamBackend[Task, WeirStreams]:
  override val streams: WeirStreams = WeirStreams

  // ---- an exchange ----

  /** As the base class does, but a response that comes at the moment of a cancel is closed too. */
  override def sendRegular[T](request: GenericRequest[T, R]): Task[Response[T]] =
    closable(request).flatMap { (asked, sent) =>
      Task.bracketFull(poll => poll(exchange(asked)).onError { case _ => sent }.onCancel(sent)) {
        answer =>
          val whole = Option(answer.body).fold(emptyBody())(lowLevelBodyToBody).endedBy(sent)
          val body = request.options.maxResponseBodyLength.fold(whole)(bodyToLimitedBody(whole, _))
          readResponse(answer, Left(body), request)
      } {
        case (_, Outcome.Succeeded(_)) => Task.unit // read, or its reader's
        case (answer, _) => close(answer).guarantee(sent)
      }
    }

  /** Returns `request` as the JDK has it, and the task that ends the run of its body: the JDK's
    * client leaves it when a server answers before it has read all.
    */
  private def closable[T](request: GenericRequest[T, R]): Task[(HttpRequest, Task[Unit])] =
    convertRequest(request).flatMap { made =>
      val converted = customizeRequest(made)
      val isInMemory = converted.bodyPublisher == made.bodyPublisher && (request.body match
        case NoBody | _: StringBody | _: ByteArrayBody | _: ByteBufferBody => true
        case _ => false)
      converted.bodyPublisher.toScala.filter(body => !isInMemory && body.contentLength != 0) match
        case None => Task.pure((converted, Task.unit))
        case Some(body) =>
          Stream.fromPublisher(body, buffer = 1).toPublisherResource[ByteBuffer].allocated.map {
            (blocks, close) =>
              val sent =
                if body.contentLength < 0 then BodyPublishers.fromPublisher(blocks)
                else BodyPublishers.fromPublisher(blocks, body.contentLength)
              val asked = HttpRequest.newBuilder(converted, (_, _) => true)
              (asked.method(converted.method, sent).build(), close)
          }
    }

  private type Answer = HttpResponse[Publisher[JavaList[ByteBuffer]]]

  private def exchange(request: HttpRequest): Task[Answer] = Task.asyncCancelable { done =>
    val sent = client.sendAsync(request, createBodyHandler)
    sent.whenComplete((answer, error) =>
      done(error match
        case null => Right(answer)
        case wrapped: CompletionException if wrapped.getCause != null =>
          Left(explained(wrapped.getCause, request))
        case error => Left(explained(error, request)))
    ): Unit
    Task.delay {
      sent.whenComplete((answer, _) => if answer != null then closeNow(answer)): Unit
      sent.cancel(true): Unit
    }
  }

  private def explained(error: Throwable, request: HttpRequest): Throwable = error match
    case error: IOException if isReleased() => IOException(TaskHttpBackend.released, error)
    case error => ConnectErrors.named(error, request.uri)

  private def close(answer: Answer): Task[Unit] = Task.delay(closeNow(answer))

  private def closeNow(answer: Answer): Unit =
    if answer.body != null then cancelLowLevelBody(answer.body)

  // ---- bodies ----

  override protected def createBodyHandler: BodyHandler[Publisher[JavaList[ByteBuffer]]] =
    BodyHandlers.ofPublisher()

  override protected def lowLevelBodyToBody(blocks: Publisher[JavaList[ByteBuffer]]): ReceivedBody =
    ReceivedBody.of(blocks)

  override protected def cancelLowLevelBody(blocks: Publisher[JavaList[ByteBuffer]]): Unit =
    cancelPublisher(blocks)

  override protected def emptyBody(): ReceivedBody = ReceivedBody.empty

  override protected def bodyToLimitedBody(body: ReceivedBody, limit: Long): ReceivedBody =
    body.through(WeirStreams.limitBytes(_, limit))

  override protected def addOnEndCallbackToBody(
      body: ReceivedBody,
      callback: () => Unit
  ): ReceivedBody = body.through(_.onFinalizeCase {
    case Outcome.Succeeded(_) => Task.delay(callback())
    case _ => Task.unit
  })

  override protected val bodyFromHttpClient: ReadBody = ReadBody()

  override protected val bodyToHttpClient: BodyToHttpClient[Task, WeirStreams, R] =
    new BodyToHttpClient[Task, WeirStreams, R]:
      val streams: WeirStreams = WeirStreams
      given monad: MonadError[Task] = taskMonad
      val multiPartBodyBuilder: StreamParts = StreamParts(publisher)
      def streamToPublisher(blocks: Stream[Array[Byte]]): Task[BodyPublisher] = publisher(blocks)
      def compressors: List[Compressor[R]] = TaskHttpBackend.compression.compressors

  private def publisher(blocks: Stream[Array[Byte]]): Task[BodyPublisher] = Task.delay(
    BodyPublishers.fromPublisher(
      blocks.filter(_.nonEmpty).map(ByteBuffer.wrap).toPublisher[ByteBuffer]
    )
  )

  // ---- web sockets ----

  override protected def createSimpleQueue[T]: Task[SimpleQueue[Task, T]] =
    Queue.unbounded[T].map { queue =>
      new SimpleQueue[Task, T]:
        def offer(value: T): Unit = queue.offer(value).runSync()
        def poll: Task[T] = queue.take
    }

  override protected def createSequencer: Task[Sequencer[Task]] = Mutex().map { mutex =>
    new Sequencer[Task]:
      def apply[T](task: => Task[T]): Task[T] = mutex.withLock(Task.defer(task))
  }

  override protected def ensureOnAbnormal[T](task: Task[T])(finalizer: => Task[Unit]): Task[T] =
    task.guaranteeCase {
      case Outcome.Succeeded(_) => Task.unit
      case _ => Task.defer(finalizer)
    }

object TaskHttpBackend:
  private val compression: CompressionHandlers[WeirStreams, ReceivedBody] =
    CompressionHandlers(Compression.compressors, Compression.decompressors)

  private val released =
    "TaskBackend: it has been released. Send requests only inside of the `use` of its resource."

  /** Returns a backend that sends requests by `client`, and does not close it. */
  def apply(client: HttpClient, customizeRequest: HttpRequest => HttpRequest)(using
      WeirRuntime
  ): WebSocketStreamBackend[Task, WeirStreams] =
    sending(new TaskHttpBackend(client, customizeRequest, () => client.isTerminated))

  /** Returns a backend with the client that `options` describe. The release closes it. */
  def resource(options: BackendOptions, customizeRequest: HttpRequest => HttpRequest)(using
      WeirRuntime
  ): Resource[WebSocketStreamBackend[Task, WeirStreams]] =
    for
      threads <- Resource.make(Task.delay(Executors.newVirtualThreadPerTaskExecutor()))(pool =>
        Task.delay(pool.shutdown())
      )
      isReleased = AtomicBoolean()
      client <- Resource.make(
        Task.delay(HttpClientBackend.defaultClient(options, Some(threads)))
      )(client => Task.delay { isReleased.set(true); client.shutdownNow() })
    yield sending(new TaskHttpBackend(client, customizeRequest, () => isReleased.get))

  private def sending(backend: TaskHttpBackend): WebSocketStreamBackend[Task, WeirStreams] =
    SendsOnce(FollowRedirectsBackend(backend))
