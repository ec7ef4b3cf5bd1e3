package weir.metrics

import weir.metrics.Metric.{Kind, Point}
import weir.trace.OwnCode

/** Makes the metrics of a primitive that has a name. Each point has the name as its attribute
  * `name`.
  *
  * @param namedAt the line that has given the name
  */
private[weir] final class NamedMetrics(name: String, namedAt: Option[StackTraceElement]):

  def gauge(metric: String, unit: String, description: String, value: Double): Metric =
    Metric(metric, Kind.Gauge, unit, description, Vector(point(value)))

  def counter(metric: String, unit: String, description: String, value: Double): Metric =
    Metric(metric, Kind.Counter, unit, description, Vector(point(value)))

  /** Returns a metric with a point for each value of `attribute`. */
  def by(
      kind: Kind,
      metric: String,
      unit: String,
      description: String,
      attribute: String,
      values: (String, Double)*
  ): Metric =
    Metric(metric, kind, unit, description, values.toVector.map(point(_, attribute)))

  private def point(value: Double): Point = Point(Vector("name" -> name), value, namedAt)

  private def point(value: (String, Double), attribute: String): Point =
    Point(Vector("name" -> name, attribute -> value._1), value._2, namedAt)

  /** The metrics of a queue or channel. */
  def queue(kind: String, size: Int, capacity: Int, givers: Int, takers: Int): Vector[Metric] =
    Vector(
      gauge(s"weir.$kind.size", "{value}", s"Values in the $kind.", size),
      by(
        Kind.Gauge,
        s"weir.$kind.waiting",
        "{fiber}",
        s"Fibers that wait at the $kind: for room, or for a value.",
        "for",
        "room" -> givers,
        "value" -> takers
      )
    ) ++ Option.when(capacity != Int.MaxValue)(
      gauge(s"weir.$kind.capacity", "{value}", s"Values that the $kind can hold.", capacity)
    )

  /** The metrics of permits. */
  def permits(kind: String, free: Long, waiting: Int): Vector[Metric] =
    Vector(
      gauge(s"weir.$kind.free", "{permit}", s"Permits of the $kind that are free.", free.toDouble),
      gauge(s"weir.$kind.waiting", "{fiber}", s"Fibers that wait for the $kind.", waiting)
    )

private[weir] object NamedMetrics:

  /** Registers the metrics of `owner` under `name`, for as long as `owner` is in use. */
  def register[A <: AnyRef](owner: A, name: String)(
      read: (A, NamedMetrics) => Vector[Metric]
  ): Unit =
    val named = NamedMetrics(name, OwnCode.caller())
    Metrics.registerWeakly(owner)(read(_, named))
