package weir.otel

import java.nio.file.Path
import java.util.concurrent.TimeUnit
import weir.{Tier, WeirSuite}

/** Starts a JVM with the Java agent of OpenTelemetry. */
class AgentSuite extends WeirSuite:

  // `ServiceSuite` shows the same of a whole service.
  if Tier.isLong then
    test("with the Java agent, each span is in the trace of its request"):
      val agent = System.getProperty("weir.otel.agent")
      assert(Path.of(agent).toFile.exists, agent)
      val java = Path.of(System.getProperty("java.home"), "bin", "java").toString
      val process = ProcessBuilder(
        java,
        s"-javaagent:$agent",
        "-Dotel.traces.exporter=none",
        "-Dotel.metrics.exporter=none",
        "-Dotel.logs.exporter=none",
        "-XX:TieredStopAtLevel=1",
        "-cp",
        System.getProperty("java.class.path"),
        "weir.otel.AgentProgram"
      ).redirectErrorStream(true).start()
      val output = String(process.getInputStream.readAllBytes())
      assert(process.waitFor(60, TimeUnit.SECONDS), "the program did not end in 60 s")
      assert(output.contains("200 requests, 200 traces, 0 spans in another's trace"), output)
      assertEquals(process.exitValue, 0, output)
      assert(!output.contains("which does not follow fibers"), output)

  test("without the agent and without an OpenTelemetry, spans go nowhere and tasks run"):
    given Tracing = Tracing.global("test")
    assertEquals(weir.Task(1).span("nothing").runSync(), 1)
