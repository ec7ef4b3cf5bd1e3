package weir.lab.scale

import weir.program.Systems

/** A JVM that measures some rows on one system, with one number of carriers. */
private[lab] final case class ScaleStep(system: String, carriers: Int, rows: Vector[ScaleRow]):
  /** `weir, 4 carriers`. */
  def label: String = s"$system, ${ScaleStep.count(carriers)}"

  /** The case of one of its rows. */
  def of(row: ScaleRow): ScaleReport.Case = ScaleReport.Case(system, row, carriers)

private[lab] object ScaleStep:
  /** All steps, the most important first: Weir with every number of carriers, then the rivals. Of
    * the carriers one comes first, since all others are compared with it, then the most.
    */
  def all(systems: Seq[String], carriers: Seq[Int], rows: Seq[ScaleRow]): Vector[ScaleStep] =
    val sorted = carriers.distinct.sorted.toVector
    val counts = (sorted.take(1) ++ sorted.reverse).distinct
    val (weir, rivals) = systems.partition(_ == Systems.weir)
    val ordered = weir.flatMap(system => counts.map(system -> _)) ++
      counts.flatMap(count => rivals.map(_ -> count))
    ordered.toVector
      .map((system, count) => ScaleStep(system, count, rowsOf(system, rows)))
      .filter(_.rows.nonEmpty)

  private def rowsOf(system: String, rows: Seq[ScaleRow]): Vector[ScaleRow] =
    rows.filter(_.systems.contains(system)).toVector

  def count(carriers: Int): String = if carriers == 1 then "1 carrier" else s"$carriers carriers"
