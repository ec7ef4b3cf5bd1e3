package weir.lab.bench

import java.io.PrintWriter
import java.nio.file.{Files, Path}
import java.util.regex.Pattern

import weir.lab.LabOptions
import weir.program.{BadInput, ResultFile, ResultTable}
import weir.program.report.RunReport

/** Runs `weir bench`: asks each module for its benchmarks, runs them, and combines the results. */
final class BenchJob(
    arguments: JmhArguments,
    modules: Vector[JmhModule],
    out: PrintWriter,
    err: PrintWriter
):
  /** Returns the exit code.
    *
    * @param systems
    *   which of the systems that there are to measure
    *
    * **Fails** with [[BadInput]] before anything is measured.
    */
  def run(options: LabOptions.Checked, systems: Iterable[String] => Vector[String]): Int =
    arguments.question match
      case Some(JmhArguments.Question.OfEachModule) => modules.map(ask).max
      case Some(JmhArguments.Question.OfJmh) => ask(modules.head)
      case None => measure(options, systems)

  private def ask(module: JmhModule): Int = module.ask(arguments.forJmh, out.println(_))

  private def measure(
      options: LabOptions.Checked,
      systems: Iterable[String] => Vector[String]
  ): Int =
    val wanted =
      if !options.isQuick then arguments.forJmh
      else if arguments.forJmh.isEmpty then BenchJob.quick :+ BenchJob.quickest
      else BenchJob.quick ++ arguments.forJmh
    val found = modules.map(module => module -> benchmarks(module, wanted))
    if found.forall(_._2.isEmpty) then
      throw BadInput("weir bench", "no benchmark has such a name.", "See weir bench -l.")
    val chosen = systems(found.flatMap(_._2).map(JmhResults.system)).toSet
    val runs = found
      .map((module, names) => module -> names.partition(name => chosen(JmhResults.system(name))))
      .filter((_, names) => names._1.nonEmpty)
    val json = runs.map((module, names) => results(module, wanted ++ without(names._2)))
    val all = ujson.Arr.from(json.flatMap(_.arr))
    val missing = runs.flatMap(_._2._1).diff(all.arr.map(_("benchmark").str).distinct)
    missing.foreach(name => err.println(s"weir bench: no result for $name"))
    val figures = JmhResults.of(all)
    out.println()
    ResultTable.lines(figures).foreach(out.println)
    val written = RunReport.of("bench", options.seed, figures)
    ResultFile.all(
      arguments.results.map(file =>
        () => ResultFile("-rff", file).write(ujson.write(all, indent = 2) + "\n")
      ) ++ Some(() => options.write(written))
    )
    if missing.isEmpty then 0 else 1

  /** Returns the benchmarks that JMH chooses. **Fails** with a [[BadInput]] in JMH's own words. */
  private def benchmarks(module: JmhModule, wanted: Vector[String]): Vector[String] =
    val listed = module.list(wanted)
    val isNoMatch = listed.lines.exists(_.startsWith("No matching benchmarks"))
    if listed.exitCode != 0 && !isNoMatch then
      val words = listed.lines.map(_.trim).filter(_.nonEmpty).headOption.getOrElse("JMH failed")
      throw BadInput("weir bench", s"$words.", "See weir bench -h.")
    listed.benchmarks

  /** JMH can leave out by name, in addition to what chooses. */
  private def without(names: Vector[String]): Vector[String] =
    names.flatMap(name => Vector("-e", s"^${Pattern.quote(name)}$$"))

  private def results(module: JmhModule, wanted: Vector[String]): ujson.Value =
    BenchJob.withFile: file =>
      val exitCode = module.run(wanted, file, out.println(_))
      if exitCode != 0 then err.println(s"weir bench: JMH ended with code $exitCode")
      val text = Files.readString(file)
      if text.isBlank then ujson.Arr() else ujson.read(text)

object BenchJob:
  /** Settings that show that everything works; the figures mean little. */
  private val quick =
    Vector("-f", "1", "-wi", "1", "-w", "200ms", "-i", "2", "-r", "100ms")

  /** The benchmarks that fit into a minute. */
  private val quickest = "[.](Sequence|Gather)"

  private def withFile[A](use: Path => A): A =
    val file = Files.createTempFile("weir-bench", ".json")
    try use(file)
    finally Files.deleteIfExists(file): Unit
