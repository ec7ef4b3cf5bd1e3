package weir.typelevel

import _root_.fs2.{Chunk, Stream}
import cats.effect.kernel.{Ref, Resource}
import cats.effect.implicits.*
import cats.syntax.all.*
import com.comcast.ip4s.{host, port}
import org.http4s.client.Client
import org.http4s.ember.client.EmberClientBuilder
import org.http4s.h2.H2Keys
import org.http4s.ember.server.EmberServerBuilder
import org.http4s.{EntityBody, HttpApp, HttpVersion, Method, Request, Response, Status, Uri}
import scala.concurrent.duration.*
import weir.{Tier, WeirSuite}

/** http4s's own server and client, unchanged: many requests, large bodies, cancels, leaks. */
class Http4sSuite extends WeirSuite:
  override def limit: FiniteDuration = Tier(2.minutes, 20.minutes)

  testsOn(Backend.task)
  if Backend.hasControl then testsOn(Backend.io)

  private def testsOn[F[_]](backend: Backend[F]): Unit =
    import backend.given
    val F = backend.async

    /** The server counts the bodies that it sends. */
    final class Service(val sending: Ref[F, Int]):
      val app: HttpApp[F] = HttpApp[F](request =>
        request.uri.path.renderString match
          case "/echo" => Response[F](Status.Ok, body = request.body).pure[F]
          case "/count" => request.body.chunks.map(_.size.toLong).compile.foldMonoid.map(text)
          case "/large" => Response[F](Status.Ok, body = large).pure[F]
          case "/endless" =>
            val body = Stream.bracket(sending.update(_ + 1))(_ => sending.update(_ - 1)) >>
              (Stream.chunk(block).covary[F] ++ Stream.sleep_[F](1.millis)).repeat
            Response[F](Status.Ok, body = body).pure[F]
          case path => text(path).pure[F]
      )
      private def text(value: Any) =
        Response[F](Status.Ok, body = Stream.emits(value.toString.getBytes))

    lazy val block = Chunk.array(new Array[Byte](64 * 1024))
    lazy val largeBytes = Tier(4, 100) * 1024 * 1024L
    lazy val echoed = 1024 * 1024L
    def large: EntityBody[F] = Stream.chunk(block).covary[F].repeatN(largeBytes / block.size)

    val served: Resource[F, (Client[F], Uri, Service)] =
      for
        service <- Resource.eval(F.ref(0)).map(Service(_))
        server <- EmberServerBuilder
          .default[F]
          .withHost(host"127.0.0.1")
          .withPort(port"0")
          .withHttpApp(service.app)
          .withShutdownTimeout(10.seconds)
          .withHttp2
          .build
        client <- EmberClientBuilder.default[F].withMaxTotal(64).withHttp2.build
      yield (client, server.baseUri, service)

    def on[A](name: String)(body: (Client[F], Uri, Service) => F[A]): Unit =
      test(s"${backend.name}: $name"):
        val before = OpenSockets.count
        backend.run(served.use(body.tupled)): Unit
        eventually(s"no socket is left: ${OpenSockets.count}, $before before")(
          OpenSockets.count <= before + backend.lateSockets
        )

    def path(uri: Uri, name: String): Request[F] = Request[F](uri = uri / name)

    val requests = Tier(500, 10_000)
    on(s"$requests requests, 64 at a time, each with its own answer"): (client, uri, _) =>
      Stream
        .range(0, requests)
        .covary[F]
        .parEvalMapUnordered(64)(i =>
          client.expect[String](uri / i.toString).map(answer => answer == s"/$i")
        )
        .compile
        .fold(0)((right, is) => if is then right + 1 else right)
        .map(assertEquals(_, requests))

    on(s"a body of ${largeBytes >> 20} MB there and back, streamed"): (client, uri, _) =>
      for
        down <- client
          .stream(path(uri, "large"))
          .flatMap(_.body)
          .chunks
          .map(_.size.toLong)
          .compile
          .foldMonoid
        up <- client.expect[String](
          path(uri, "count").withMethod(Method.POST).withBodyStream(large)
        )
        // Ember's client reads no answer before it has sent the request: what comes back meanwhile
        // has to fit into the buffers of the sockets.
        both <- client
          .stream(path(uri, "echo").withMethod(Method.POST).withBodyStream(large.take(echoed)))
          .flatMap(_.body)
          .chunks
          .map(_.size.toLong)
          .compile
          .foldMonoid
      yield assertEquals((down, up.toLong, both), (largeBytes, largeBytes, echoed))

    on(s"HTTP/2: requests, 16 at a time, and a body there and back"): (client, uri, _) =>
      def http2(name: String): Request[F] =
        path(uri, name).withAttribute(H2Keys.Http2PriorKnowledge, ())
      val body = Stream.chunk(block).covary[F].repeatN(4)
      for
        versions <- List
          .range(0, 64)
          .parTraverseN(16)(i =>
            client
              .run(http2(i.toString))
              .use(response => response.as[String].map((response.httpVersion, _)))
          )
        counted <- client.expect[String](
          http2("count").withMethod(Method.POST).withBodyStream(body)
        )
      yield
        assertEquals(versions, List.tabulate(64)(i => (HttpVersion.`HTTP/2`, s"/$i")))
        assertEquals(counted.toInt, 4 * block.size)

    val cancels = Tier(100, 1_000)
    on(s"$cancels requests cancelled in the middle of the answer"): (client, uri, service) =>
      def once: F[Unit] =
        for
          begun <- F.deferred[Unit]
          fiber <- client
            .stream(path(uri, "endless"))
            .flatMap(_.body.chunks)
            .evalMap(_ => begun.complete(()).void)
            .compile
            .drain
            .start
          _ <- begun.get
          _ <- fiber.cancel
        yield ()
      def quiet: F[Int] =
        service.sending.get.flatMap(n => if n == 0 then 0.pure[F] else F.sleep(5.millis) *> quiet)
      for
        _ <- List.fill(cancels)(()).parTraverseN(32)(_ => once)
        left <- quiet.timeoutTo(10.seconds, service.sending.get)
        after <- client.expect[String](uri / "after")
      yield assertEquals((left, after), (0, "/after"))
