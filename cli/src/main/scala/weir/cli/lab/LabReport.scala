package weir.cli.lab

import java.nio.file.Path
import java.time.Instant
import scala.util.matching.Regex

import weir.cli.ResultFile
import weir.cli.lab.report.{HtmlReport, SvgChart}
import weir.lab.Result

/** The figures of a command and the machine: the content of a report of any form. */
final case class LabReport(
    command: String,
    commit: String,
    jdk: String,
    cpus: Int,
    seed: Long,
    results: Seq[Result]
):
  /** Writes the files that are asked for, each even if another cannot be written.
    *
    * **Fails** with [[ResultFile.NotWritten]].
    *
    * @param chartOf
    *   selects the cases to draw: those in whose name it is found
    */
  def write(
      json: Option[Path] = None,
      report: Option[Path] = None,
      chart: Option[Path] = None,
      chartOf: Regex = "".r
  ): Unit =
    val drawn = results.filter(result => chartOf.findFirstIn(result.name).nonEmpty)
    ResultFile.all(
      json.map(file =>
        () => ResultFile("--json", file).write(ujson.write(toJson, indent = 2) + "\n")
      ) ++
        report.map(file =>
          () => ResultFile("--report", file).write(HtmlReport.page(this, Instant.now()))
        ) ++
        chart.map(file =>
          () => ResultFile("--chart", file).write(SvgChart.draw(copy(results = drawn)))
        )
    )

  def toJson: ujson.Obj =
    ujson.Obj(
      "command" -> command,
      "commit" -> commit,
      "jdk" -> jdk,
      "cpus" -> cpus,
      "seed" -> seed.toString, // a string, since not every reader has 64-bit integers
      "results" -> ujson.Arr.from(results.map(_.toJson))
    )

object LabReport:
  /** Returns the report of a run on this machine. */
  def of(command: String, seed: Long, results: Seq[Result]): LabReport =
    LabReport(
      command,
      sys.props.getOrElse("weir.commit", "unknown"),
      Runtime.version.toString,
      Runtime.getRuntime.availableProcessors,
      seed,
      results
    )
