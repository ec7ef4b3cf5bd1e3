package weir.program

/** Results as a table on the terminal: a line for each case, a column for each system. */
object ResultTable:
  def lines(results: Seq[Result]): Vector[String] =
    val systems = results.map(_.system).distinct.sortBy(Systems.order)
    val cases = results.map(result => (result.name, result.unit)).distinct
    val of = results.map(result => (result.name, result.unit, result.system) -> result).toMap
    val rows = cases.map: (name, unit) =>
      name +: unit +: systems.map(system =>
        of.get((name, unit, system)).fold("")(r => number(r.value))
      )
    TerminalTable.lines("case" +: "unit" +: systems, rows)

  /** Returns a table for each unit that there are results in, below an empty line and its title. */
  def byUnit(results: Vector[Result], titles: Seq[(String, String)]): Seq[String] =
    for
      (unit, title) <- titles
      part = results.filter(_.unit == unit)
      if part.nonEmpty
      line <- Seq("", title) ++ lines(part)
    yield line

  /** Returns the line that is printed as soon as a figure is there, since the table comes only at
    * the end.
    */
  def line(result: Result): String =
    s"  ${result.system}, ${result.name}: ${number(result.value)} ${result.unit}"

  /** Returns the number: from 1000 on without decimals, below that with three significant digits
    * or, below 0.1, four decimals.
    */
  def number(value: Double): String =
    val size = value.abs
    if size >= 1000 || value == math.rint(value) then Text.grouped(value.round)
    else if size >= 100 then Text.decimal(value, 0)
    else if size >= 10 then Text.decimal(value, 1)
    else if size >= 1 then Text.decimal(value, 2)
    else if size >= 0.1 then Text.decimal(value, 3)
    else Text.decimal(value, 4)
