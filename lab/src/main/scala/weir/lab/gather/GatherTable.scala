package weir.lab.gather

import weir.program.{Result, ResultTable, Systems, TerminalTable, Text}

/** The figures as a table: a line for each case, a column for each system, and how far ahead Weir
  * is.
  */
object GatherTable:
  def lines(results: Seq[Result]): Vector[String] =
    if results.isEmpty then Vector.empty
    else
      val systems = results.map(_.system).distinct.sortBy(Systems.order)
      val rows = results
        .map(_.name)
        .distinct
        .map: name =>
          val values = results.filter(_.name == name).map(r => r.system -> r.value).toMap
          val cells = systems.map(system => values.get(system).fold("-")(ResultTable.number))
          name +: cells :+ lead(values)
      TerminalTable.lines("runs a second" +: systems :+ "weir / best rival", rows)

  /** Returns Weir's speed as a multiple of the fastest rival's, as in `4.2x ox`. */
  private def lead(values: Map[String, Double]): String =
    val rivals = values - Systems.weir
    values.get(Systems.weir).filter(_ => rivals.nonEmpty).fold("") { weir =>
      val (best, value) = rivals.maxBy(_._2)
      s"${Text.decimal(weir / value, 1)}x $best"
    }
