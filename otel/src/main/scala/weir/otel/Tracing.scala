package weir.otel

import io.opentelemetry.api.trace.{Span, SpanKind, StatusCode, Tracer}
import io.opentelemetry.api.{GlobalOpenTelemetry, OpenTelemetry}
import io.opentelemetry.context.Context
import io.opentelemetry.context.propagation.{TextMapGetter, TextMapPropagator}
import scala.jdk.CollectionConverters.*
import weir.{Outcome, Task}

/** Makes spans of tasks.
  *
  * A span is the current one of its fiber while its task runs, and of the fibers that the task
  * starts. Code that is instrumented for OpenTelemetry therefore finds it, in whichever thread it
  * runs.
  * {{{
  * given Tracing = Tracing.global("shop")
  *
  * def order(id: Long): Task[String] =
  *   Task(s"order $id").span("read order", "order.id" -> id)
  * }}}
  */
final class Tracing private (tracer: Tracer, propagator: TextMapPropagator):

  /** Runs `task` in a new span, a child of the current one, and returns its value. The span ends
    * with the task.
    *
    * The status of the span is an error if the task fails or is cancelled. `error.type` is then the
    * class of the error, or `cancelled`. A task that a `timeout` ends is cancelled. The error of a
    * failure is recorded as an event.
    */
  def span[A](
      name: String,
      attributes: Seq[(String, Tracing.Value)] = Nil,
      kind: SpanKind = SpanKind.INTERNAL
  )(task: Task[A]): Task[A] = Task.uncancelable { poll =>
    Task.delay(begin(name, attributes, kind)).flatMap { opened =>
      poll(task).guaranteeCase(outcome => Task.delay(opened.end(outcome)))
    }
  }

  /** Runs `task` with the trace context that `carrier`, such as the headers of a request, contains:
    * the spans of `task` are children of the sender's. Returns the value of `task`. Without such a
    * context in `carrier`, `task` keeps the present one.
    *
    * @param headers the names and values in `carrier`
    */
  def continuing[A](headers: Iterable[(String, String)])(task: Task[A]): Task[A] =
    Task.uncancelable { poll =>
      Task
        .delay {
          val before = Context.current
          OtelHook.attach(propagator.extract(before, headers, Tracing.Headers))
          before
        }
        .flatMap { before =>
          poll(task).guarantee(Task.delay(OtelHook.attach(before)))
        }
    }

  /** Returns the names and values that carry the current trace context to another process: for the
    * headers of a request or of a message.
    */
  def headers: Task[Vector[(String, String)]] = Task.delay {
    val added = Vector.newBuilder[(String, String)]
    propagator.inject(Context.current, added, (_, name, value) => added.addOne(name -> value): Unit)
    added.result()
  }

  /** Returns the current span, to add attributes and events. It is not recording if there is none.
    */
  def currentSpan: Task[Span] = Task.delay(Span.current)

  private def begin(
      name: String,
      attributes: Seq[(String, Tracing.Value)],
      kind: SpanKind
  ): Tracing.Opened =
    val before = Context.current
    val builder = tracer.spanBuilder(name).setParent(before).setSpanKind(kind)
    attributes.foreach {
      case (key, value: String) => builder.setAttribute(key, value)
      case (key, value: Long) => builder.setAttribute(key, value)
      case (key, value: Int) => builder.setAttribute(key, value.toLong)
      case (key, value: Double) => builder.setAttribute(key, value)
      case (key, value: Boolean) => builder.setAttribute(key, value)
    }
    val span = builder.startSpan()
    OtelHook.attach(before.`with`(span))
    Tracing.Opened(span, before)

object Tracing:
  /** A value of an attribute. */
  type Value = String | Long | Int | Double | Boolean

  /** Returns the spans of the instrumentation scope `name`, such as the name of the program, by
    * `telemetry`.
    */
  def apply(telemetry: OpenTelemetry, name: String): Tracing =
    new Tracing(telemetry.getTracer(name), telemetry.getPropagators.getTextMapPropagator)

  /** As `apply`, by the OpenTelemetry of this JVM: that of the Java agent, or the one that the
    * program has set. Without either, spans cost little and are not exported.
    */
  def global(name: String): Tracing = apply(GlobalOpenTelemetry.get, name)

  private final class Opened(span: Span, before: Context):
    def end(outcome: Outcome[Any]): Unit =
      outcome match
        case Outcome.Failed(error) =>
          span.setAttribute("error.type", error.getClass.getName)
          span.recordException(error)
          span.setStatus(StatusCode.ERROR, String.valueOf(error.getMessage))
        case Outcome.Canceled =>
          span.setAttribute("error.type", "cancelled")
          span.setStatus(StatusCode.ERROR, "cancelled")
        case Outcome.Succeeded(_) => ()
      span.end()
      OtelHook.attach(before)

  private object Headers extends TextMapGetter[Iterable[(String, String)]]:
    def keys(carrier: Iterable[(String, String)]): java.lang.Iterable[String] =
      carrier.map(_._1).asJava
    def get(carrier: Iterable[(String, String)] | Null, key: String): String | Null =
      carrier.nn.collectFirst { case (name, value) if name.equalsIgnoreCase(key) => value }.orNull

extension [A](task: Task[A])
  /** Runs this task in a span: see `Tracing.span`. */
  def span(name: String, attributes: (String, Tracing.Value)*)(using tracing: Tracing): Task[A] =
    tracing.span(name, attributes)(task)
