package weir.program.report

import java.nio.file.Path
import java.time.Instant

import weir.program.{Result, ResultFile}

/** The figures of a command and the machine: the content of a report of any form. */
final case class RunReport(
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
    */
  def write(json: Option[Path] = None, report: Option[Path] = None): Unit =
    ResultFile.all(writes(json, report))

  /** Returns what writes each file that is asked for, for [[ResultFile.all]]. */
  def writes(json: Option[Path], report: Option[Path]): Seq[() => Unit] =
    val ofJson = json.map: file =>
      () => ResultFile("--json", file).write(ujson.write(toJson, indent = 2) + "\n")
    val ofPage = report.map: file =>
      () => ResultFile("--report", file).write(HtmlReport.page(this, Instant.now()))
    ofJson.toSeq ++ ofPage

  def toJson: ujson.Obj =
    ujson.Obj(
      "command" -> command,
      "commit" -> commit,
      "jdk" -> jdk,
      "cpus" -> cpus,
      "seed" -> seed.toString, // a string, since not every reader has 64-bit integers
      "results" -> ujson.Arr.from(results.map(_.toJson))
    )

object RunReport:
  /** Returns the report of a run on this machine. */
  def of(command: String, seed: Long, results: Seq[Result]): RunReport =
    RunReport(
      command,
      sys.props.getOrElse("weir.commit", "unknown"),
      Runtime.version.toString,
      Runtime.getRuntime.availableProcessors,
      seed,
      results
    )
