package weir.lab.compare

import java.io.PrintWriter

import weir.program.{DurationText, StagedJars}

/** Runs the ways on the loads on Weir here and on the rivals beside it, and reports.
  *
  * @param ways
  *   Weir's program for each way
  */
final class CompareJob(
    settings: CompareSettings,
    ways: Contestant,
    out: PrintWriter,
    err: PrintWriter
):
  private val display = Display.on(err, settings)
  private val board: Board = Board(settings.places, place => display.ended(place, board))
  private val windows = display.windows(settings.loads)

  /** Returns the exit code: 1 if figures are missing, except those of the way that hangs on the
    * rival.
    */
  def run(): Int =
    val rivals = startRivals()
    err.println(s"warming up for ${DurationText.show(settings.warmUp)}")
    val weir = SideBySide(ways, display.tasksPerLetter, board)
    if settings.hasWeir then weir.warmUp(settings.ways, settings.warmUp)
    windows.foreach: loads =>
      rivals.foreach(_.awaitBegin(loads))
      display.during(loads, board):
        if settings.hasWeir then weir.run(loads, settings.ways, settings.plan)
        rivals.foreach(_.awaitOver(loads))
    val rivalsAreComplete = rivals.forall(_.await())
    val figures = Figures(settings, board)
    figures.table.foreach(out.println)
    figures.problems.foreach(err.println)
    settings.lab.hand("compare", figures.results, figures.problems.isEmpty && rivalsAreComplete)

  private def startRivals(): Option[RivalRun] =
    Option.when(settings.rivalWays.nonEmpty):
      val _ = StagedJars.bench.classPath // a missing one is bad input
      val rivals = RivalRun(settings, windows, board, err)
      rivals.start(display.tasksPerLetter)
      rivals
