package weir.cli.lab

import java.nio.file.{Files, Path}
import java.time.Instant

import weir.cli.lab.report.{HtmlReport, SvgChart}
import weir.lab.Result

/** What a command measured, and where: all that reports of any form say. */
final case class LabReport(
    command: String,
    commit: String,
    jdk: String,
    cpus: Int,
    seed: Long,
    results: Seq[Result]
):
  def writeJson(file: Path): Unit =
    val _ = Files.writeString(file, ujson.write(toJson, indent = 2) + "\n")

  def writeHtml(file: Path): Unit =
    val _ = Files.writeString(file, HtmlReport.page(this, Instant.now()))

  def writeSvg(file: Path): Unit =
    val _ = Files.writeString(file, SvgChart.draw(this))

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
  /** The report of a run on this machine. */
  def of(command: String, seed: Long, results: Seq[Result]): LabReport =
    LabReport(
      command,
      sys.props.getOrElse("weir.commit", "unknown"),
      Runtime.version.toString,
      Runtime.getRuntime.availableProcessors,
      seed,
      results
    )
