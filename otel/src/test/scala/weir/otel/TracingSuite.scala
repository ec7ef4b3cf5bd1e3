package weir.otel

import io.opentelemetry.api.common.AttributeKey.{longKey, stringKey}
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator
import io.opentelemetry.api.trace.{Span, StatusCode}
import io.opentelemetry.context.Context
import io.opentelemetry.context.propagation.ContextPropagators
import io.opentelemetry.sdk.OpenTelemetrySdk
import io.opentelemetry.sdk.testing.exporter.InMemorySpanExporter
import io.opentelemetry.sdk.trace.{ReadWriteSpan, ReadableSpan, SdkTracerProvider, SpanProcessor}
import io.opentelemetry.sdk.trace.`export`.SimpleSpanProcessor
import io.opentelemetry.sdk.trace.data.SpanData
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.{Stream, Task, WeirSuite}

class TracingSuite extends WeirSuite:
  private val begun = AtomicInteger()

  private object Counting extends SpanProcessor:
    def onStart(parent: Context, span: ReadWriteSpan): Unit = begun.incrementAndGet(): Unit
    def isStartRequired: Boolean = true
    def onEnd(span: ReadableSpan): Unit = ()
    def isEndRequired: Boolean = false

  private val exporter = InMemorySpanExporter.create()
  private val telemetry = OpenTelemetrySdk
    .builder()
    .setTracerProvider(
      SdkTracerProvider
        .builder()
        .addSpanProcessor(Counting)
        .addSpanProcessor(SimpleSpanProcessor.create(exporter))
        .build()
    )
    .setPropagators(ContextPropagators.create(W3CTraceContextPropagator.getInstance))
    .build()
  private given tracing: Tracing = Tracing(telemetry, "test")

  /** Returns the spans that `task` has made, by their names. */
  private def spansOf(task: Task[Any]): Map[String, List[SpanData]] =
    exporter.reset()
    task.attempt.runSync(): Unit
    exporter.getFinishedSpanItems.asScala.toList.groupBy(_.getName)

  private val pause = Task.sleep(1.milli)

  test("a span is the parent of those in its task, wherever that goes on"):
    val inner = pause.andThen(Task(Thread.sleep(1))).andThen(pause)
    val spans = spansOf(
      Task
        .parTraverse(1 to 20)(i => inner.span(s"child $i"))
        .andThen(inner.span("forked").start.flatMap(_.joinOrFail))
        .andThen(Stream.range(0, 20).parEvalMap(4)(i => inner.span(s"element $i")).drain)
        .andThen(Task(inner.span("runSync").runSync()))
        .andThen(Task.direct(inner.span("direct").await))
        .span("root", "size" -> 20)
    )
    val root = spans("root").head
    assertEquals(spans.size, 44)
    assertEquals(root.getAttributes.get(longKey("size")).longValue, 20L)
    for (name, List(span)) <- spans.removed("root") do
      assertEquals(span.getParentSpanId, root.getSpanId, name)
      assertEquals(span.getStatus.getStatusCode, StatusCode.UNSET, name)

  test("requests that run side by side have their spans in their own traces"):
    def request(i: Int) =
      Task
        .foreach(1 to 5)(_ => pause.andThen(Task.cede).span(s"step of $i"))
        .span(s"request $i")
    val spans = spansOf(Task.parTraverse(1 to 200)(request))
    for i <- 1 to 200 do
      val List(root) = spans(s"request $i"): @unchecked
      assertEquals(root.getParentSpanId, "0000000000000000")
      assertEquals(spans(s"step of $i").map(_.getTraceId), List.fill(5)(root.getTraceId))
      assertEquals(spans(s"step of $i").map(_.getParentSpanId).toSet, Set(root.getSpanId))
    assertEquals(spans.values.flatten.map(_.getTraceId).toSet.size, 200)

  test("after a span, also one that has failed, the one before it is current again"):
    val (before, after) = Task
      .direct {
        val before = Span.current
        pause.span("good").await
        Task.fail(RuntimeException("boom")).span("bad").attempt.await
        Task.never.span("timed").timeout(1.milli).attempt.await
        (before, Span.current)
      }
      .span("root")
      .runSync()
    assert(before.getSpanContext.isValid)
    assertEquals(after, before)
    assertEquals(Context.current, Context.root)

  test("errors, cancels and time limits are the status of the span"):
    val spans = spansOf(
      Task.never
        .span("cancelled")
        .timeout(5.millis)
        .span("timed out")
        .attempt
        .andThen(Task.fail(IllegalStateException("boom")).span("failed"))
    )
    def facts(name: String) =
      val span = spans(name).head
      (
        span.getStatus.getStatusCode,
        span.getStatus.getDescription,
        span.getAttributes.get(stringKey("error.type"))
      )
    assertEquals(facts("cancelled"), (StatusCode.ERROR, "cancelled", "cancelled"))
    assertEquals(facts("failed"), (StatusCode.ERROR, "boom", "java.lang.IllegalStateException"))
    assertEquals(facts("timed out")._3, "java.util.concurrent.TimeoutException")
    assertEquals(spans("failed").head.getEvents.asScala.map(_.getName).toList, List("exception"))
    assertEquals(spans("cancelled").head.getParentSpanId, spans("timed out").head.getSpanId)

  test("each span that begins ends, whenever its task is cancelled"):
    val before = begun.get
    val spans = spansOf(
      Task.foreach(1 to 200) { i =>
        val yields = Task.foreach(1 to i % 4)(_ => Task.cede)
        pause.span(s"span $i").start.flatMap(fiber => yields.andThen(fiber.cancel))
      }
    )
    assert(begun.get > before)
    assertEquals(spans.values.map(_.size).sum, begun.get - before)
    assertEquals(Context.current, Context.root)

  test("a trace goes on in another process, by headers"):
    val spans = spansOf(
      tracing.headers
        .span("sender")
        .flatMap(headers => tracing.continuing(headers)(pause.span("receiver")))
    )
    assertEquals(spans("receiver").head.getParentSpanId, spans("sender").head.getSpanId)
    assertEquals(spans("receiver").head.getTraceId, spans("sender").head.getTraceId)

  test("without a trace in the headers the present one goes on; without one there are no headers"):
    val spans = spansOf(tracing.continuing(List("other" -> "1"))(pause.span("inner")).span("outer"))
    assertEquals(spans("inner").head.getParentSpanId, spans("outer").head.getSpanId)
    assertEquals(tracing.headers.runSync(), Vector.empty)
