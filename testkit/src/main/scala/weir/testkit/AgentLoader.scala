package weir.testkit

import java.io.OutputStream
import java.lang.instrument.Instrumentation
import java.nio.file.{Files, Path}
import java.util.concurrent.TimeUnit
import java.util.jar.{Attributes, JarEntry, JarOutputStream, Manifest}
import scala.util.Using
import weir.testkit.agent.{Agent, Attach}

/** Gets this JVM's `Instrumentation`: from the option `-javaagent`, or by loading the agent into
  * this JVM from a second JVM, since no JVM may attach to itself.
  */
private[testkit] object AgentLoader:

  def load(): Instrumentation =
    if present eq null then attach()
    present match
      case instrumentation: Instrumentation => instrumentation
      case _ => throw refused("the agent was loaded, but has not reported")

  private def present: AnyRef | Null = System.getProperties.get(Agent.KEY)

  private def attach(): Unit =
    val jar = Files.createTempFile("weir-testkit-agent", ".jar")
    try
      write(jar)
      val java = Path.of(System.getProperty("java.home"), "bin", "java").toString
      val self = ProcessHandle.current.pid.toString
      val process = ProcessBuilder(
        java,
        "-XX:TieredStopAtLevel=1",
        "-cp",
        jar.toString,
        classOf[Attach].getName,
        self,
        jar.toString
      )
        .redirectErrorStream(true)
        .start()
      val output = String(process.getInputStream.readAllBytes())
      if !process.waitFor(60, TimeUnit.SECONDS) then process.destroyForcibly(): Unit
      if process.exitValue != 0 then throw refused(output.trim)
    finally jar.toFile.deleteOnExit() // the JVM keeps it open

  private def write(jar: Path): Unit =
    val manifest = Manifest()
    val attributes = manifest.getMainAttributes
    attributes.put(Attributes.Name.MANIFEST_VERSION, "1.0"): Unit
    attributes.putValue("Agent-Class", classOf[Agent].getName): Unit
    attributes.putValue("Can-Retransform-Classes", "true"): Unit
    Using.resource(JarOutputStream(Files.newOutputStream(jar), manifest)) { out =>
      for part <- List(classOf[Agent], classOf[Attach]) do
        val name = part.getName.replace('.', '/') + ".class"
        out.putNextEntry(JarEntry(name))
        copy(part, out)
    }

  private def copy(part: Class[?], to: OutputStream): Unit =
    Using.resource(part.getResourceAsStream(part.getSimpleName + ".class"))(_.transferTo(to)): Unit

  private def refused(why: String): IllegalStateException = IllegalStateException(
    s"TestRuntime: the test kit's agent could not be loaded into this JVM: $why. Virtual time " +
      "needs the agent to see the timed waits of code that blocks. Start the JVM of the tests " +
      "with -XX:+EnableDynamicAgentLoading, on a JDK that has the module jdk.attach, or with " +
      "-javaagent: and the path of the jar of weir-testkit."
  )
