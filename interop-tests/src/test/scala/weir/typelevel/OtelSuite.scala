package weir.typelevel

import _root_.fs2.Stream
import cats.effect.kernel.{Async, Resource}
import cats.effect.syntax.all.*
import cats.effect.unsafe.IORuntime
import cats.effect.{IO, IOLocal}
import cats.mtl.Local
import cats.syntax.all.*
import io.opentelemetry.sdk.OpenTelemetrySdk
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter
import io.opentelemetry.sdk.trace.SdkTracerProvider
import io.opentelemetry.sdk.trace.`export`.SimpleSpanProcessor
import org.typelevel.otel4s.oteljava.OtelJava
import org.typelevel.otel4s.oteljava.context.Context
import org.typelevel.otel4s.trace.Tracer
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.interop.cats.{given, *}
import weir.{Task, TaskLocal, WeirSuite}

/** otel4s, unchanged: the same programs have the same spans on `Task` as on `IO`. */
class OtelSuite extends WeirSuite:

  /** A span that has ended: its name, that of its parent, and its status. */
  private type Ended = (String, Option[String], String)

  private def programs[F[_]: Async](using tracer: Tracer[F]): List[(String, F[Any])] =
    val F = Async[F]
    def span[A](name: String)(body: F[A]): F[A] = tracer.span(name).surround(body)
    val leaf = span("leaf")(F.unit)
    val boom = new Exception("boom")
    List(
      "one" -> span("a")(F.unit),
      "nested" -> span("a")(span("b")(leaf) >> leaf),
      "one after the other" -> (span("a")(leaf) >> span("b")(leaf)),
      "an error" -> span("a")(span("b")(F.raiseError(boom)).attempt >> leaf),
      "a fiber" -> span("a")(span("b")(leaf).start.flatMap(_.joinWithNever)),
      "a fiber that outlives the span" -> F
        .deferred[Unit]
        .flatMap(go =>
          span("a")((go.get >> leaf).start).flatMap(fiber => go.complete(()) >> fiber.joinWithNever)
        ),
      "a cancel" -> span("a")(
        F.deferred[Unit]
          .flatMap(begun =>
            span("b")(begun.complete(()) >> F.never[Unit]).start.flatMap(begun.get >> _.cancel)
          ) >> leaf
      ),
      "a race" -> span("a")(F.race(F.never[Unit], span("b")(leaf)) >> leaf),
      "both" -> span("a")(F.both(span("b")(leaf), span("c")(leaf)) >> leaf),
      "parTraverse" -> span("a")(
        (1 to 4).toList.parTraverseN(2)(n => span(s"b$n")(F.cede >> leaf)) >> leaf
      ),
      "a timeout" -> span("a")(span("b")(F.never[Unit]).timeout(500.millis).attempt >> leaf),
      "a finalizer" -> span("a")(leaf.guarantee(span("b")(leaf))),
      "a bracket" -> span("a")(leaf.bracket(_ => span("b")(leaf))(_ => span("c")(leaf))),
      "a resource of a span" -> tracer
        .span("a")
        .resource
        .use(op => op.trace(leaf >> span("b")(leaf))),
      "a resource" -> Resource.make(leaf)(_ => span("c")(leaf)).use(_ => span("b")(leaf)),
      "no span" -> span("a")(tracer.noopScope(leaf) >> leaf),
      "a root" -> span("a")(tracer.rootScope(leaf) >> leaf),
      "a stream" -> span("a")(
        Stream(1, 2, 3).covary[F].parEvalMap(2)(n => span(s"b$n")(leaf)).compile.drain >> leaf
      )
    ).map((name, program) => name -> program.widen[Any])

  /** The spans of each program, each run with an exporter of its own. */
  private def spans[F[_]: Async](run: [A] => F[A] => A)(using Local[F, Context]) =
    def each(at: Int): (String, List[Ended]) =
      val exporter = InMemorySpanExporter.create()
      val provider =
        SdkTracerProvider.builder().addSpanProcessor(SimpleSpanProcessor.create(exporter)).build()
      val sdk = OpenTelemetrySdk.builder().setTracerProvider(provider).build()
      val name = run(
        for
          otel <- OtelJava.fromJOpenTelemetry[F](sdk)
          tracer <- otel.tracerProvider.get("test")
          (name, program) = programs[F](using summon, tracer)(at)
          _ <- program
        yield name
      )
      val ended = exporter.getFinishedSpanItems.asScala.toList
      val names = ended.map(span => span.getSpanId -> span.getName).toMap
      sdk.close()
      name -> ended
        .map(span =>
          (span.getName, names.get(span.getParentSpanId), span.getStatus.getStatusCode.name)
        )
        .sorted
    given Tracer[F] = Tracer.noop
    programs[F].indices.toList.map(each)

  test("18 programs have the same spans on Task as on IO"):
    val ofTask =
      given Local[Task, Context] = TaskLocal.unsafe(Context.root).asLocal
      spans[Task]([A] => (task: Task[A]) => task.runSync())
    val ofIO =
      val runtime = IORuntime.global
      given Local[IO, Context] =
        IOLocal(Context.root).map(_.asLocal).unsafeRunSync()(using runtime)
      spans[IO]([A] => (io: IO[A]) => io.unsafeRunSync()(using runtime))
    assertEquals(ofTask.size, 18)
    assert(ofTask.forall(_._2.nonEmpty), ofTask)
    assertEquals(ofTask, ofIO)
