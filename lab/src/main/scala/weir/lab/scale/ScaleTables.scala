package weir.lab.scale

import weir.program.{ResultTable, Systems, TerminalTable, Text}

/** The figures of a report as tables: one for each row, with a line for each system. */
private[lab] object ScaleTables:
  /** Returns the lines for the terminal, followed by the missing figures. */
  def lines(report: ScaleReport): Vector[String] =
    val tables = rowsOf(report).flatMap: row =>
      Vector("", s"${row.title}: operations a second; one is", s"  ${row.operation}") ++
        TerminalTable.lines(header(report), table(report, row))
    tables ++ about(report).flatMap(Vector("", _))

  /** Returns the lines for a page of the documentation, followed by the missing figures. */
  def markdown(report: ScaleReport): Vector[String] =
    val head = Vector(s"Commit ${report.commit}, JDK ${report.jdk}, ${report.cpus} processors.")
    val tables = rowsOf(report).flatMap: row =>
      val rule = "|---|" + "--:|" * report.carriers.size
      Vector("", s"### ${capital(row.title)}", "", s"An operation is ${row.operation}.", "") ++
        (line(header(report)) +: rule +: table(report, row).map(line))
    head ++ tables ++ about(report).flatMap(Vector("", _))

  /** Returns the rows that there are figures of. */
  def rowsOf(report: ScaleReport): Vector[ScaleRow] =
    ScalePlan.rows.filter(row => report.figures.keys.exists(_.row == row))

  /** Returns the systems that there are figures of in `row`. */
  def systemsOf(report: ScaleReport, row: ScaleRow): Vector[String] =
    val found = report.figures.keys.filter(_.row == row).map(_.system).toVector.distinct
    found.sortBy(Systems.order)

  /** `12.3M`: three digits. */
  def short(value: Double): String =
    val (scaled, letter) =
      if value >= 999_500 then (value / 1e6, "M")
      else if value >= 999.5 then (value / 1e3, "k")
      else (value, "")
    val digits = if scaled >= 99.95 then 0 else if scaled >= 9.995 then 1 else 2
    Text.decimal(scaled, digits) + letter

  /** `1.90x`. */
  def times(ratio: Double): String =
    s"${Text.decimal(ratio, if ratio >= 9.95 then 1 else 2)}x"

  /** Why figures are missing, and which. */
  def about(report: ScaleReport): Vector[String] =
    val isCutOff =
      Option.when(!report.hasEnded)("The run has not ended: it was cut off, or goes on.")
    val missing = report.missing.map: step =>
      val rows =
        if isWhole(report, step) then "all its rows" else step.rows.map(_.id).mkString(", ")
      s"Not measured: ${step.label}: $rows."
    report.notes ++ isCutOff ++ report.problems ++ missing

  private def isWhole(report: ScaleReport, step: ScaleStep): Boolean =
    report.planned.contains(step)

  private def header(report: ScaleReport): Vector[String] =
    "carriers" +: report.carriers.map(_.toString)

  private def table(report: ScaleReport, row: ScaleRow): Vector[Vector[String]] =
    val systems = systemsOf(report, row).map: system =>
      system +: report.carriers.map(count => cell(report, ScaleReport.Case(system, row, count)))
    systems ++ counts(report, row)

  /** Weir's counts, as names and a cell for each number of carriers. */
  def counts(report: ScaleReport, row: ScaleRow): Vector[Vector[String]] =
    report
      .counts(row, Systems.weir)
      .map: (count, values) =>
        s"${count.title}, ${count.unit}" +:
          report.carriers.map(values.get(_).fold("")(ResultTable.number))

  private def cell(report: ScaleReport, at: ScaleReport.Case): String =
    val ratio = if at.carriers == 1 then None else report.speedUp(at)
    report.figures.get(at).fold("")(value => (short(value) +: ratio.map(times).toSeq).mkString(" "))

  private def line(cells: Seq[String]): String = cells.mkString("| ", " | ", " |")

  private def capital(text: String): String = text.head.toUpper +: text.tail
