package weir.lab.scale

import java.time.Instant
import scala.util.Try

import weir.program.Result

/** The figures of a run of `weir scale` so far, and the plan of the run.
  *
  * @param notes
  *   the facts that a reader must know about the machine, a sentence each
  * @param planned
  *   every JVM that the run planned to start, most important first
  * @param problems
  *   the reasons for missing figures, a line each
  * @param hasEnded
  *   true if the run ended by itself; if not, it goes on or was cut off
  */
private[lab] final case class ScaleReport(
    commit: String,
    jdk: String,
    cpus: Int,
    at: Instant,
    notes: Vector[String],
    planned: Vector[ScaleStep],
    results: Vector[Result] = Vector.empty,
    problems: Vector[String] = Vector.empty,
    hasEnded: Boolean = false
):
  /** The numbers of carriers that there are figures with, from the least. */
  lazy val carriers: Vector[Int] = figures.keys.map(_.carriers).toVector.distinct.sorted

  /** Operations a second. */
  lazy val figures: Map[ScaleReport.Case, Double] =
    results.filter(_.unit == ScaleReport.speedUnit).flatMap(ScaleReport.keyed).toMap

  /** Returns the counts of `row` on `system`, in the order of [[ScaleCount]]: the value for each
    * number of carriers. Counts that are zero everywhere are left out.
    */
  def counts(row: ScaleRow, system: String): Vector[(ScaleCount, Map[Int, Double])] =
    val own = results.filter(_.system == system)
    for
      count <- ScaleCount.values.toVector
      values = own
        .filter(_.unit == count.unit)
        .flatMap(ScaleReport.keyed)
        .collect { case (key, value) if key.row == row => key.carriers -> value }
      if values.exists(_._2 > 0)
    yield count -> values.toMap

  /** Returns the factor between its operations a second and those with one carrier; none without
    * those.
    */
  def speedUp(at: ScaleReport.Case): Option[Double] =
    figures.get(at).zip(figures.get(at.copy(carriers = 1))).map(_ / _)

  /** Returns the rows that were planned and have no figure, by the JVM that was to measure them. */
  def missing: Vector[ScaleStep] =
    planned
      .map(step => step.copy(rows = step.rows.filterNot(row => figures.contains(step.of(row)))))
      .filter(_.rows.nonEmpty)

  def toJson: ujson.Obj =
    ujson.Obj(
      "command" -> "scale",
      "commit" -> commit,
      "jdk" -> jdk,
      "cpus" -> cpus,
      "at" -> at.toString,
      "hasEnded" -> hasEnded,
      "notes" -> ujson.Arr.from(notes.map(ujson.Str(_))),
      "problems" -> ujson.Arr.from(problems.map(ujson.Str(_))),
      "planned" -> ujson.Arr.from(planned.map(ScaleReport.json)),
      "results" -> ujson.Arr.from(results.map(_.toJson))
    )

private[lab] object ScaleReport:
  private val speedUnit = "ops/s"

  /** The row and the conditions of a figure. */
  final case class Case(system: String, row: ScaleRow, carriers: Int)

  /** Returns the report that `text` is. None if it is not one of `weir scale`. */
  def parse(text: String): Option[ScaleReport] =
    for
      json <- Try(ujson.read(text)).toOption
      if Try(json("command").str).toOption.contains("scale")
      report <- Try(fromJson(json)).toOption
    yield report

  private def fromJson(json: ujson.Value): ScaleReport =
    ScaleReport(
      json("commit").str,
      json("jdk").str,
      json("cpus").num.toInt,
      Instant.parse(json("at").str),
      texts(json("notes")),
      json("planned").arr.toVector.map(step),
      json("results").arr.toVector.map(Result.fromJson),
      texts(json("problems")),
      json("hasEnded").bool
    )

  private def texts(json: ujson.Value): Vector[String] = json.arr.toVector.map(_.str)

  private def json(step: ScaleStep): ujson.Value =
    val rows = ujson.Arr.from(step.rows.map(row => ujson.Str(row.id)))
    ujson.Obj("system" -> step.system, "carriers" -> step.carriers, "rows" -> rows)

  /** Without the rows that this program does not know, of another version. */
  private def step(json: ujson.Value): ScaleStep =
    val rows = texts(json("rows")).flatMap(id => ScalePlan.rows.find(_.id == id))
    ScaleStep(json("system").str, json("carriers").num.toInt, rows)

  private def keyed(result: Result): Option[(Case, Double)] =
    ScalePlan
      .parseCase(result.name)
      .map((row, carriers) => Case(result.system, row, carriers) -> result.value)
