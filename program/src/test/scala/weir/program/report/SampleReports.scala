package weir.program.report

import java.util.SplittableRandom

import weir.program.{Result, Systems}

/** Reports with made-up figures in the shape of each command's. */
object SampleReports:
  private def report(command: String, results: Seq[Result]): RunReport =
    RunReport(command, "abc1234", "25.0.3+9-LTS", 2, 1, results)

  /** Between half and one and a half times `about`, the same each time. */
  private def near(about: Double, salt: Int): Double =
    about * (0.5 + SplittableRandom(salt).nextDouble())

  val gather: RunReport =
    val rivals = Vector("cats-effect", "zio", "monix", "scalaz", "future", "ox", "virtual-threads")
    val results = for
      (kind, index) <- Vector("sequence", "gather", "unordered").zipWithIndex
      way <- Vector("ready", "forked")
      size <- Vector(1000, 10, 100000)
      (system, rank) <- ("weir" +: rivals).zipWithIndex
    yield
      val rate = near(40000.0 * 1000 / size / (if rank == 0 then 1 else 4 + 5 * rank), index + rank)
      Result.opsPerSecond(s"$kind $way: $size", system, rate)
    report("gather", results)

  val compare: RunReport =
    val ways = Vector(
      "batch",
      "blocking queue",
      "weir queue",
      "stream",
      "stream with prefetch",
      "parallel producers over a queue",
      "parallel producers in a stream",
      "two consumers, started first"
    )
    val results = for
      load <- Vector("slow-producer", "slow-consumer", "fast-producer")
      (way, index) <- ways.zipWithIndex
      (system, factor) <- Vector("bound" -> 1.0, "weir" -> 1.004, "fs2" -> 1.013)
    yield Result.millis(s"$load: $way", system, near(10000, index) * factor)
    report("compare", results)

  val burst: RunReport =
    val systems =
      Vector("weir" -> 1.0, "cats-effect" -> 31.0, "cats-effect-vt" -> 9.4, "zio" -> 12.0)
    val results = for
      fibers <- Vector(10, 100, 500)
      (system, factor) <- systems
      result <- Vector(
        Result.millis(s"nested runSync: $fibers", system, fibers * 0.06 * factor),
        Result(
          s"nested runSync: $fibers",
          system,
          20 + fibers * (factor - 1) / 30,
          "threads",
          "lower"
        ),
        Result(s"nested runSync: $fibers", system, 12.5 + factor, "MB", "lower")
      )
    yield result
    report("burst", results)

  val clients: RunReport =
    val times = Vector(
      "one by one" -> 40012.0,
      "parallel stream" -> 20020.0,
      "pool of 100" -> 2011.0,
      "a virtual thread each" -> 2012.0
    )
    report(
      "clients",
      Result.millis("20 ids: blocking", "bound", 2000) +:
        Result.millis("20 ids: blocking", "weir", 2006) +:
        times.zip(Vector("java-stream", "ox", "completable-future", "virtual-threads")).map {
          case ((_, time), system) => Result.millis("20 ids: blocking", system, time)
        }
    )

  val feeds: RunReport =
    def one(name: String, value: Double, unit: String) =
      Result(name, Systems.weir, value, unit, Result.lower)
    report(
      "feeds",
      Seq(
        one("time taken", 8.1, "s"),
        one("one by one", 310, "s"),
        one("outcome: fetched", 400, "feeds"),
        one("outcome: fetched, wrong encoding recovered", 20, "feeds"),
        one("outcome: <script>alert(1)</script> & \"co\"", 3, "feeds"),
        one("outcome: timed out", 0, "feeds")
      )
    )

  val all: Vector[RunReport] = Vector(gather, compare, burst, clients, feeds)
