package weir.lab.compare

import java.io.{PrintStream, PrintWriter}
import java.lang.ProcessBuilder.Redirect
import java.util.concurrent.TimeUnit
import scala.util.control.NonFatal

import weir.lab.compare.SideBySide.Place
import weir.program.Systems

/** Shows the runs while they run. */
trait Display:
  def tasksPerLetter: Int

  /** The loads, as many at a time as can be seen. */
  def windows(loads: Vector[Load]): Vector[Vector[Load]]

  /** Called once for each run, when it is over. */
  def ended(place: Place, board: Board): Unit

  /** Shows the runs of these loads while `run` runs. */
  def during(loads: Seq[Load], board: Board)(run: => Unit): Unit

object Display:
  /** Lines drawn again and again on a terminal, and plain lines elsewhere. */
  def on(err: PrintWriter, settings: CompareSettings): Display =
    val console = System.console()
    if console != null && console.isTerminal then
      val (rows, columns) = size()
      Redrawn(System.err, rows, columns, settings)
    else Plain(err)

  /** A line for each run once it is over: nothing is drawn, so all loads can run at once. */
  private final class Plain(err: PrintWriter) extends Display:
    private val line = Line(columns = 80, runs = 1)
    def tasksPerLetter: Int = line.tasksPerLetter

    def windows(loads: Vector[Load]): Vector[Vector[Load]] = Vector(loads)

    def ended(place: Place, board: Board): Unit =
      val load = place.load.name.padTo(Load.values.map(_.name.length).max, ' ')
      val run = line.of(place.way.name, Seq(line.cell(board(place))))
      err.println(s"$load  $run  ${place.system}")

    def during(loads: Seq[Load], board: Board)(run: => Unit): Unit = run

  /** A line for each way, Weir's run and the rival's in it, under a heading for each load. */
  private[compare] final class Redrawn(
      out: PrintStream,
      rows: Int,
      columns: Int,
      settings: CompareSettings
  ) extends Display:
    private val hasRivals = settings.rivalWays.nonEmpty

    /** A line that reaches the last column may wrap. */
    private val line = Line(columns - 1, runs = Seq(settings.hasWeir, hasRivals).count(identity))
    def tasksPerLetter: Int = line.tasksPerLetter

    /** The row that stays free is the cursor's. */
    def windows(loads: Vector[Load]): Vector[Vector[Load]] =
      loads.grouped(((rows - 1) / (1 + settings.ways.size)).max(1)).toVector

    def ended(place: Place, board: Board): Unit = ()

    def during(loads: Seq[Load], board: Board)(run: => Unit): Unit =
      def lines = loads.flatMap(load => heading(load) +: settings.ways.map(row(load, _, board)))
      out.print(lines.map(_ + "\n").mkString)
      val drawing = Thread.startVirtualThread: () =>
        try
          while true do
            Thread.sleep(pauseMillis)
            draw(lines)
        catch case _: InterruptedException => ()
      try run
      finally
        drawing.interrupt()
        drawing.join()
        draw(lines)

    private def heading(load: Load): String =
      val systems = Seq(
        Option.when(settings.hasWeir)(Systems.weir),
        Option.when(hasRivals)(settings.rivalWays.map(_.rival).distinct.mkString(", "))
      )
      line.of(load.name, systems.flatten.map(" " + _))

    private def row(load: Load, way: Way, board: Board): String =
      val weir = Option.when(settings.hasWeir)(line.cell(board(Place(load, way, Systems.weir))))
      val rival =
        Option.when(settings.rivalWays.contains(way))(line.cell(board(Place(load, way, way.rival))))
      line.of(way.name, (weir ++ rival).toSeq)

    /** Moves up, and overwrites each line. */
    private def draw(lines: Seq[String]): Unit =
      val up = s"\u001b[${lines.size}A"
      out.print(lines.map(line => s"\r${coloured(line)}\u001b[K\n").mkString(up, "", ""))
      out.flush()

    private def coloured(line: String): String =
      if isPlain then line
      else line.replaceAll("P+", "\u001b[33m$0\u001b[0m").replaceAll("C+", "\u001b[32m$0\u001b[0m")

    private val isPlain = sys.env.get("NO_COLOR").exists(_.nonEmpty)
    private val pauseMillis = 100L

  /** Rows and columns of the terminal, as `stty` says. */
  private def size(): (Int, Int) =
    val usual = (24, 80)
    try
      val stty = ProcessBuilder("stty", "size").redirectInput(Redirect.INHERIT).start()
      if stty.waitFor(1, TimeUnit.SECONDS) then
        String(stty.getInputStream.readAllBytes()).trim.split("\\s+").map(_.toInt) match
          case Array(rows, columns) if rows > 0 && columns > 0 => (rows, columns)
          case _ => usual
      else usual
    catch case NonFatal(_) => usual
