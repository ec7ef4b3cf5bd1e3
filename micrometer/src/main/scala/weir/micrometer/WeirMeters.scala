package weir.micrometer

import io.micrometer.core.instrument.binder.MeterBinder
import io.micrometer.core.instrument.{FunctionCounter, Gauge, MeterRegistry, Tag}
import java.util.concurrent.ConcurrentHashMap
import scala.jdk.CollectionConverters.*
import weir.WeirRuntime
import weir.metrics.Metric

/** Adds the metrics of `WeirRuntime.metrics` to a registry of Micrometer: a counter or a gauge for
  * each point, whose tags are the attributes of the point.
  *
  * The metrics of a source that is added later, such as a queue that gets a name, appear once a
  * meter has been read after that. A point that no longer exists, such as that of a queue that was
  * garbage collected, is 0.
  * {{{
  * WeirMeters().bindTo(registry)
  * }}}
  */
final class WeirMeters(runtime: WeirRuntime = WeirRuntime.default) extends MeterBinder:

  def bindTo(registry: MeterRegistry): Unit = Bound(registry).addAll(runtime.metrics)

  private type Key = (String, Vector[(String, String)])

  private final class Bound(registry: MeterRegistry):
    private val known = ConcurrentHashMap.newKeySet[Key]()

    // shared, under this object's lock
    private var latest = Map.empty[Key, Double]
    private var readNanos = System.nanoTime() - Bound.maxAgeNanos

    def addAll(metrics: Vector[Metric]): Unit =
      for
        metric <- metrics
        point <- metric.points
        if known.add((metric.name, point.attributes))
      do add(metric, point)

    private def add(metric: Metric, point: Metric.Point): Unit =
      val key = (metric.name, point.attributes)
      val tags = point.attributes.map((name, value) => Tag.of(name, value)).asJava
      val unit = if metric.unit.isEmpty then null else metric.unit
      metric.kind match
        case Metric.Kind.Counter =>
          FunctionCounter
            .builder(metric.name, this, _.value(key))
            .tags(tags)
            .description(metric.description)
            .baseUnit(unit)
            .register(registry): Unit
        case _ =>
          Gauge
            .builder(metric.name, this, _.value(key))
            .strongReference(true)
            .tags(tags)
            .description(metric.description)
            .baseUnit(unit)
            .register(registry): Unit

    private def value(key: Key): Double = fresh().getOrElse(key, 0.0)

    /** Returns metrics that are at most a tenth of a second old: one reading serves all meters of a
      * scrape.
      */
    private def fresh(): Map[Key, Double] = synchronized {
      if System.nanoTime() - readNanos >= Bound.maxAgeNanos then
        val metrics = runtime.metrics
        readNanos = System.nanoTime()
        latest = metrics
          .flatMap(metric => metric.points.map(p => (metric.name, p.attributes) -> p.value))
          .toMap
        // Not here: a registry may be going through its meters.
        if latest.keys.exists(!known.contains(_)) then
          Thread.startVirtualThread(() => addAll(metrics)): Unit
      latest
    }

  private object Bound:
    val maxAgeNanos = 100_000_000L
