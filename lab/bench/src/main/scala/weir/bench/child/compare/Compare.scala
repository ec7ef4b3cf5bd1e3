package weir.bench.child.compare

import scala.concurrent.duration.*

import weir.lab.{ChildOutput, Experiment}
import weir.lab.compare.{Event, Load, Plan, SideBySide, Way}
import weir.lab.compare.SideBySide.Place
import weir.program.Result

/** The ways on Cats Effect and fs2, for `weir compare`: one window of loads after the other. */
object Compare extends Experiment:
  def run(system: String, options: Experiment.Options, out: ChildOutput): Unit =
    val ways = names(options.text("ways")).flatMap(Way.named)
    val windows = options.text("windows").split(";").toVector.map(names(_).flatMap(Load.named))
    val seed = options.long("seed")
    val speed = options.double("speed")
    val race = SideBySide(CatsWays, options.int("tasksPerLetter"), Listener(out))
    race.warmUp(ways, options.long("warmUpMillis").millis)
    windows.foreach: loads =>
      out.event(Event.Begins(loads).toJson)
      race.run(loads, ways, Plan.of(_, seed, speed))

  private def names(text: String): Vector[String] = text.split(",").toVector

  private final class Listener(out: ChildOutput) extends SideBySide.Listener:
    def progress(place: Place, letters: String): Unit =
      out.event(Event.Progress(place, letters).toJson)
    def ended(place: Place, millis: Double): Unit =
      out.result(Result.millis(place.name, place.system, millis))
    def failed(place: Place, why: String): Unit = out.failed(place.name, place.system, why)
    def hung(place: Place, why: String): Unit =
      if place.way == Way.Hang then out.event(Event.Hung(place, why).toJson)
      else failed(place, why)
