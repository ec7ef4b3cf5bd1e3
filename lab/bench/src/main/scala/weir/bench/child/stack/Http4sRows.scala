package weir.bench.child.stack

import cats.effect.kernel.{Async, Resource}
import com.comcast.ip4s.{host, port}
import fs2.Stream
import fs2.io.net.Network
import org.http4s.ember.client.EmberClientBuilder
import org.http4s.ember.server.EmberServerBuilder
import org.http4s.{HttpApp, Response, Status}

/** Measures the requests a second of an http4s client to an http4s server, 64 at a time. Both are
  * in this JVM.
  */
private[stack] object Http4sRows:
  def apply[F[_]: Network](using F: Async[F]): Resource[F, List[Row[F]]] =
    val answer = Response[F](Status.Ok, body = Stream.emits("hello".getBytes))
    for
      server <- EmberServerBuilder
        .default[F]
        .withHost(host"127.0.0.1")
        .withPort(port"0")
        .withHttpApp(HttpApp[F](_ => F.pure(answer)))
        .build
      client <- EmberClientBuilder.default[F].withMaxTotal(64).build
    yield
      val requests = 1024
      val run = Stream
        .range(0, requests)
        .covary[F]
        .parEvalMapUnordered(64)(_ => client.expect[String](server.baseUri))
        .compile
        .fold(0L)((sum, answer) => sum + answer.length)
      List(Row("http4s, requests", requests, requests * 5L, run))
