package weir.metrics

/** A figure at one moment, with a value for each of its points. Names, units and kinds follow the
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

  /** Says how the values of a figure behave. */
  enum Kind:
    /** Only grows while the process runs. */
    case Counter

    /** Grows and shrinks, and may be added up over the points and over processes. */
    case UpDownCounter

    /** Grows and shrinks, and is not to be added up. */
    case Gauge

  /** One value of a figure.
    *
    * @param attributes the names and values that distinguish the points of a figure
    * @param namedAt the line that has named the thing with this figure, if it has a name; it is no
    *   attribute
    */
  final case class Point(
      attributes: Vector[(String, String)],
      value: Double,
      namedAt: Option[StackTraceElement] = None
  )

  /** Returns a figure with a single point. */
  private[weir] def one(
      name: String,
      kind: Kind,
      unit: String,
      description: String,
      value: Double,
      attributes: (String, String)*
  ): Metric =
    Metric(name, kind, unit, description, Vector(Point(attributes.toVector, value)))

  /** Joins the points of figures of the same name, in the order of the first of each name. */
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
