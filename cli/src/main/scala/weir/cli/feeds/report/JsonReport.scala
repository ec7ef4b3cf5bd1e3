package weir.cli.feeds.report

import java.nio.file.{Files, Path}

/** The results of a run in a form that programs read. */
object JsonReport:
  private final case class Result(name: String, value: Double, unit: String, better: String)

  def write(file: Path, seed: Long, summary: Summary): Unit =
    val json = ujson.Obj(
      "command" -> "feeds",
      "commit" -> sys.props.getOrElse("weir.commit", "unknown"),
      "jdk" -> Runtime.version.toString,
      "cpus" -> Runtime.getRuntime.availableProcessors,
      "seed" -> seed.toString,
      "results" -> ujson.Arr.from(results(summary).map(asJson))
    )
    val _ = Files.writeString(file, ujson.write(json, indent = 2) + "\n")

  private def results(summary: Summary): Vector[Result] =
    import summary.tally.*
    val times = Vector(
      Result("time taken", summary.taken.toMillis / 1000.0, "s", "lower"),
      Result("one by one", work.oneByOne.toMillis / 1000.0, "s", "lower"),
      Result("speed-up over one by one", summary.speedUp, "times", "higher")
    )
    val bound = summary.bound.toVector.flatMap: bound =>
      Vector(
        Result("bound", bound.time.toMillis / 1000.0, "s", "lower"),
        Result("time taken over bound", bound.ratio(summary.taken), "times", "lower")
      )
    val items = Vector(
      Result("items found", total.found.toDouble, "items", "higher"),
      Result("items new", total.fresh.toDouble, "items", "higher")
    )
    val outcomes = rows.map: (name, row) =>
      Result(s"outcome: $name", row.feeds.toDouble, "feeds", "higher")
    times ++ bound ++ items ++ outcomes

  private def asJson(result: Result): ujson.Value =
    ujson.Obj(
      "case" -> result.name,
      "system" -> "weir",
      "value" -> result.value,
      "unit" -> result.unit,
      "better" -> result.better
    )
