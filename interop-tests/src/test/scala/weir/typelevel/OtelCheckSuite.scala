package weir.typelevel

import io.opentelemetry.context.{Context, ContextKey}
import java.io.{ByteArrayOutputStream, PrintStream}
import weir.{ContextHook, Task, WeirRuntime, WeirSuite}

/** OpenTelemetry is on the class path of these tests, `weir-otel` is not. */
class OtelCheckSuite extends WeirSuite:
  private val context = Context.root.`with`(ContextKey.named[String]("key"), "value")

  private def printed(body: => Unit): String =
    val out = ByteArrayOutputStream()
    val before = System.err
    System.setErr(PrintStream(out, true))
    try body
    finally System.setErr(before)
    out.toString

  private def runtime(hook: ContextHook | Null): WeirRuntime =
    val made = WeirRuntime.hooked(carriers = 1, ringCapacity = 16, hook)
    made.otelCheck = ContextHook.OtelCheck.make()
    made

  private def runWithContext(runtime: WeirRuntime): Unit =
    val scope = context.makeCurrent()
    try Task.unit.runSync()(using runtime)
    finally scope.close()

  test("a task that runs with a context that does not follow fibers prints a warning, once"):
    val own = runtime(null)
    val text = printed {
      Task.unit.runSync()(using own) // without a context: nothing yet
      runWithContext(own)
      runWithContext(own)
    }
    assertEquals(text.linesIterator.size, 1, text)
    assert(text.contains("weir-otel"), text)

  test("also with a hook of another library"):
    val other = new ContextHook:
      def capture(): AnyRef | Null = null
      def install(context: AnyRef | Null): Unit = ()
    assert(printed(runWithContext(runtime(other))).contains("weir-otel"))

  test("not with a hook that takes the context along"):
    val follows = new ContextHook:
      def capture(): AnyRef | Null = Context.current
      def install(context: AnyRef | Null): Unit =
        (if context eq null then Context.root else context.asInstanceOf[Context])
          .makeCurrent(): Unit
    assertEquals(printed(runWithContext(runtime(follows))), "")
