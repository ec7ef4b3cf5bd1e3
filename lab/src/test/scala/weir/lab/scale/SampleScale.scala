package weir.lab.scale

import java.time.Instant

import weir.program.Result

/** Reports of `weir scale` with made-up figures. */
object SampleScale:
  val rows: Vector[ScaleRow] = Vector(ScaleRow.ForkTree, ScaleRow.Mutex, ScaleRow.ParEvalMap1)
  val carriers: Vector[Int] = Vector(1, 2, 4, 8, 16)

  def report(results: Vector[Result], planned: Vector[ScaleStep]): ScaleReport =
    ScaleReport(
      "abc1234",
      "25.0.3+9-LTS",
      16,
      Instant.parse("2026-02-03T04:05:06Z"),
      Vector("The machine is \"small\" & <new>."),
      planned,
      results,
      hasEnded = true
    )

  /** Every system with all rows that it has, Weir's counts among them. */
  val whole: ScaleReport =
    val steps = ScaleStep.all(ScalePlan.systems, carriers, rows)
    val results = for
      (step, index) <- steps.zipWithIndex
      row <- step.rows
      result <- figures(step, row, 1_234_567.0 + 1_000 * index)
    yield result
    report(results, steps)

  private def figures(step: ScaleStep, row: ScaleRow, ofOne: Double): Vector[Result] =
    val power = if row.spreads then 0.9 else -0.3
    val speed = ofOne * math.pow(step.carriers, power)
    val counts = Option.when(step.system == "weir")(
      ScalePlan.counted(row, step.carriers, "weir", ScaleCount.ContendedCas, step.carriers - 1.0)
    )
    ScalePlan.speed(row, step.carriers, step.system, speed) +: counts.toVector
