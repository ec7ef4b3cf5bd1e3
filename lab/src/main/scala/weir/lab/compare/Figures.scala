package weir.lab.compare

import weir.lab.compare.SideBySide.Place
import weir.program.{Result, Systems, TerminalTable, Text}

/** The outcome of a run: the results, the source's table, and the errors. */
final class Figures(settings: CompareSettings, board: Board):
  /** For each load and way: the bound, Weir, the rival. */
  def results: Vector[Result] =
    for
      (load, way) <- cases
      name = Place(load, way, Systems.bound).name
      bound = Result.millis(name, Systems.bound, boundMillis(load, way))
      result <- bound +: settings
        .places(load, way)
        .flatMap(place => millis(place).map(Result.millis(name, place.system, _)))
    yield result

  /** Times in seconds, with the ratio of each to the bound. */
  def table: Vector[String] =
    val header = Vector("load: way", "bound", "weir", "ratio", "rival", "", "ratio")
    TerminalTable.lines(header, cases.map(row)) ++ worst

  /** Returns a line for each run that should have a figure and has none. */
  def problems: Vector[String] =
    for
      place <- settings.places if place.system == Systems.weir
      why <- board(place) match
        case Board.State.Ended(_, _) => None
        case Board.State.Failed(_, why) => Some(why)
        case Board.State.Hung(_, why) => Some(why)
        case Board.State.Going(_) => Some("it did not end")
    yield s"${Systems.weir}, ${place.name}: no result, since $why"

  private def cases: Vector[(Load, Way)] =
    for
      load <- settings.loads
      way <- settings.ways
    yield (load, way)

  private def row(load: Load, way: Way): Vector[String] =
    val bound = boundMillis(load, way)
    val name = Place(load, way, Systems.bound).name
    Vector(name, seconds(bound)) ++ figure(load, way, Systems.weir, bound) ++
      (way.rival +: figure(load, way, way.rival, bound))

  /** Returns the time and its ratio to the bound, or why there is none. */
  private def figure(load: Load, way: Way, system: String, bound: Double): Vector[String] =
    if !settings.systems.contains(system) then Vector("", "")
    else
      board(Place(load, way, system)) match
        case Board.State.Ended(_, millis) =>
          Vector(seconds(millis), Text.decimal(millis / bound, 3))
        case Board.State.Hung(_, _) => Vector("hangs", "")
        case _ => Vector("failed", "")

  /** Returns the worst ratio of each system, as a sentence. */
  private def worst: Vector[String] =
    for
      system <- settings.systems
      ratios = for
        place <- settings.places if place.system == system
        time <- millis(place)
      yield time / boundMillis(place.load, place.way) -> place.name
      (ratio, name) <- ratios.maxByOption(_._1)
    yield s"$system: at most ${Text.decimal(ratio, 3)} times the bound ($name)"

  private def millis(place: Place): Option[Double] =
    board(place) match
      case Board.State.Ended(_, millis) => Some(millis)
      case _ => None

  private def boundMillis(load: Load, way: Way): Double =
    way.boundNanos(settings.plan(load)) / 1e6

  private def seconds(millis: Double): String = Text.decimal(millis / 1000, 3)
