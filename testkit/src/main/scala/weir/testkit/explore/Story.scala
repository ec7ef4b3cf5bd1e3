package weir.testkit.explore

import weir.Task

/** A failed order as a table: a column for each strand, a row for each step. */
private[testkit] final case class Told(
    heads: Vector[String],
    rows: Vector[Told.Row],
    ends: String,
    error: String
):

  /** Returns the table as text. */
  def text: String =
    val left = (rows.map(_.place.length) :+ 4).max
    val widths = heads.indices.map { i =>
      val own = rows.filter(_.column == i).map(_.text.length)
      math.min(Told.widest, (own :+ heads(i).length).max)
    }
    val header = line("", left, heads, widths)
    val rule = "─" * (left + widths.map(_ + 2).sum)
    val lines = rows.map(row =>
      line(
        row.place,
        left,
        heads.indices.map(i => if i == row.column then row.text else ""),
        widths
      )
    )
    (header +: rule +: lines :+ rule :+ ends).map(_.stripTrailing).mkString("\n") + "\n"

  private def line(place: String, left: Int, cells: Seq[String], widths: Seq[Int]): String =
    place.padTo(left, ' ') + "  " +
      cells.zip(widths).map((cell, width) => cut(cell, width).padTo(width, ' ')).mkString("  ")

  private def cut(text: String, width: Int): String =
    if text.length <= width then text else text.take(width - 1) + "…"

private[testkit] object Told:
  /** The largest number of characters of a cell. */
  private val widest = 38

  final case class Row(place: String, column: Int, text: String, isPreemption: Boolean)

/** Makes the story of a failed order, by one more run of it. */
private[explore] object Story:
  def of(execution: Execution, program: () => Task[Any], failed: Run): Told =
    val recorder = Recorder()
    val run = execution.run(program, Replay(failed.choices), recorder)
    val told = table(recorder, run)
    if run.steps == failed.steps then told
    else told.copy(ends = s"$other${told.ends}", error = s"${failed.failure}")

  private val other =
    "The run that is told here is not the one that has failed: the program does not obey the " +
      "order that it is given.\n"

  private def table(recorder: Recorder, run: Run): Told =
    val strands = recorder.events.map(_.strand).distinct.sortBy(_.id).toVector
    val rows = recorder.events.map(event =>
      Told.Row(
        event.place,
        strands.indexWhere(_ eq event.strand),
        event.text,
        event.isPreemption
      )
    )
    Told(strands.map(head(recorder, _)), rows.toVector, ends(recorder, run), error(recorder, run))

  private def head(recorder: Recorder, strand: Strand): String =
    if strand.alarm ne null then s"alarm ${strand.id + 1}"
    else if strand.ownThread ne null then s"thread ${strand.id + 1}"
    else if strand.fiber eq null then "the disturbance"
    else if strand.id == 0 then "fiber 1 (the test)"
    else
      val begin = recorder.begin(strand)
      s"fiber ${strand.id + 1}" + (if begin.isEmpty then "" else s", $begin")

  /** Returns the error on one line. */
  private def ends(recorder: Recorder, run: Run): String =
    val error = run.failure
    val message = if error eq null then "" else String.valueOf(error.getMessage)
    val lines = text(recorder, message).linesIterator.map(_.trim)
    val name = if error eq null then "nothing" else Names.simple(error.getClass)
    s"ends with $name: ${lines.filter(_.nonEmpty).take(8).mkString(" ")}".take(200)

  private def error(recorder: Recorder, run: Run): String =
    if run.failure eq null then "" else text(recorder, run.failure.toString)

  /** Returns `message` without the colour codes of a terminal. */
  private def text(recorder: Recorder, message: String): String =
    recorder.stable(message.replaceAll("\u001b\\[[0-9;]*m", ""))
