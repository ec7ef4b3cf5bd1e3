package weir.otel

import io.opentelemetry.api.GlobalOpenTelemetry
import io.opentelemetry.api.trace.Span
import scala.concurrent.duration.*
import weir.Task

/** Runs 200 requests at a time, and prints whether the spans inside of each are in its trace. */
object AgentProgram:
  private given Tracing = Tracing.global("program")

  private val traceId = Task(Span.current.getSpanContext).map { context =>
    if !context.isValid then
      throw IllegalStateException("there is no span: the agent is not active")
    context.getTraceId
  }

  /** Returns the trace of a request, and those of the spans inside of it. */
  private val request: Task[(String, Seq[String])] = Task
    .direct {
      val own = traceId.await
      val steps = Task.parTraverse(1 to 3) { _ =>
        Task.sleep(2.millis).andThen(Task(Thread.sleep(1))).andThen(traceId).span("step")
      }
      (own, steps.await)
    }
    .span("request")

  /** Runs a task where a context is current, as the handler of a server does. */
  private def runInContext(): Unit =
    val span = GlobalOpenTelemetry.getTracer("program").spanBuilder("outside").startSpan()
    val scope = span.makeCurrent()
    try traceId.runSync(): Unit
    finally
      scope.close()
      span.end()

  def main(arguments: Array[String]): Unit =
    runInContext()
    val requests = Task.parTraverse(1 to 200)(_ => request).runSync()
    val traces = requests.map(_._1).distinct.size
    val wrong = requests.map((own, steps) => steps.count(_ != own)).sum
    println(s"${requests.size} requests, $traces traces, $wrong spans in another's trace")
