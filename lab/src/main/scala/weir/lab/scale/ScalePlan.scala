package weir.lab.scale

import weir.program.{Result, Systems}

/** The protocol between the command `scale` and its measuring JVMs.
  *
  * A JVM is started as `scale SYSTEM row=ID,ID carriers=N warm=MILLIS round=MILLIS rounds=K`, with
  * `flags(N)`. It warms up all rows by turns, each for `warm`, and then measures one after the
  * other. For each row it reports, as soon as it is measured, one result of the unit `ops/s`, the
  * median of its rounds, and then one for each [[ScaleCount]] of those rounds. A row that fails is
  * reported as failed, and the next one follows.
  */
object ScalePlan:
  val experiment = "scale"

  val rows: Vector[ScaleRow] = ScaleRow.values.toVector

  /** In the order of tables and charts. */
  val systems: Vector[String] = rows.flatMap(_.systems).distinct.sortBy(Systems.order)

  /** Returns the rows that `system` has. */
  def rowsOf(system: String): Vector[ScaleRow] = rows.filter(_.systems.contains(system))

  /** Returns the name in results, as in `fork-tree: 16`. */
  def caseOf(row: ScaleRow, carriers: Int): String = s"${row.id}: $carriers"

  /** Returns the row and the carriers of a name in results; none if it is another's. */
  def parseCase(name: String): Option[(ScaleRow, Int)] =
    name.split(": ", 2) match
      case Array(id, carriers) =>
        rows.find(_.id == id).zip(carriers.toIntOption)
      case _ => None

  /** Returns the flags of a JVM in which every system sees `carriers` processors. */
  def flags(carriers: Int): Vector[String] =
    Vector(
      s"-XX:ActiveProcessorCount=$carriers",
      s"-Djdk.virtualThreadScheduler.parallelism=$carriers",
      s"-Djdk.virtualThreadScheduler.maxPoolSize=${math.max(256, carriers)}"
    )

  /** The flag of a JVM in which Weir counts too, which takes it some time: [[ScaleCount]]. */
  val countingFlag = "-Dweir.counters=true"

  /** Why a row that comes after an endless one has failed; another JVM may measure it. */
  val notBegun = "it is not begun"

  /** Returns the speed of a row: `operations` a second. */
  def speed(row: ScaleRow, carriers: Int, system: String, operations: Double): Result =
    Result.opsPerSecond(caseOf(row, carriers), system, operations)

  /** Returns the value of a count, in its unit. */
  def counted(
      row: ScaleRow,
      carriers: Int,
      system: String,
      count: ScaleCount,
      value: Double
  ): Result =
    Result(caseOf(row, carriers), system, value, count.unit, Result.lower)
