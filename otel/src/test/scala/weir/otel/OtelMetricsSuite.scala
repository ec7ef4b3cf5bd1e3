package weir.otel

import io.opentelemetry.sdk.OpenTelemetrySdk
import io.opentelemetry.sdk.metrics.SdkMeterProvider
import io.opentelemetry.sdk.metrics.data.{MetricData, MetricDataType}
import io.opentelemetry.sdk.testing.exporter.InMemoryMetricReader
import scala.jdk.CollectionConverters.*
import weir.{Queue, Task, WeirRuntime, WeirSuite}

class OtelMetricsSuite extends WeirSuite:
  private def withReader(body: InMemoryMetricReader => Task[Unit]): Unit =
    val reader = InMemoryMetricReader.create()
    val provider = SdkMeterProvider.builder().registerMetricReader(reader).build()
    val telemetry = OpenTelemetrySdk.builder().setMeterProvider(provider).build()
    try OtelMetrics.exported(telemetry).use(_ => body(reader)).runSync()
    finally provider.close()

  private def collected(reader: InMemoryMetricReader): Map[String, MetricData] =
    reader.collectAllMetrics.asScala.map(data => data.getName -> data).toMap

  private def values(data: MetricData): Map[String, Double] =
    val points =
      if data.getType == MetricDataType.DOUBLE_SUM then data.getDoubleSumData.getPoints
      else data.getDoubleGaugeData.getPoints
    points.asScala
      .map(point =>
        point.getAttributes.asMap.asScala.map((key, value) => s"$key=$value").mkString(",") ->
          point.getValue
      )
      .toMap

  test("the figures of the runtime are instruments, with their kinds, units and attributes"):
    withReader { reader =>
      Task.direct {
        val fibers = Task.traverse(1 to 7)(_ => Task.never.start).await
        def waiting = values(collected(reader)("weir.fibers"))("state=waiting")
        eventually(s"7 fibers wait, not $waiting")(waiting >= 7)
        val data = collected(reader)
        val own = WeirRuntime.default.metrics
        assert(own.forall(metric => data.contains(metric.name)), data.keySet)
        assertEquals(data("weir.fibers.begun").getType, MetricDataType.DOUBLE_SUM)
        assert(data("weir.fibers.begun").getDoubleSumData.isMonotonic)
        assert(!data("weir.fibers").getDoubleSumData.isMonotonic)
        assertEquals(data("weir.fibers").getUnit, "{fiber}")
        assertEquals(data("weir.scheduler.queue.age").getType, MetricDataType.DOUBLE_GAUGE)
        Task.foreach(fibers)(_.cancel).await
      }
    }

  test("the figures of a queue that is named later appear, and all end with the release"):
    var left: InMemoryMetricReader | Null = null
    withReader { reader =>
      Task.direct {
        left = reader
        val queue = Queue.unsafe[Int](3).named("orders")
        queue.offer(1).await
        def size = collected(reader).get("weir.queue.size").flatMap(values(_).get("name=orders"))
        eventually("the figures of the queue appear")(size.nonEmpty)
        assertEquals(size, Some(1.0))
        queue.take.await: Unit
      }
    }
    assertEquals(collected(left.nn), Map.empty)
