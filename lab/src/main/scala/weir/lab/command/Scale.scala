package weir.lab.command

import java.util.concurrent.Callable
import scala.concurrent.duration.*

import picocli.CommandLine.{Command, Mixin, Option as Opt, Spec}
import picocli.CommandLine.Model.CommandSpec

import weir.lab.LabOptions
import weir.lab.scale.{Bundle, Processors, ScaleFiles, ScaleJob, ScalePlan, ScaleRow, ScaleTables}
import weir.program.{BadInput, OptionValue}

/** `weir scale`: its options, and nothing else. */
@Command(
  name = "scale",
  sortOptions = false,
  description = Array(
    "Measure the speed with more and more processors, on Weir and on the rivals' runtimes.",
    "",
    "Each system runs with one carrier, with two, and so on, in JVMs that may use as many " +
      "processors. Each row has the operations a second and the speed-up over one carrier. The " +
      "time is divided among all measurements, with Weir first. The files of --json and " +
      "--report are written while the run goes on.",
    ""
  ),
  footer = Array(
    "",
    "Exit code: 0, 1 when a figure is missing, 2 for bad input, 130 after Ctrl-C.",
    ""
  )
)
final class Scale extends Callable[Int]:
  @Spec
  private[command] var spec: CommandSpec = scala.compiletime.uninitialized

  @Mixin
  private[command] var lab: LabOptions = new LabOptions

  @Opt(
    names = Array("--carriers"),
    paramLabel = "N[,N]",
    description = Array(
      "The numbers of carriers to run with. Default: 1,2,4,8,16,32 up to the number of " +
        "processors, and that number; with --quick, the first and the last of these."
    )
  )
  private[command] var carriers: String | Null = null

  @Opt(
    names = Array("--counts"),
    description = Array(
      "Count how Weir's carriers disturb each other: contended CAS, lock waits, wake-ups, " +
        "hand-overs. That costs speed. It also allows more carriers than processors."
    )
  )
  private[command] var isCounting: Boolean = false

  @Opt(
    names = Array("--rows"),
    paramLabel = "ROW[,ROW]",
    description = Array("Measure these rows only, for example: --rows fork-tree,queue-pairs")
  )
  private[command] var rows: String | Null = null

  @Opt(
    names = Array("--minutes"),
    paramLabel = "N",
    description = Array("End within this number of minutes. Default: 7; with --quick, 1.")
  )
  private[command] var minutes: String | Null = null

  @Opt(
    names = Array("--bundle"),
    paramLabel = "FILE.tar.gz",
    description = Array(
      "Measure nothing. Write everything that a run on another Linux machine needs, " +
        "including a JDK, with a script run.sh [MINUTES] [FOLDER] that writes the results to " +
        "the folder."
    )
  )
  private[command] var bundle: String | Null = null

  @Opt(
    names = Array("--read"),
    paramLabel = "FOLDER",
    description = Array("Measure nothing. Show the results in a folder of run.sh.")
  )
  private[command] var read: String | Null = null

  @Opt(
    names = Array("--markdown"),
    description = Array("With --read: show the tables as Markdown.")
  )
  private[command] var isMarkdown: Boolean = false

  def call(): Int =
    val line = spec.commandLine
    (Option(bundle), Option(read)) match
      case (Some(_), Some(_)) =>
        throw BadInput("--bundle", "it is given together with --read.", "Give one of them.")
      case (Some(file), None) =>
        Bundle.write(OptionValue.target("--bundle", file), line.getOut)
        0
      case (None, Some(folder)) => show(folder)
      case (None, None) =>
        if isMarkdown then throw BadInput("--markdown", "it needs --read.", "Add --read FOLDER.")
        ScaleJob(settings, line.getOut, line.getErr).run()

  /** Returns the exit code: 1 if figures are missing. */
  private def show(name: String): Int =
    val out = spec.commandLine.getOut
    val folder = OptionValue.path("--read", name)
    val files = lab.checked()
    val report = ScaleFiles.read(folder)
    if isMarkdown then ScaleTables.markdown(report).foreach(out.println)
    else (ScaleFiles.machineOf(folder) ++ ScaleTables.lines(report)).foreach(out.println)
    ScaleFiles.write(report, files)
    if report.missing.isEmpty then 0 else 1

  private[lab] def settings: ScaleJob.Settings =
    val processors = Processors.here()
    val (counts, notes) = carrierCounts(processors.order.size)
    ScaleJob.Settings(
      systems = lab.systems(ScalePlan.systems),
      carriers = counts,
      rows = Option(rows).fold(ScalePlan.rows)(rowsOf),
      time = time,
      isCounting = isCounting,
      notes = notes,
      processors = processors,
      lab = lab.checked()
    )

  private def time: FiniteDuration =
    val usual = if lab.isQuick then "1" else "7"
    OptionValue.count("--minutes", Option(minutes).getOrElse(usual), 1, 24 * 60).minutes

  /** Returns the numbers of carriers that this machine can run, and messages about the others. */
  private def carrierCounts(processors: Int): (Vector[Int], Vector[String]) =
    val asked = Option(carriers).fold(usualCarriers(processors)): text =>
      text.split(",", -1).toVector.map(OptionValue.count("--carriers", _, 1, 1024)).distinct.sorted
    val (possible, more) = asked.partition(_ <= processors)
    val has =
      s"This machine has ${if processors == 1 then "1 processor" else s"$processors processors"}"
    if more.isEmpty then (asked, Vector.empty)
    else if isCounting then
      (asked, Vector(s"$has: with more carriers only the counts say something, not the speed."))
    else
      val counts = if possible.isEmpty then Vector(processors) else possible
      val left = s"$has, so it is not measured with ${more.mkString(", ")} carriers."
      (counts, Vector(left))

  private def usualCarriers(processors: Int): Vector[Int] =
    val all = (Vector(1, 2, 4, 8, 16, 32).filter(_ < processors) :+ processors)
    if lab.isQuick then Vector(all.head, all.last).distinct else all

  /** In their usual order. */
  private def rowsOf(text: String): Vector[ScaleRow] =
    val asked = text.split(",").map(_.trim).filter(_.nonEmpty).toSet
    val there = s"There are: ${ScalePlan.rows.map(_.id).mkString(", ")}."
    if asked.isEmpty then throw BadInput("--rows", "it names no row.", there)
    (asked -- ScalePlan.rows.map(_.id)).headOption.foreach: name =>
      throw BadInput("--rows", s"there is no row '$name'.", there)
    ScalePlan.rows.filter(row => asked(row.id))
