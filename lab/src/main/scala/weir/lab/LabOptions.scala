package weir.lab

import java.nio.file.Path
import scala.util.matching.Regex

import picocli.CommandLine.Option as Opt

import weir.lab.report.SvgChart
import weir.program.{BadInput, OptionValue, Result, ResultFile, Systems}
import weir.program.report.RunReport

/** The options that all measuring commands take; a picocli mixin. */
final class LabOptions:
  @Opt(
    names = Array("--only"),
    paramLabel = "SYSTEM[,SYSTEM]",
    description = Array("Measure only these systems, for example: --only weir")
  )
  private[lab] var only: String | Null = null

  @Opt(names = Array("--quick"), description = Array("Measure less, and end within a minute."))
  private[lab] var isQuick: Boolean = false

  @Opt(
    names = Array("--seed"),
    paramLabel = "N",
    description = Array("The seed of everything that is random. Default: 1.")
  )
  private[lab] var seedText: String = "1"

  @Opt(
    names = Array("--json"),
    paramLabel = "FILE",
    description = Array("Also write the results to this file, as JSON.")
  )
  private[lab] var jsonText: String | Null = null

  @Opt(
    names = Array("--report"),
    paramLabel = "FILE.html",
    description = Array("Also write the results to this file, as a page with charts.")
  )
  private[lab] var reportText: String | Null = null

  @Opt(
    names = Array("--chart"),
    paramLabel = "FILE.svg",
    description = Array("Also draw the charts into this file, as a picture; --chart-of chooses.")
  )
  private[lab] var chartText: String | Null = null

  @Opt(
    names = Array("--chart-of"),
    paramLabel = "REGEX",
    description = Array("Draw only the cases whose names match this.")
  )
  private[lab] var chartOf: String | Null = null

  /** Returns the seed, and the files that results go to; call it before any work.
    *
    * **Fails** with [[BadInput]].
    */
  def checked(): LabOptions.Checked =
    LabOptions.Checked(
      seed = OptionValue.number("--seed", seedText, Long.MinValue, Long.MaxValue),
      isQuick = isQuick,
      json = Option(jsonText).map(OptionValue.target("--json", _)),
      report = Option(reportText).map(OptionValue.target("--report", _)),
      chart = Option(chartText).map(OptionValue.target("--chart", _)),
      chartOf = OptionValue.regex("--chart-of", Option(chartOf).getOrElse(""))
    )

  /** Returns the systems of `known` that are asked for, in their usual order. `bound` cannot be
    * chosen, and is left out.
    *
    * **Fails** with [[BadInput]] if another is named, or none.
    */
  def systems(known: Iterable[String]): Vector[String] =
    val possible = known.filter(_ != Systems.bound).toVector.distinct.sortBy(Systems.order)
    Option(only).map(_.split(",").map(_.trim).filter(_.nonEmpty).toVector) match
      case None => possible
      case Some(asked) =>
        val there = s"There are: ${possible.mkString(", ")}."
        if asked.isEmpty then throw BadInput("--only", "it names no system.", there)
        asked.find(!possible.contains(_)).foreach { name =>
          throw BadInput("--only", s"there is no system '$name' here.", there)
        }
        possible.filter(asked.contains)

object LabOptions:
  final case class Checked(
      seed: Long,
      isQuick: Boolean,
      json: Option[Path] = None,
      report: Option[Path] = None,
      chart: Option[Path] = None,
      chartOf: Regex = "".r
  ):
    /** Writes the files that are asked for, and returns the exit code: 1 if figures are missing. */
    def hand(command: String, results: Seq[Result], isComplete: Boolean): Int =
      write(RunReport.of(command, seed, results))
      if isComplete then 0 else 1

    /** Writes the files that are asked for, each even if another cannot be written.
      *
      * **Fails** with [[ResultFile.NotWritten]].
      */
    def write(report: RunReport): Unit =
      val drawn = report.results.filter(result => chartOf.findFirstIn(result.name).nonEmpty)
      val ofChart = chart.map: file =>
        () => ResultFile("--chart", file).write(SvgChart.draw(report.copy(results = drawn)))
      ResultFile.all(report.writes(json, this.report) ++ ofChart)
