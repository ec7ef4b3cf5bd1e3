package weir.stream

import java.util.concurrent.atomic.AtomicInteger
import munit.ScalaCheckSuite
import org.scalacheck.Gen
import org.scalacheck.Prop.*
import org.scalacheck.rng.Seed
import scala.collection.mutable.ListBuffer
import scala.concurrent.duration.DurationInt
import weir.*
import weir.fiber.TaskFiber

/** Random runs of steps do the same as one class and as a chain of stages: in elements, in the
  * order in which functions and effects are called, in failures, in what is left undone when the
  * consumer stops, and in the way in which the source is closed. The chain does the same as a
  * `List`.
  */
class FusedSuite extends ScalaCheckSuite, WeirSuite:
  import FusedSuite.*

  override def limit = 120.seconds

  override def scalaCheckInitialSeed =
    System.getProperty("weir.stream.seed", Tier(Seed(1).toBase64, super.scalaCheckInitialSeed)).nn
  override def scalaCheckTestParameters =
    super.scalaCheckTestParameters.withMinSuccessfulTests(
      Integer.getInteger("weir.stream.runs", Tier(400, 20_000))
    )

  property("a run that is fused does what its stages do one by one"):
    forAll(program) { program =>
      for end <- ends do
        assertEquals(observe(program, end, fused), observe(program, end, chained), end.name)
    }

  property("the stages do what a list does"):
    forAll(program.map(_.copy(failsAt = -1))) { program =>
      val ops = program.ops
      val expected =
        ops.foldLeft(program.source)((items, op) => op.onList(items)).take(program.wanted)
      for open <- List(fused, chained) do
        val (result, _, closed) = observe(program, ends.head, open)
        assertEquals(result, Right(expected.toString))
        assertEquals(closed, List("Succeeded(())"))
    }

  property("a fused run knows as its stages do whether elements are left, and what to close"):
    forAll(program) { program =>
      assertEquals(states(program, fused), states(program, chained))
    }

  /** Returns the states of a pull before and after each element, and its requests. */
  private def states(program: Program, way: (Pull, Array[Step]) => Pull): List[String] =
    val steps = Array.from(program.ops.flatMap(_.steps(Log(), program.failsAt)))
    val said = ListBuffer[String]()
    val strict = IteratorSource(() => program.source.iterator, isStrict = true, classOf[List[?]])
    val source: Pull = program.from match
      case From.Iterator => strict
      case From.Pull => Asked(strict, said)
      case From.Composite => Stream.fromIterable(program.groups).flatMap(part(_, said)).open()
    val task = weir.fiber.DirectCode { fiber =>
      val pull = way(source, steps)
      if program.wanted != Int.MaxValue then pull.atMost(program.wanted)
      def note(): Unit = said += s"${pull.isSpent} ${pull.holdsNothing}"
      note()
      var value = pull.next(fiber)
      while !Pull.isEnd(value) do
        note()
        value = pull.next(fiber)
      assert(Pull.isEnd(pull.next(fiber)))
    }
    try task.runSync()
    catch case error: Failed => said += error.getMessage
    said.toList

  private def part(items: List[Int], said: ListBuffer[String]): Stream[Int] =
    val plain = Stream.fromIterable(items)
    if items.forall(_ % 3 != 0) then plain
    else
      new Stream[Int]:
        private[weir] def open(): Pull = Asked(plain.open(), said)

  /** The result or the error of a run, the calls of functions, and how its source was closed. */
  private def observe(program: Program, end: Ending, way: (Pull, Array[Step]) => Pull) =
    val log = Log()
    val closed = ListBuffer[String]()
    val steps = Array.from(program.ops.flatMap(_.steps(log, program.failsAt)))
    val stream = new Stream[Any]:
      private[weir] def open(): Pull = openWith(Array.empty)
      override private[weir] def openUntil(end: Step.End): Pull =
        if program.wanted == Int.MaxValue then openWith(Array(end)) else this.open()
      private def openWith(end: Array[Step]): Pull =
        val iterated = IteratorSource(
          () => program.source.iterator.map(log.value("source", program.failsAt)),
          isStrict = false,
          classOf[List[?]]
        )
        val source = program.from match
          case From.Iterator => iterated
          case From.Pull => Closing(iterated, closed)
          case From.Composite => composite(program, log, closed).open()
        // The chain has no end: the loop in `RunStream` does that.
        openRun(way, source, steps, end)
    val task =
      if program.wanted == Int.MaxValue then end.of(stream, log)
      else end.of(stream.chunkN(1).mapConcat(identity).take(program.wanted), log)
    val result =
      try Right(task.runSync().toString)
      catch case error: Failed => Left(error.getMessage)
    val isIterated = program.from == From.Iterator
    (result, log.lines, if isIterated then List("Succeeded(())") else closed.toList)

  private def openRun(
      open: (Pull, Array[Step]) => Pull,
      source: Pull,
      steps: Array[Step],
      end: Array[Step]
  ): Pull = open(source, if open eq fused then steps ++ end else steps)

  private val fused: (Pull, Array[Step]) => Pull = (source, steps) =>
    if steps.isEmpty then source else FusedClass.of(source, steps).open(source, steps, Stream.empty)

  private val chained: (Pull, Array[Step]) => Pull = (source, steps) =>
    steps.foldLeft(source)((upstream, step) => step.pull(upstream))

  test("mapConcat looks for a cancel before each item, fused or not"):
    var passed = 0
    def passes(count: Int)(own: TaskFiber): Task[Unit] = Stream
      .emit(0)
      .mapConcat(_ => Iterator.range(0, count))
      .filter { i =>
        passed = i + 1
        if passed == 3 then own.requestCancel()
        false
      }
      .drain
    def isCancelled(): Unit =
      val ended = ownFiber.flatMap(passes(100)).start.flatMap(_.join).runSync()
      assertEquals((ended, passed), (Outcome.Canceled, 3))
    isCancelled()
    for _ <- 1 to FusedShapes.after + 1 do ownFiber.flatMap(passes(1)).runSync()
    isCancelled()

  test("an effect does not begin once its fiber is cancelled, fused or not"):
    val begun = AtomicInteger()
    def cancelledBefore(isCancelled: Boolean) =
      val task = weir.fiber.DirectCode { fiber =>
        val effects = Stream
          .emit(fiber)
          .map { fiber =>
            if isCancelled then fiber.requestCancel()
            fiber
          }
          .evalMap(_ => Task(begun.incrementAndGet()))
        fiber.await(effects.drain)
      }
      task.start.flatMap(_.join).runSync()
    def isNotBegun(): Unit =
      begun.set(0)
      assertEquals(cancelledBefore(isCancelled = true), Outcome.Canceled)
      assertEquals(begun.get, 0)
    isNotBegun()
    for _ <- 1 to FusedShapes.after + 1 do cancelledBefore(isCancelled = false)
    isNotBegun()

  test("a shape that is opened often is one class, and one that is not is none"):
    def stream = Stream.fromIterable(List(1, 2, 3)).map(_ + 1).filter(_ > 2)
    val opened = List.fill(FusedShapes.after + 1)(stream.open())
    assert(!opened.head.isInstanceOf[FusedPull] || FusedShapes.after == 1)
    assert(opened.last.isInstanceOf[FusedPull])
    assert(stream.open().getClass eq opened.last.getClass)
    val again = Stream.fromIterable(List(1, 2, 3)).map(_ + 1).filter(_ > 2)
    assert(!again.open().isInstanceOf[FusedPull] || FusedShapes.after == 1)
    for _ <- 1 to FusedShapes.after + 1 do
      assertEquals(stream.toList.runSync(), List(3, 4))
      assertEquals(stream.fold(0)(_ + _).runSync(), 7)

object FusedSuite:
  final class Failed(message: String) extends RuntimeException(message, null, true, false)

  final class Log:
    private val buffer = ListBuffer[String]()
    def lines: List[String] = buffer.toList
    private var written = 0

    /** Writes a line; the one with the number `failsAt` fails. */
    def line(text: String, failsAt: Int): Unit =
      buffer += text
      written += 1
      if written == failsAt then throw Failed(text)
    def value(name: String, failsAt: Int)(value: Int): Int =
      line(s"$name $value", failsAt)
      value

  /** One operation: as steps, and on a list. */
  final case class Op(
      name: String,
      steps: (Log, Int) => List[Step],
      onList: List[Int] => List[Int]
  ):
    override def toString: String = name

  private def any[A, B](f: A => B): Any => B = f.asInstanceOf[Any => B]
  private def any2[A, B, C](f: (A, B) => C): (Any, Any) => C = f.asInstanceOf[(Any, Any) => C]

  /** Functions of numbers, which Scala compiles as such, and of objects. */
  private val op: Gen[Op] =
    Gen
      .oneOf[Int => Op](
        n =>
          Op(
            s"map $n",
            (log, at) => List(Step.Map(any((x: Int) => { log.line(s"map $x", at); x + n }))),
            _.map(_ + n)
          ),
        n =>
          Op(
            s"mapObject $n",
            (log, at) =>
              List(Step.Map(any((x: Any) => {
                log.line(s"object $x", at); x.asInstanceOf[Int] * n
              }))),
            _.map(_ * n)
          ),
        n =>
          Op(
            s"long $n",
            (log, at) =>
              List(
                Step.Map(any((x: Int) => { log.line(s"long $x", at); x.toLong + n })),
                Step.Filter(any((x: Long) => { log.line(s"filter $x", at); x % 3 != 0 })),
                Step.Map(any((x: Long) => x.toDouble)),
                Step.Map(any((x: Double) => x.toInt))
              ),
            _.map(_ + n).filter(_ % 3 != 0)
          ),
        n =>
          Op(
            s"filter $n",
            (log, at) =>
              List(Step.Filter(any((x: Int) => { log.line(s"filter $x", at); x % 3 != n }))),
            _.filter(_ % 3 != n)
          ),
        n =>
          Op(
            s"filterObject $n",
            (log, at) =>
              List(Step.Filter(any((x: Any) => { log.line(s"keep $x", at); x.hashCode % 2 == 0 }))),
            _.filter(_.hashCode % 2 == 0)
          ),
        n =>
          Op(
            s"collect $n",
            (log, at) =>
              val f: PartialFunction[Any, Any] = {
                case x: Int if { log.line(s"collect $x", at); x % 2 == 0 } => x + n
              }
              List(Step.Collect(f))
            ,
            _.collect { case x if x % 2 == 0 => x + n }
          ),
        n =>
          Op(
            s"evalMap $n",
            (log, at) =>
              val f: Any => Task[Any] = any((x: Int) =>
                log.line(s"f $x", at)
                if x % 2 == 0 then Task.pure(x + n)
                else Task { log.line(s"eval $x", at); x + n }
              )
              List(Step.EvalMap(f))
            ,
            _.map(_ + n)
          ),
        n => Op(s"take $n", (_, _) => List(Step.Take(n)), _.take(n)),
        n => Op(s"take ${n * 4}", (_, _) => List(Step.Take(n * 4)), _.take(n * 4)),
        n => Op(s"drop $n", (_, _) => List(Step.Drop(n)), _.drop(n)),
        n =>
          Op(
            s"takeWhile $n",
            (log, at) =>
              List(Step.TakeWhile(any((x: Int) => { log.line(s"while $x", at); x % 11 != n }))),
            _.takeWhile(_ % 11 != n)
          ),
        n =>
          Op(
            s"takeThrough $n",
            (log, at) =>
              List(Step.TakeThrough(any((x: Int) => { log.line(s"through $x", at); x % 11 != n }))),
            items => { val (a, b) = items.span(_ % 11 != n); a ++ b.take(1) }
          ),
        n =>
          Op(
            s"dropWhile $n",
            (log, at) =>
              List(Step.DropWhile(any((x: Int) => { log.line(s"drop $x", at); x % 5 != n }))),
            _.dropWhile(_ % 5 != n)
          ),
        n =>
          Op(
            s"scan $n",
            (log, at) =>
              List(Step.Scan(n, any2((s: Int, x: Int) => { log.line(s"scan $s $x", at); s + x }))),
            _.scanLeft(n)(_ + _)
          ),
        n =>
          Op(
            s"scanLong $n",
            (log, at) =>
              List(
                Step.Scan(
                  n.toLong,
                  any2((s: Long, x: Int) => { log.line(s"scan $s $x", at); s ^ x })
                ),
                Step.Map(any((x: Long) => x.toInt))
              ),
            _.scanLeft(n)(_ ^ _)
          ),
        n =>
          Op(
            s"mapAccumulate $n",
            (log, at) =>
              List(
                Step.MapAccumulate(
                  n,
                  any2((s: Int, x: Int) => { log.line(s"accumulate $s $x", at); (s + 1, s * x) })
                )
              ),
            _.zipWithIndex.map((x, i) => (n + i) * x)
          ),
        n =>
          Op(
            s"zipWithIndex $n",
            (log, at) =>
              List(
                Step.ZipWithIndex(),
                Step.Map(any((pair: (Int, Long)) => {
                  log.line(s"pair $pair", at); pair._1 + pair._2.toInt
                }))
              ),
            _.zipWithIndex.map(_ + _)
          ),
        n =>
          Op(
            s"mapConcat $n",
            (log, at) =>
              List(
                Step.MapConcat(any((x: Int) => {
                  log.line(s"concat $x", at)
                  Iterator
                    .range(0, math.floorMod(x, n + 1))
                    .map(i => { log.line(s"item $i", at); x + i })
                }))
              ),
            _.flatMap(x => List.range(x, x + math.floorMod(x, n + 1)))
          ),
        n =>
          Op(
            s"changes $n",
            (_, _) => List(Step.Map(any((x: Int) => x / (n + 1))), Step.Changes()),
            _.map(_ / (n + 1))
              .foldLeft(List.empty[Int])((s, x) => if s.headOption.contains(x) then s else x :: s)
              .reverse
          )
      )
      .flatMap(make => Gen.choose(0, 4).map(make))

  /** The kind of the pull from which a run gets its elements. */
  enum From:
    case Iterator, Pull, Composite

  final case class Program(
      source: List[Int],
      ops: List[Op],
      wanted: Int,
      failsAt: Int,
      from: From
  ):
    /** The source in parts, of which some have no element. */
    def groups: List[List[Int]] = source.grouped(3).flatMap(List(Nil, _)).toList

  /** A stream whose parts are collections and others, and which notes the way in which it is
    * closed.
    */
  private def composite(program: Program, log: Log, closed: ListBuffer[String]): Stream[Int] =
    val note = log.value("source", program.failsAt)
    def items(of: List[Int]) = new Iterable[Int]:
      def iterator = of.iterator.map(note)
    val parts = Stream.fromIterable(program.groups).flatMap { group =>
      if group.headOption.exists(_ % 3 == 0) then Stream.fromIterable(group).map(note)
      else Stream.fromIterable(items(group.take(2))) ++ Stream.fromIterable(items(group.drop(2)))
    }
    val handled =
      if program.failsAt % 2 == 0 then parts
      else parts.handleErrorWith(error => Stream(-7) ++ Stream.fail(error))
    Finalized(handled, outcome => Task { closed += outcome.toString }.void)

  private val program: Gen[Program] =
    for
      source <- Gen.listOf(Gen.choose(-20, 20))
      count <- Gen.choose(0, 7)
      ops <- Gen.listOfN(count, op)
      wanted <- Gen.frequency(2 -> Gen.const(Int.MaxValue), 1 -> Gen.choose(0, 10))
      failsAt <- Gen.frequency(2 -> Gen.const(-1), 1 -> Gen.choose(1, 60))
      from <- Gen.oneOf(From.values.toSeq)
    yield Program(source, ops, wanted, failsAt, from)

  /** A way to run the stream. */
  final case class Ending(name: String, of: (Stream[Any], Log) => Task[Any])

  private val ends = List(
    Ending("toList", (stream, _) => stream.toList),
    Ending("count", (stream, _) => stream.count),
    Ending("drain", (stream, _) => stream.drain),
    Ending(
      "fold",
      (stream, log) =>
        stream.asInstanceOf[Stream[Int]].fold(1)((s, x) => { log.line(s"fold $s", -1); s * 31 + x })
    ),
    Ending("fold of objects", (stream, _) => stream.fold("")((s, x) => s"$s $x")),
    Ending(
      "fold of longs",
      (stream, _) => stream.asInstanceOf[Stream[Int]].fold(1L)((s, x) => s * 31 + x)
    )
  )

  /** Notes the way in which it is closed. */
  final class Closing(upstream: Pull, closed: ListBuffer[String]) extends Pull:
    def next(fiber: TaskFiber): Any = upstream.next(fiber)
    def close(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
      closed += outcome.toString
      upstream.close(fiber, outcome)

  /** Notes the largest number of elements that it may be asked for, and has something to close. */
  final class Asked(upstream: Pull, said: ListBuffer[String]) extends Stage(upstream):
    private var lowest = Long.MaxValue
    private var begun = false
    def next(fiber: TaskFiber): Any =
      if !begun then said += s"at most $lowest"
      begun = true
      upstream.next(fiber)
    override def atMost(count: Long): Unit = lowest = math.min(lowest, count)
    override def isSpent: Boolean = upstream.isSpent
    override def holdsNothing: Boolean = false
