package weir.bench.child.scale

import java.io.{ByteArrayOutputStream, PrintStream}
import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch}
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*

import weir.lab.ChildOutput.Message
import weir.lab.scale.{ScaleCount, ScaleRow}
import weir.lab.{ChildOutput, Experiment, Harness}

/** What is reported is what was run. */
class ScaleSuite extends munit.FunSuite:
  private val work = Work(stepsPerMicro = 1)

  test("a JVM without the flags for its carriers is refused, with the flags"):
    val options = Experiment.Options(
      Map("carriers" -> "63", "row" -> "yields", "warm" -> "1", "round" -> "1", "rounds" -> "1")
    )
    val error = intercept[IllegalStateException]:
      Scale.run("weir", options, ChildOutput(PrintStream(ByteArrayOutputStream())))
    assert(error.getMessage.contains("-XX:ActiveProcessorCount=63"), error.getMessage)

  private def report(system: ScaleSystem, row: ScaleRow): List[Message] =
    val written = ByteArrayOutputStream()
    val time = Harness(1.milli, 1.milli, rounds = 1)
    RowReport("zio", 2, work, time, ChildOutput(PrintStream(written))).measure(system, row)
    written.toString.linesIterator.flatMap(ChildOutput.parse).toList

  test("a row that is measured has its speed first, then its counts"):
    val units = report(load => Some(() => load.expected), ScaleRow.Yields).map:
      case Message.Measured(result) if result.value >= 0 && result.name == "yields: 2" =>
        result.unit
      case other => fail(other.toString)
    assertEquals(units.head, "ops/s")
    val counts = units.tail.map(ScaleCount.ofUnit(_).get)
    assert(counts.contains(ScaleCount.ProcessorTime), counts)
    assert(!counts.contains(ScaleCount.Steals), "which only Weir counts, where it was asked to")

  test("a row that fails, or that the system lacks, is a message that says why"):
    def failsWith(why: String)(system: ScaleSystem) =
      report(system, ScaleRow.Yields) match
        case List(Message.Failed("yields: 2", "zio", said)) => assert(said.contains(why), said)
        case other => fail(other.toString)
    failsWith("StackOverflowError: deep")(_ => Some(() => throw StackOverflowError("deep")))
    failsWith("zio has no row 'yields'")(_ => None)

  test("after a row that does not end no other is begun, and each is told to have failed"):
    val never = CountDownLatch(1)
    val begun = ConcurrentLinkedQueue[ScaleRow]()
    val failed = List.newBuilder[(ScaleRow, String)]
    val rows = Vector(ScaleRow.Yields, ScaleRow.Mutex, ScaleRow.Merge)
    Scale.measureEach(rows, 2.seconds) { row =>
      begun.add(row): Unit
      if row == ScaleRow.Mutex then never.await()
    }((row, why) => failed += row -> why)
    never.countDown()
    assertEquals(begun.asScala.toList, List(ScaleRow.Yields, ScaleRow.Mutex))
    assertEquals(
      failed.result(),
      List(
        ScaleRow.Mutex -> "it did not end within 2000 ms",
        ScaleRow.Merge -> "it is not begun, as mutex did not end"
      )
    )

  test("a run that returns another value fails, and names its row"):
    val load = Load(ScaleRow.Yields, 2, work)
    val error = intercept[IllegalStateException](TimedRuns(load, () => 7).rate(1.milli))
    assertEquals(
      error.getMessage,
      s"a run of yields returned 7. It must return ${load.expected}."
    )

  test("the rate is that of the operations of all runs, and one run at least"):
    val load = Load(ScaleRow.Yields, 2, work)
    val runs = TimedRuns(load, () => load.expected)
    assert(runs.rate(Duration.Zero) > 0)
    assertEquals(runs.operations, load.operations)
    assert(runs.rate(1.milli) > 0)
    assertEquals(runs.operations % load.operations, 0L)

  test("the time in which a run must wait is not counted"):
    val load = Load(ScaleRow.Sleeping, 2, work, divisor = 10)
    val runs = TimedRuns(load, () => { Thread.sleep(load.sleep.toMillis); load.expected })
    val all = load.operations / load.idle.toUnit(SECONDS) // if the wait were counted
    assert(runs.rate(Duration.Zero) > all)

  test("a run that does not wait where it must fails"):
    val load = Load(ScaleRow.Sleeping, 2, work)
    val error = intercept[IllegalStateException]:
      TimedRuns(load, () => load.expected).rate(Duration.Zero)
    assert(error.getMessage.contains("It must wait for 500000000 ns."), error.getMessage)

  test("the work returns what it is given, and takes longer for more microseconds"):
    val calibrated = Work.calibrated()
    for micros <- List(0, 1, 10); i <- List(0, 1, -1, Int.MaxValue) do
      assertEquals(calibrated.compute(micros, i), i)
    val start = System.nanoTime()
    assertEquals(calibrated.compute(100_000, 3), 3)
    assert(System.nanoTime() - start > 10.millis.toNanos, "100 ms, on a clock that may run faster")

  test("a count grows by so much for its number of operations"):
    val before = Map(ScaleCount.ProcessorTime -> 100L, ScaleCount.Waits -> 5L)
    val after = Map(
      ScaleCount.ProcessorTime -> 1100L,
      ScaleCount.Waits -> 8L,
      ScaleCount.WakeUps -> 3L // not counted before
    )
    assertEquals(
      Counters.growth(before, after, operations = 500),
      Vector(ScaleCount.ProcessorTime -> 2.0, ScaleCount.Waits -> 6.0)
    )

  test("a count that shrinks, as threads end, has not grown"):
    val (before, after) = (Map(ScaleCount.Waits -> 5L), Map(ScaleCount.Waits -> 3L))
    assertEquals(Counters.growth(before, after, 1), Vector(ScaleCount.Waits -> 0.0))

  test("the processor time of a computation is counted"):
    val before = ProcessCounters.read()
    Work(stepsPerMicro = 1).compute(100_000_000, 3): Unit
    val growth = Counters.growth(before, ProcessCounters.read(), 1).toMap
    assert(growth(ScaleCount.ProcessorTime) > 0, growth)
