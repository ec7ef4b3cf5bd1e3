package weir.otel

import io.opentelemetry.api.common.{AttributeKey, Attributes}
import io.opentelemetry.api.metrics.{Meter, ObservableDoubleMeasurement}
import io.opentelemetry.api.{GlobalOpenTelemetry, OpenTelemetry}
import java.util.concurrent.ConcurrentHashMap
import scala.jdk.CollectionConverters.*
import weir.metrics.Metric
import weir.{Resource, Task, WeirRuntime}

/** Exports the metrics of `WeirRuntime.metrics` as observable instruments. */
object OtelMetrics:

  /** Exports by `telemetry` until the release. A metric whose source is added later, such as a
    * queue that gets a name, appears at the second collection after that.
    * {{{
    * val exported = OtelMetrics.exported().use(_ => Task.never)
    * }}}
    */
  def exported(telemetry: OpenTelemetry = GlobalOpenTelemetry.get)(using
      runtime: WeirRuntime
  ): Resource[Unit] =
    Resource
      .make(Task.delay(Exporter(telemetry.getMeter("weir"), runtime)))(exporter =>
        Task.delay(exporter.close())
      )
      .map(_ => ())

  private final class Exporter(meter: Meter, runtime: WeirRuntime):
    private val instruments = ConcurrentHashMap[String, AutoCloseable]()

    // shared
    @volatile private var latest = Snapshot.of(runtime)
    @volatile private var isClosed = false
    latest.metrics.foreach(add)

    private def add(metric: Metric): Unit =
      instruments.computeIfAbsent(metric.name, _ => instrument(metric)): Unit

    private def instrument(metric: Metric): AutoCloseable =
      val record = (to: ObservableDoubleMeasurement) => observe(metric.name, to)
      metric.kind match
        case Metric.Kind.Counter =>
          meter
            .counterBuilder(metric.name)
            .ofDoubles()
            .setUnit(metric.unit)
            .setDescription(metric.description)
            .buildWithCallback(record(_))
        case Metric.Kind.UpDownCounter =>
          meter
            .upDownCounterBuilder(metric.name)
            .ofDoubles()
            .setUnit(metric.unit)
            .setDescription(metric.description)
            .buildWithCallback(record(_))
        case Metric.Kind.Gauge =>
          meter
            .gaugeBuilder(metric.name)
            .setUnit(metric.unit)
            .setDescription(metric.description)
            .buildWithCallback(record(_))

    private def observe(name: String, to: ObservableDoubleMeasurement): Unit =
      for
        metric <- fresh().metrics if metric.name == name
        point <- metric.points
      do to.record(point.value, attributes(point))

    private def attributes(point: Metric.Point): Attributes =
      val builder = Attributes.builder()
      point.attributes.foreach((name, value) => builder.put(AttributeKey.stringKey(name), value))
      builder.build()

    /** Returns metrics that are at most a tenth of a second old: one reading serves all instruments
      * of a collection.
      */
    private def fresh(): Snapshot = synchronized {
      if latest.isOld then
        latest = Snapshot.of(runtime)
        val added = latest.metrics.filterNot(metric => instruments.containsKey(metric.name))
        // Not here: the SDK may hold locks during a collection.
        if added.nonEmpty then Thread.startVirtualThread(() => addLater(added)): Unit
      latest
    }

    private def addLater(metrics: Vector[Metric]): Unit =
      metrics.foreach(add)
      if isClosed then close()

    def close(): Unit =
      isClosed = true
      instruments.values.asScala.foreach(_.close())
      instruments.clear()

  private final class Snapshot(val metrics: Vector[Metric], readNanos: Long):
    def isOld: Boolean = System.nanoTime() - readNanos > 100_000_000

  private object Snapshot:
    def of(runtime: WeirRuntime): Snapshot = Snapshot(runtime.metrics, System.nanoTime())
