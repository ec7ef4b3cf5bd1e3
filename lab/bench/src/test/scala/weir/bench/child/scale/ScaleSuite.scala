package weir.bench.child.scale

import java.io.{ByteArrayOutputStream, PrintStream}
import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch}
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*

import weir.lab.ChildOutput.Message
import weir.lab.scale.{ScaleCount, ScaleRow}
import weir.lab.{ChildOutput, Experiment, Harness}

/** Checks that the report has the programs that were run. */
class ScaleSuite extends munit.FunSuite:
  private val work = Work(stepsPerMicro = 1)

  test("a JVM without the flags for its carriers is refused, with the flags"):
    val options = Experiment.Options(
      Map("carriers" -> "63", "row" -> "yields", "warm" -> "1", "round" -> "1", "rounds" -> "1")
    )
    val error = intercept[IllegalStateException]:
      Scale.run("weir", options, ChildOutput(PrintStream(ByteArrayOutputStream())))
    assert(error.getMessage.contains("-XX:ActiveProcessorCount=63"), error.getMessage)

  /** Each part is one run, however long that takes. */
  private val time = Harness(Duration.Zero, Duration.Zero, rounds = 1)

  /** Returns the report of `rows` on `system`. */
  private def reports(system: ScaleSystem, rows: ScaleRow*): List[Message] =
    val written = ByteArrayOutputStream()
    val out = ChildOutput(PrintStream(written))
    val measured = rows.toVector.map(MeasuredRow(_, "zio", system, 2, work, out))
    Scale.measure(measured, time, limit = 2.seconds)
    written.toString.linesIterator.flatMap(ChildOutput.parse).toList

  test("a row that is measured has its speed first, then its counts"):
    val units = reports(load => Some(() => load.expected), ScaleRow.Yields).map:
      case Message.Measured(result) if result.value >= 0 && result.name == "yields: 2" =>
        result.unit
      case other => fail(other.toString)
    assertEquals(units.head, "ops/s")
    val counts = units.tail.map(ScaleCount.ofUnit(_).get)
    assert(counts.contains(ScaleCount.ProcessorTime), counts)
    assert(!counts.contains(ScaleCount.Steals), "which only Weir counts, where it was asked to")

  test("a row that fails, or that the system lacks, is one message, and the next is measured"):
    def failsWith(why: String)(broken: => Option[() => Long]) =
      val system: ScaleSystem =
        load => if load.row == ScaleRow.Yields then broken else Some(() => load.expected)
      reports(system, ScaleRow.Yields, ScaleRow.Mutex) match
        case Message.Failed("yields: 2", "zio", said) :: Message.Measured(next) :: _ =>
          assert(said.contains(why), said)
          assertEquals(next.name, "mutex: 2")
        case other => fail(other.toString)
    failsWith("StackOverflowError: deep")(Some(() => throw StackOverflowError("deep")))
    failsWith("zio has no row 'yields'")(None)

  test("all rows are warmed up before the first is measured, in turns"):
    val ran = ConcurrentLinkedQueue[ScaleRow]()
    val system: ScaleSystem = load =>
      Some: () =>
        ran.add(load.row): Unit
        load.expected
    reports(system, ScaleRow.Yields, ScaleRow.Mutex): Unit
    val turn = List(ScaleRow.Yields, ScaleRow.Mutex)
    assertEquals(ran.asScala.toList, turn ++ turn ++ turn ++ turn.flatMap(row => List(row, row)))

  test("after a row that does not end no other is begun, and each has failed"):
    val never = CountDownLatch(1)
    val begun = ConcurrentLinkedQueue[ScaleRow]()
    val system: ScaleSystem = load =>
      Some: () =>
        begun.add(load.row): Unit
        if load.row == ScaleRow.Mutex then never.await()
        load.expected
    val said = reports(system, ScaleRow.Yields, ScaleRow.Mutex, ScaleRow.Merge)
    never.countDown()
    assertEquals(begun.asScala.toList, List(ScaleRow.Yields, ScaleRow.Mutex))
    assertEquals(
      said,
      List(
        Message.Failed("mutex: 2", "zio", "it did not end within 2000 ms"),
        Message.Failed("yields: 2", "zio", "it is not begun, as mutex did not end"),
        Message.Failed("merge: 2", "zio", "it is not begun, as mutex did not end")
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
