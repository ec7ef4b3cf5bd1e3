package weir.interop.sttp

import _root_.sttp.client4.testing.streaming.StreamingTest
import _root_.sttp.client4.testing.websocket.{
  WebSocketConcurrentTest,
  WebSocketStreamingTest,
  WebSocketTest
}
import _root_.sttp.client4.testing.{ConvertToFuture, HttpTest}
import _root_.sttp.client4.WebSocketStreamBackend
import _root_.sttp.model.sse.ServerSentEvent
import _root_.sttp.monad.MonadError
import _root_.sttp.ws.WebSocketFrame
import java.net.URI
import java.net.http.HttpClient
import java.security.MessageDigest
import java.util.HexFormat
import org.scalatest.events.{TestFailed, TestSucceeded}
import org.scalatest.{Args, Reporter, Suite}
import scala.concurrent.Future
import scala.concurrent.duration.DurationInt
import weir.http.HttpServer
import weir.io.Text
import weir.{Resource, Stream, Task}

/** sttp's own suites for a backend, each test as a test of MUnit. */
class SttpHttpSuite extends SttpSuite(SttpHttp()):
  protected def server: Resource[Any] = HttpServer.serve(port)(SttpTestServer.handle)

class SttpStreamingSuite extends SttpSuite(SttpStreaming()):
  protected def server: Resource[Any] = HttpServer.serve(port)(SttpTestServer.handle)

class SttpWebSocketSuite extends SttpSuite(SttpWebSockets()):
  protected def server: Resource[Any] = WebSocketTestServer.running(port)

/** The tests of `suite`. The port of the server that they ask is a constant of sttp's, so it cannot
  * be one that is free: two runs of these suites on one machine, at one time, are one too many.
  */
abstract class SttpSuite(suite: Suite) extends munit.FunSuite:
  protected val port: Int = URI.create(HttpTest.endpoint).getPort
  protected def server: Resource[Any]

  private var release = Task.unit
  override def beforeAll(): Unit = release = server.allocated.runSync()._2
  override def afterAll(): Unit = release.runSync()

  for name <- suite.testNames do
    test(name) {
      var ended = List.empty[Either[Throwable, Unit]]
      val reporter: Reporter = {
        case failed: TestFailed =>
          ended ::= Left(failed.throwable.getOrElse(AssertionError(failed.message)))
        case _: TestSucceeded => ended ::= Right(())
        case _ => ()
      }
      suite.run(Some(name), Args(reporter)).waitUntilCompleted()
      for case Left(error) <- ended do throw error
      assertEquals(ended, List(Right(())))
    }

private final class SttpHttp extends HttpTest[Task], WithBackend:
  override protected val binaryFileMD5Hash: String = md5(SttpTestServer.binary)
  override protected val textFileMD5Hash: String = md5(SttpTestServer.text)
  override protected val gzipFileMD5hash: String = md5(SttpTestServer.gzipped)

  private def md5(bytes: Array[Byte]): String =
    HexFormat.of().formatHex(MessageDigest.getInstance("MD5").digest(bytes))

  // The JDK's client sets that field by itself.
  override protected def supportsHostHeaderOverride: Boolean = false
  // HTTP's deflate is zlib.
  override protected def supportsDeflateWrapperChecking: Boolean = false
  override protected def supportsResponseAsInputStream: Boolean = false

  override def timeoutToNone[T](task: Task[T], timeoutMillis: Int): Task[Option[T]] =
    task.map(Option(_)).timeoutTo(timeoutMillis.millis, Task.pure(None))

private final class SttpStreaming extends StreamingTest[Task, WeirStreams], WithBackend:
  override val streams: WeirStreams = WeirStreams

  override def bodyProducer(blocks: Iterable[Array[Byte]]): Stream[Array[Byte]] =
    Stream.fromIterable(blocks)

  override def bodyConsumer(blocks: Stream[Array[Byte]]): Task[String] =
    blocks.through(Text.utf8Decode).mkString()

  override def sseConsumer(blocks: Stream[Array[Byte]]): Task[List[ServerSentEvent]] =
    blocks.through(WeirServerSentEvents.parse).toList

private final class SttpWebSockets
    extends WebSocketTest[Task],
      WebSocketStreamingTest[Task, WeirStreams],
      WebSocketConcurrentTest[Task],
      WithBackend:
  override val streams: WeirStreams = WeirStreams
  override implicit def monad: MonadError[Task] = taskMonad

  // The JDK's web sockets do not tell them.
  override def supportsReadingWebSocketResponseHeaders: Boolean = false

  override def concurrently[T](tasks: List[() => Task[T]]): Task[List[T]] =
    Task.parTraverse(tasks)(_())

  override def functionToPipe(
      f: WebSocketFrame.Data[?] => Option[WebSocketFrame]
  ): Stream[WebSocketFrame.Data[?]] => Stream[WebSocketFrame] = _.map(f).unNone

  override def fromTextPipe(
      f: String => WebSocketFrame
  ): Stream[WebSocketFrame.Data[?]] => Stream[WebSocketFrame] = frames =>
    Stream.suspend {
      var text = ""
      frames.map {
        case frame: WebSocketFrame.Text =>
          text += frame.payload
          Option.when(frame.finalFragment) {
            val whole = text
            text = ""
            f(whole)
          }
        case _ => None
      }.unNone
    }

  override def prepend(first: WebSocketFrame.Text)(
      pipe: Stream[WebSocketFrame.Data[?]] => Stream[WebSocketFrame]
  ): Stream[WebSocketFrame.Data[?]] => Stream[WebSocketFrame] = frames =>
    pipe(frames).prepend(first)

private trait WithBackend:
  implicit val convertToFuture: ConvertToFuture[Task] = new ConvertToFuture[Task]:
    def toFuture[T](task: Task[T]): Future[T] = task.toFuture()

  val backend: WebSocketStreamBackend[Task, WeirStreams] =
    TaskBackend.usingClient(HttpClient.newHttpClient())
