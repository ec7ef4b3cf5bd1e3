package weir.program

import java.io.{BufferedReader, InputStreamReader, OutputStream}
import java.lang.ProcessBuilder.Redirect
import java.nio.file.Path
import java.util.concurrent.TimeUnit

/** The program in a process of its own, to be killed. It is killed after some minutes in any case,
  * so that a test which waits for a line that never comes fails.
  */
final class ChildJvm private (process: Process, log: Path):
  process.onExit
    .orTimeout(ChildJvm.longestMinutes, TimeUnit.MINUTES)
    .exceptionally(_ => process.destroyForcibly()): Unit

  private val lines = BufferedReader(InputStreamReader(process.getInputStream))

  def pid: Long = process.pid

  def isAlive: Boolean = process.isAlive

  /** Its standard input. */
  def stdin: OutputStream = process.getOutputStream

  /** The next line it prints, or none when it has ended. */
  def readLine(): Option[String] = Option(lines.readLine())

  /** Closes the reader's end of its output. */
  def closeOutput(): Unit = lines.close()

  def readRest(): String =
    Iterator.continually(readLine()).takeWhile(_.nonEmpty).flatten.mkString("\n")

  /** Sends the signal that Ctrl-C sends. */
  def interrupt(): Unit =
    val _ = ProcessBuilder("kill", "-INT", pid.toString).start().waitFor()

  /** Asks it politely to end. Unlike Ctrl-C, this also reaches what a shell has put into the
    * background.
    */
  def terminate(): Unit = process.toHandle.destroy(): Unit

  /** SIGKILL: no finalizer runs. */
  def kill(): Unit =
    val _ = process.destroyForcibly().waitFor()

  def exitCode(): Int =
    if !process.waitFor(1, TimeUnit.MINUTES) then
      kill()
      sys.error(s"weir did not end; see $log")
    process.exitValue

object ChildJvm:
  private val longestMinutes = 4

  private val startsFast = sys.props.get("weir.child").toSeq.flatMap(_.split(" "))

  /** `weir` with `args`; what it prints as errors goes to `log`. */
  def weir(log: Path, args: String*): ChildJvm = weir(log, Nil, Redirect.PIPE, args)

  /** The same, with options for its JVM, with what its standard input and output are, with more in
    * its environment, and through a command that starts it.
    */
  def weir(
      log: Path,
      flags: Seq[String],
      stdin: Redirect,
      args: Seq[String],
      environment: Map[String, String] = Map.empty,
      stdout: Redirect = Redirect.PIPE,
      through: Seq[String] = Nil
  ): ChildJvm =
    val java = Path.of(sys.props("java.home"), "bin", "java").toString
    val command = through ++
      Seq(java, "--enable-native-access=ALL-UNNAMED") ++ ChildJvm.startsFast ++ flags ++
      Seq("-cp", sys.props("java.class.path"), "weir.program.Main") ++ args
    val builder = ProcessBuilder(command*).redirectError(log.toFile).redirectInput(stdin)
    val _ = builder.redirectOutput(stdout)
    environment.foreach((name, value) => builder.environment.put(name, value))
    ChildJvm(DefaultInterrupt.during(builder.start()), log)
