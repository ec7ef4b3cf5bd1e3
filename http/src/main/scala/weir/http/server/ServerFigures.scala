package weir.http.server

import java.util.concurrent.atomic.LongAdder
import weir.metrics.Metric.{Kind, Point}
import weir.metrics.{Metric, MetricSource}

/** Counts the requests of a server. */
private[server] final class ServerFigures(inFlight: () => Int) extends MetricSource:
  // shared, by the first digit of the status
  private val counts = Array.fill(6)(LongAdder())
  private val nanos = Array.fill(6)(LongAdder())

  @volatile var port: Int = 0

  def served(status: Int, took: Long): Unit =
    counts(status / 100).increment()
    nanos(status / 100).add(took)

  def metrics(): Vector[Metric] = Vector(
    Metric(
      "weir.http.server.active",
      Kind.UpDownCounter,
      "{request}",
      "Requests in flight.",
      Vector(Point(Vector("port" -> port.toString), inFlight()))
    ),
    byStatus(
      "weir.http.server.requests",
      "{request}",
      "Requests that have ended, by the class of their status.",
      of => counts(of).sum.toDouble
    ),
    byStatus(
      "weir.http.server.time",
      "s",
      "Time from the header fields of requests to the end of their responses, added up.",
      of => nanos(of).sum / 1e9
    )
  )

  private def byStatus(name: String, unit: String, about: String, value: Int => Double): Metric =
    val points = for
      of <- counts.indices.toVector
      status = if of == 0 then "aborted" else s"${of}xx"
      if counts(of).sum > 0
    yield Point(Vector("port" -> port.toString, "status" -> status), value(of))
    Metric(name, Kind.Counter, unit, about, points)
