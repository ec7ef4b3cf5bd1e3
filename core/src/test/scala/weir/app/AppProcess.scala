package weir.app

import java.io.{BufferedReader, InputStreamReader}
import java.nio.file.{Files, Path}
import java.util.concurrent.TimeUnit
import scala.jdk.CollectionConverters.*
import sun.misc.Signal
import weir.WeirSuite

/** `AppUnderTest`, or another program, in a JVM of its own, to which signals are sent. */
final class AppProcess(
    scenario: String,
    deadlineMillis: Long,
    program: String = "weir.app.AppUnderTest"
) extends AutoCloseable:
  private val errors = Files.createTempFile("weir-app", ".txt")
  private val process =
    val java = ProcessHandle.current().info().command().orElse("java")
    val command =
      (java +: WeirSuite.quickStart) ++ Seq(s"-DdeadlineMillis=$deadlineMillis", "-cp") ++
        Seq(System.getProperty("java.class.path"), program, scenario)
    ProcessBuilder(command.asJava).redirectError(errors.toFile).start()
  private val lines = BufferedReader(InputStreamReader(process.getInputStream))

  /** Waits until the process prints `line`; false if it ends without. */
  def prints(line: String): Boolean =
    Iterator.continually(lines.readLine()).takeWhile(_ ne null).contains(line)

  /** Returns the lines that were not read yet, up to its end. */
  def rest(): List[String] = Iterator.continually(lines.readLine()).takeWhile(_ ne null).toList

  def signal(name: String): Unit =
    ProcessBuilder("kill", s"-$name", process.pid.toString).start().waitFor(): Unit

  def exitCode(): Int =
    if process.waitFor(15, TimeUnit.SECONDS) then process.exitValue
    else
      process.destroyForcibly().waitFor(): Unit
      -1

  def stderr(): String = Files.readString(errors)

  def close(): Unit =
    process.destroyForcibly().waitFor(): Unit
    Files.deleteIfExists(errors): Unit

object AppProcess:
  /** Returns false if the process that runs the tests ignores the signal, as under `nohup`, or as a
    * background job of a shell: its children then ignore it too.
    */
  def hears(signal: String): Boolean =
    val bit = 1L << (Signal(signal).getNumber - 1)
    val status = Path.of("/proc/self/status")
    !Files.exists(status) || Files.readAllLines(status).asScala.exists { line =>
      line.startsWith("SigIgn:") &&
      (java.lang.Long.parseUnsignedLong(line.drop(7).trim, 16) & bit) == 0
    }
