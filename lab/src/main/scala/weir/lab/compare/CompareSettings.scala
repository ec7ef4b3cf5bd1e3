package weir.lab.compare

import scala.concurrent.duration.*

import weir.lab.LabOptions
import weir.lab.compare.SideBySide.Place
import weir.program.{BadInput, Systems}

/** The settings of `weir compare`: its options, checked and complete. */
final case class CompareSettings(
    loads: Vector[Load],
    ways: Vector[Way],
    systems: Vector[String],
    speed: Double,
    warmUp: FiniteDuration,
    lab: LabOptions.Checked
):
  def plan(load: Load): Plan = Plan.of(load, lab.seed, speed)

  def hasWeir: Boolean = systems.contains(Systems.weir)

  /** Returns the ways that the rivals are to run. */
  def rivalWays: Vector[Way] = ways.filter(way => systems.contains(way.rival))

  /** Returns the runs of a way on a load: Weir's, and the rival's. */
  def places(load: Load, way: Way): Vector[Place] =
    Vector(Systems.weir, way.rival).filter(systems.contains).map(Place(load, way, _))

  /** All runs. */
  def places: Vector[Place] = loads.flatMap(load => ways.flatMap(places(load, _)))

object CompareSettings:
  val quickSpeed = 2.0

  /** Until a JVM has compiled its code, it takes processor time from the programs beside it. */
  val usualWarmUp: FiniteDuration = 7.seconds

  /** All that the command can measure. */
  val systems: Vector[String] = Systems.weir +: Way.values.toVector.map(_.rival).distinct

  def loads(text: Option[String]): Vector[Load] =
    text.fold(Load.values.toVector)(chosen("--load", _, Load.values.toVector, _.name))

  def ways(text: Option[String]): Vector[Way] =
    text.fold(Way.values.toVector)(chosen("--way", _, Way.values.toVector, _.name))

  /** Returns the elements of `all` that `text` names, in the order of `all`. */
  private def chosen[A](
      option: String,
      text: String,
      all: Vector[A],
      name: A => String
  ): Vector[A] =
    val asked = text.split(",").map(_.trim).toVector
    asked.find(one => !all.exists(name(_) == one)).foreach { unknown =>
      throw BadInput(
        option,
        s"there is no '$unknown'.",
        s"There are: ${all.map(name).mkString(", ")}."
      )
    }
    all.filter(one => asked.contains(name(one)))
