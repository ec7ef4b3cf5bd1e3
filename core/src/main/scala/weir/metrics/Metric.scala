package weir.metrics

/** A metric at one moment, with a value for each of its points. Names, units and kinds follow the
  * conventions of OpenTelemetry.
  *
  * @param name such as `weir.queue.size`
  * @param unit in the notation of UCUM: `s` for seconds, `{fiber}` for a number of fibers, empty
  *   for a number without a unit
  * @param description one sentence
  */
final case class Metric(
    name: String,
    kind: Metric.Kind,
    unit: String,
    description: String,
    points: Vector[Metric.Point]
)

object Metric:

  /** The way in which the values of a metric change. */
  enum Kind:
    /** Only grows while the process runs. */
    case Counter

    /** Grows and shrinks, and may be added up over the points and over processes. */
    case UpDownCounter

    /** Grows and shrinks, and must not be added up. */
    case Gauge

  /** One value of a metric.
    *
    * @param attributes the names and values that distinguish the points of a metric
    * @param namedAt the line of code that named the object of this metric, if it has a name; it is
    *   not an attribute
    */
  final case class Point(
      attributes: Vector[(String, String)],
      value: Double,
      namedAt: Option[StackTraceElement] = None
  )

  /** Returns a metric with a single point. */
  private[weir] def one(
      name: String,
      kind: Kind,
      unit: String,
      description: String,
      value: Double,
      attributes: (String, String)*
  ): Metric =
    Metric(name, kind, unit, description, Vector(Point(attributes.toVector, value)))

  /** Joins the points of metrics of the same name, in the order of the first of each name. */
  private[metrics] def joined(metrics: Iterable[Metric]): Vector[Metric] =
    metrics
      .foldLeft(scala.collection.immutable.VectorMap.empty[String, Metric]) { (byName, metric) =>
        byName.updatedWith(metric.name) {
          case Some(first) => Some(first.copy(points = first.points ++ metric.points))
          case None => Some(metric)
        }
      }
      .values
      .toVector
