package weir.lab.bench

import java.io.{BufferedReader, InputStream, InputStreamReader}
import java.nio.file.Path

import weir.lab.Children
import weir.program.StagedJars

/** JMH with the benchmarks of one module, in a JVM of its own. */
final class JmhModule(module: StagedJars):
  import JmhModule.Ended

  /** Returns the names of the benchmarks that JMH chooses with these arguments, as
    * `package.Class.method`.
    */
  def list(arguments: Seq[String]): Ended =
    val lines = Vector.newBuilder[String]
    val code = start("-l" +: arguments, lines += _: Unit)
    Ended(code, lines.result())

  /** JMH's exit code. **Waits** for its end; its output comes line by line. */
  def run(arguments: Seq[String], results: Path, print: String => Unit): Int =
    start(
      arguments ++ Seq("-rf", "json", "-rff", results.toString),
      // It names a file that is about to be read and deleted.
      line => if !line.startsWith("Benchmark result is saved to") then print(line)
    )

  /** Runs JMH with these arguments, passes its output to `print`, and returns its exit code. */
  def ask(arguments: Seq[String], print: String => Unit): Int = start(arguments, print)

  private def start(arguments: Seq[String], print: String => Unit): Int =
    val flags = "--sun-misc-unsafe-memory-access=allow" +: module.flags
    val command =
      Seq(Children.java) ++ flags ++ Seq("-cp", module.classPath) ++
        Seq("weir.program.Attached", "org.openjdk.jmh.Main") ++ arguments
    val process = Children.start(ProcessBuilder(command*).redirectErrorStream(true))
    try
      lines(process.getInputStream).foreach(print)
      process.waitFor()
    finally Children.end(process)

  private def lines(input: InputStream): Iterator[String] =
    val reader = BufferedReader(InputStreamReader(input))
    Iterator.continually(reader.readLine()).takeWhile(_ != null)

object JmhModule:
  /** All that JMH printed. */
  final case class Ended(exitCode: Int, lines: Vector[String]):
    def benchmarks: Vector[String] = lines.filter(_.startsWith("weir."))

  val all: Vector[JmhModule] = Vector(JmhModule(StagedJars.bench), JmhModule(StagedJars.benchCe2))
