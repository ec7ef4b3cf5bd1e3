package weir.lab.bench

import weir.program.Result

/** JMH's results in the form of all other commands. */
object JmhResults:
  /** Returns the results that JMH has written as JSON. */
  def of(json: ujson.Value): Vector[Result] = json.arr.map(result).toVector

  /** `weir.bench.GatherReady.catsEffect` with size 1000 is the case `gather ready: 1000` of
    * `cats-effect`; further parameters follow the size.
    */
  private def result(json: ujson.Value): Result =
    val benchmark = json("benchmark").str
    val parameters = json.obj.get("params").fold(Vector.empty)(_.obj.toVector)
    val (size, others) = parameters.partition(_._1 == "size")
    val values = (size ++ others).map(_._2.str)
    val group = words(benchmark.split('.').dropRight(1).last, " ")
    val name = if values.isEmpty then group else s"$group: ${values.mkString(", ")}"
    val metric = json("primaryMetric")
    figure(name, system(benchmark), metric("score").num, metric("scoreUnit").str)

  /** Throughput is in operations a second, and times are in milliseconds, whatever JMH shows. */
  private def figure(name: String, system: String, score: Double, unit: String): Result =
    unit.split("/") match
      case Array("ops", time) => Result.opsPerSecond(name, system, score / secondsOf(time))
      case Array(time, "op") => Result.millis(name, system, score * secondsOf(time) * 1000)
      case _ => Result(name, system, score, unit, Result.lower)

  private def secondsOf(unit: String): Double = unit match
    case "ns" => 1e-9
    case "us" => 1e-6
    case "ms" => 1e-3
    case "s" => 1
    case "min" => 60
    case other => throw IllegalArgumentException(s"JMH gave a time in '$other'")

  /** Returns the system that a benchmark method measures: `virtualThreads` for `virtual-threads`.
    */
  def system(benchmark: String): String = words(benchmark.split('.').last, "-")

  private def words(name: String, between: String): String =
    name.split("(?<=.)(?=\\p{Lu})").map(_.toLowerCase).mkString(between)
