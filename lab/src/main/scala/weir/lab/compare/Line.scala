package weir.lab.compare

import weir.program.Text

/** Draws runs in a line: the letters of each run, and its time at the end.
  *
  * @param columns
  *   the longest line
  * @param runs
  *   the number of runs in a line
  */
final class Line(columns: Int, runs: Int):
  private val room = ((columns - Line.nameWidth) / runs - Line.timeWidth - 3).max(10)
  private val cellWidth = room + 1 + Line.timeWidth

  /** The number of tasks for a P or a C, so that the letters of all tasks fit. */
  val tasksPerLetter: Int =
    val tasks = Plan.batchCount * Plan.batchSize
    math.ceil(2.0 * tasks / room).toInt

  /** Returns a line: the name, and the cell of each run. */
  def of(name: String, cells: Seq[String]): String =
    (name.padTo(Line.nameWidth, ' ') +: cells.map(_.padTo(cellWidth, ' ')))
      .mkString("  ")
      .stripTrailing

  def cell(state: Board.State): String =
    val words = state match
      case Board.State.Going(_) => ""
      case Board.State.Ended(_, millis) => s"${Text.decimal(millis / 1000, 2)} s"
      case Board.State.Failed(_, _) => "failed"
      case Board.State.Hung(_, _) => "hangs"
    state.letters.padTo(room, ' ') + " " * (1 + Line.timeWidth - words.length) + words

object Line:
  private val nameWidth = (Way.values.map(_.name) ++ Load.values.map(_.name)).map(_.length).max
  private val timeWidth = "12.34 s".length
