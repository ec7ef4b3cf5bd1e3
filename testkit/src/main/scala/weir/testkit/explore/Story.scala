package weir.testkit.explore

import weir.Task

/** A failed order as a table: a column for each strand, a line for each step. */
private[explore] object Story:
  /** The most characters of a cell. */
  private inline val widest = 34

  def of(execution: Execution, program: () => Task[Any], failed: Run): String =
    val recorder = Recorder()
    val run = execution.run(program, Replay(failed.choices), recorder)
    val same = if run.steps == failed.steps then "" else other
    table(recorder, run) + same

  private val other =
    "The run that is told differs from the one that has failed: the program does not obey the " +
      "order that it is given.\n"

  private def table(recorder: Recorder, run: Run): String =
    val strands = recorder.events.map(_.strand).distinct.sortBy(_.id).toVector
    val heads = strands.map(head(recorder, _))
    val places = recorder.events.map(_.place)
    val left = (places.map(_.length) :+ 4).max
    val widths = strands.indices.map { i =>
      val own = recorder.events.filter(_.strand eq strands(i)).map(_.text.length)
      math.min(widest, (own :+ heads(i).length).max)
    }
    val lines = recorder.events.map { event =>
      val column = strands.indexWhere(_ eq event.strand)
      row(
        event.place,
        left,
        strands.indices.map(i => if i == column then event.text else ""),
        widths
      )
    }
    val header = row("", left, heads, widths)
    val rule = "─" * header.length.max(left)
    (header +: rule +: lines.toSeq :+ rule :+ ends(run)).map(_.stripTrailing).mkString("\n") + "\n"

  private def head(recorder: Recorder, strand: Strand): String =
    if strand.alarm ne null then s"alarm ${strand.id + 1}"
    else if strand.ownThread ne null then s"thread ${strand.id + 1}"
    else if strand.id == 0 then "fiber 1 (the test)"
    else
      val begin = recorder.begin(strand)
      s"fiber ${strand.id + 1}" + (if begin.isEmpty then "" else s", $begin")

  private def row(place: String, left: Int, cells: Seq[String], widths: Seq[Int]): String =
    place.padTo(left, ' ') + "  " +
      cells.zip(widths).map((cell, width) => cut(cell, width).padTo(width, ' ')).mkString("  ")

  private def cut(text: String, width: Int): String =
    if text.length <= width then text else text.take(width - 1) + "…"

  private def ends(run: Run): String =
    s"ends with ${String.valueOf(run.failure).linesIterator.nextOption().getOrElse("")}"
