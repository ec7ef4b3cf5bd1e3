package weir.console

import weir.console.Json.json
import weir.metrics.Metric

/** Keeps the figures of the last five minutes, and those of things with a name for the last minute.
  * `tick` is called each second.
  */
private[console] final class Sampler(lints: Lints):
  import Sampler.*

  // under this object's lock
  private var number = 0L
  private var beforeMillis = 0L
  private var before = Map.empty[Figures.Key, Double]
  private var history = Vector.empty[(Long, Vector[Double])]
  private var recent = Map.empty[(String, String), Vector[ThingFigures]]
  private var spins = Vector.empty[Long]
  private var latest = Sample.none

  /** Adds a moment.
    *
    * @param process the figures of the process, in the order of `Series.ofProcess`
    */
  def tick(
      millis: Long,
      metrics: Vector[Metric],
      process: Vector[Double],
      fibers: Option[Fibers]
  ): Unit =
    val figures = synchronized(Figures(metrics, before, (millis - beforeMillis) / 1000.0))
    val series = Series.read(figures) ++ process
    synchronized {
      number += 1
      before = figures.values
      beforeMillis = millis
      history = (history :+ (millis -> series)).takeRight(moments)
      recent = figures.things
        .take(rows)
        .map { thing =>
          val key = (thing.kind, thing.name)
          key -> (recent.getOrElse(key, Vector.empty) :+ thing).takeRight(trend)
        }
        .toMap
      spins = (spins :+ figures.value("weir.spins").toLong).takeRight(60)
      latest = Sample(
        number,
        millis,
        series,
        figures.streams.take(rows),
        figures.things.take(rows).map(t => t -> recent((t.kind, t.name)).map(_.main)),
        figures.own.take(rows),
        fibers.toVector.flatMap(lints.ofFibers) ++
          lints.ofRuntime(figures, spins.last - spins.head) ++
          figures.things.take(rows).flatMap(t => lints.ofThing(recent((t.kind, t.name))))
      )
      notifyAll()
    }

  def now: Sample = synchronized(latest)

  /** Waits for a moment after that of `number`. */
  def after(number: Long): Sample = synchronized {
    while latest.number <= number do wait()
    latest
  }

  /** Returns the series of the runtime: their names and units, and a value for each moment. */
  def series: Json = synchronized {
    Json.fields(
      "series" -> Series.all
        .map(one =>
          Json.fields("label" -> one.label.json, "unit" -> one.unit.json, "id" -> one.id.json)
        )
        .json,
      "moments" -> history
        .map((millis, values) => (millis.toDouble +: values).map(_.json).json)
        .json
    )
  }

private[console] object Sampler:
  private inline val moments = 300
  private inline val trend = 60

  /** The largest number of streams, and of things with a name, that the page shows. */
  private inline val rows = 500

private[console] object Sample:
  val none: Sample =
    Sample(0, 0, Vector.empty, Vector.empty, Vector.empty, Vector.empty, Vector.empty)

/** The figures of one moment, as the page shows them. */
private[console] final case class Sample(
    number: Long,
    millis: Long,
    series: Vector[Double],
    streams: Vector[StreamFigures],
    things: Vector[(ThingFigures, Vector[Double])],
    own: Vector[(String, ThingFigure)],
    warnings: Vector[Warning]
):
  def json: Json = Json.fields(
    "number" -> number.toDouble.json,
    "moment" -> (millis.toDouble +: series).map(_.json).json,
    "streams" -> streams.map(stream).json,
    "things" -> things.map(thing).json,
    "own" -> own
      .map((name, f) => Json.fields(("name" -> name.json) +: figure(f)*))
      .json,
    "warnings" -> warnings.map(warning).json
  )

  private def stream(stream: StreamFigures): Json =
    val slowest = stream.bottleneck
    Json.fields(
      "name" -> stream.name.json,
      "stretches" -> stream.stretches.map { s =>
        Json.Fields(
          Vector(
            "name" -> s.name.json,
            "elements" -> s.elements.json,
            "perSecond" -> s.perSecond.json,
            "busy" -> s.busy.json,
            "forInput" -> s.forInput.json,
            "forRoom" -> s.forRoom.json,
            "isBottleneck" -> slowest.contains(s.name).json
          ) ++ s.queued.map("queued" -> _.json)
        )
      }.json
    )

  private def thing(thing: ThingFigures, trend: Vector[Double]): Json =
    Json.fields(
      "kind" -> thing.kind.json,
      "name" -> thing.name.json,
      "namedAt" -> thing.namedAt.getOrElse("").json,
      "figures" -> thing.figures.map(f => Json.fields(figure(f)*)).json,
      "trend" -> trend.map(_.json).json
    )

  private def figure(f: ThingFigure): Vector[(String, Json)] =
    Vector("label" -> f.label.json, "value" -> f.value.json) ++
      f.perSecond.map("perSecond" -> _.json)

  private def warning(warning: Warning): Json =
    Json.fields(
      "kind" -> warning.kind.json,
      "title" -> warning.title.json,
      "text" -> warning.text.json,
      "fibers" -> warning.fibers
        .map(one => Json.fields("name" -> one.name.json, "line" -> one.line.json))
        .json
    )
