package weir.console

import weir.metrics.Metric
import weir.metrics.Metric.{Kind, Point}

/** The figures of one moment beside those of the moment before, from which rates come.
  *
  * @param seconds the time between the two
  */
private[console] final class Figures(
    metrics: Vector[Metric],
    before: Map[Figures.Key, Double],
    seconds: Double
):
  import Figures.*

  /** All values, for the next moment. */
  lazy val values: Map[Key, Double] =
    metrics
      .flatMap(metric => metric.points.map(point => (metric.name, point.attributes) -> point.value))
      .groupMapReduce(_._1)(_._2)(_ + _)

  private val byName = metrics.map(metric => metric.name -> metric).toMap

  /** Returns the sum of the points of `name` that have all of `attributes`. */
  def value(name: String, attributes: (String, String)*): Double =
    points(name).filter(p => attributes.forall(p.attributes.contains)).map(_.value).sum

  /** Returns the growth of `value` in a second. */
  def perSecond(name: String, attributes: (String, String)*): Double =
    points(name)
      .filter(point => attributes.forall(point.attributes.contains))
      .map(point => rate(name, point))
      .sum

  private def points(name: String): Vector[Point] = byName.get(name).fold(Vector.empty)(_.points)

  private def rate(name: String, point: Point): Double =
    before.get((name, point.attributes)).fold(0.0) { old =>
      if seconds <= 0 then 0.0 else math.max(0.0, point.value - old) / seconds
    }

  /** The streams that a named monitor observes, in the order of their stretches. */
  lazy val streams: Vector[StreamFigures] =
    points("weir.stream.elements")
      .groupBy(attribute(_, "name"))
      .toVector
      .sortBy(_._1)
      .map { (name, points) =>
        StreamFigures(name, points.map(attribute(_, "stretch")).distinct.map(stretch(name, _)))
      }

  private def stretch(name: String, stretch: String): StretchFigures =
    val here = Vector("name" -> name, "stretch" -> stretch)
    def share(metric: String) = perSecond(s"weir.stream.$metric", here*)
    val parallelism = math.max(1.0, value("weir.stream.parallelism", here*))
    StretchFigures(
      stretch,
      value("weir.stream.elements", here*),
      share("elements"),
      math.min(1.0, share("worked") / parallelism),
      share("waited_for_input"),
      math.min(1.0, share("waited_for_room")),
      points("weir.stream.queued")
        .find(point => here.forall(point.attributes.contains))
        .map(_.value)
    )

  /** The things with a name, apart from streams, by their kind and name. */
  lazy val things: Vector[ThingFigures] =
    val found =
      for
        metric <- metrics if !metric.name.startsWith("weir.stream.")
        point <- metric.points if point.attributes.exists(_._1 == "name")
      yield
        val (kind, figure) = kindAndFigure(metric.name)
        val rest = point.attributes.collect {
          case ("for", value) => s"for $value"
          case (other, value) if other != "name" => value
        }
        val value = ThingFigure(
          (figure +: rest).mkString(" "),
          point.value,
          Option.when(metric.kind == Kind.Counter)(rate(metric.name, point))
        )
        (kind, attribute(point, "name")) -> (value, point.namedAt)
    found
      .groupMap(_._1)(_._2)
      .toVector
      .sortBy(_._1)
      .map { case ((kind, name), found) =>
        val namedAt = found.flatMap(_._2).headOption.map(Fibers.shown)
        ThingFigures(kind, name, added(found.map(_._1)), namedAt)
      }

  /** The figures of the program itself that have no name. */
  lazy val own: Vector[(String, ThingFigure)] =
    for
      metric <- metrics if !metric.name.startsWith("weir.")
      point <- metric.points if !point.attributes.exists(_._1 == "name")
    yield metric.name -> ThingFigure(
      point.attributes.map((name, value) => s"$name $value").mkString(", "),
      point.value,
      Option.when(metric.kind == Kind.Counter)(rate(metric.name, point))
    )

private[console] object Figures:
  type Key = (String, Vector[(String, String)])

  private def attribute(point: Point, name: String): String =
    point.attributes.collectFirst { case (`name`, value) => value }.getOrElse("")

  /** Adds up figures with the same label, of things with the same name. */
  private def added(figures: Vector[ThingFigure]): Vector[ThingFigure] =
    figures.map(_.label).distinct.map { label =>
      val same = figures.filter(_.label == label)
      same.head.copy(
        value = same.map(_.value).sum,
        perSecond = same.head.perSecond.map(_ => same.flatMap(_.perSecond).sum)
      )
    }

  private def kindAndFigure(metric: String): (String, String) =
    metric.stripPrefix("weir.").split("\\.", 2) match
      case Array(kind, figure) => (kind.replace('_', ' '), figure)
      case _ => (metric, "value")

/** A stretch of a stream: shares are of the time since the moment before, from 0 to 1. */
private[console] final case class StretchFigures(
    name: String,
    elements: Double,
    perSecond: Double,
    busy: Double,
    forInput: Double,
    forRoom: Double,
    queued: Option[Double]
)

private[console] final case class StreamFigures(name: String, stretches: Vector[StretchFigures]):

  /** Returns the busiest stretch, if the stream moves. */
  def bottleneck: Option[String] =
    stretches.maxByOption(_.busy).filter(_.busy >= 0.05).map(_.name)

/** @param perSecond the growth in a second, of a figure that only grows */
private[console] final case class ThingFigure(
    label: String,
    value: Double,
    perSecond: Option[Double]
)

/** A queue, semaphore, cache or other thing with a name.
  *
  * @param namedAt the line that has named it, if that is known
  */
private[console] final case class ThingFigures(
    kind: String,
    name: String,
    figures: Vector[ThingFigure],
    namedAt: Option[String]
):
  def apply(label: String): Option[Double] = figures.find(_.label == label).map(_.value)

  /** Returns the figure whose course says most: of a queue its size, of the others who waits. */
  def main: Double = apply("size")
    .filter(_ => kind == "queue" || kind == "channel")
    .orElse(apply("waiting"))
    .orElse(figures.headOption.map(_.value))
    .getOrElse(0.0)
