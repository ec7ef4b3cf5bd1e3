package weir
package stream

import munit.ScalaCheckSuite
import org.scalacheck.Gen
import org.scalacheck.Prop.*
import org.scalacheck.rng.Seed
import scala.collection.mutable.ListBuffer
import scala.concurrent.duration.*
import weir.testkit.TestRuntime

/** Random streams, whose work may fail ahead of the consumer, also while it is cancelled, with
  * tasks beside any of their parts. A task that never ends changes nothing: neither the result, nor
  * the reports. One that ends cuts the stream, and no error is lost.
  *
  * All times are random nanoseconds of a test's clock. So no two events of different fibers happen
  * at the same time, and a stream does the same in each run.
  */
class InterruptProgramsSuite extends StreamTests, RunWays, ScalaCheckSuite:
  override def limit: FiniteDuration = if Tier.isLong then 20.minutes else 60.seconds

  override def scalaCheckInitialSeed =
    System.getProperty("weir.stream.seed", Tier(Seed(1).toBase64, super.scalaCheckInitialSeed)).nn
  override def scalaCheckTestParameters =
    super.scalaCheckTestParameters.withMinSuccessfulTests(
      Integer.getInteger("weir.stream.runs", Tier(200, 30_000))
    )

  /** An operator, which may begin `work` for an element. */
  private final case class Op(name: String, on: (Stream[Int], Link) => Stream[Int])

  /** An operator in a chain.
    *
    * @param id different in each link of a program: the times of its work depend on it
    * @param failsAt the element for which its work fails
    */
  private final case class Link(op: Op, number: Int, id: Int, failsAt: Option[Int], ends: Boolean):
    override def toString: String =
      s"${op.name}($number)${failsAt.fold("")(n => s" fails at $n")}${if ends then " |" else ""}"

  /** @param wanted the number of elements after which the consumer stops
    * @param besides the numbers of the links behind which a task runs beside the stream
    */
  private final case class Program(
      size: Int,
      links: List[Link],
      wanted: Int,
      salt: Int,
      besides: List[Int]
  )

  private final case class Seen(
      result: Either[Set[String], Unit],
      elements: List[Int],
      reports: List[String],
      closes: Int,
      nanos: Long
  ):
    def errors: Set[String] = result.left.toOption.getOrElse(Set.empty) ++ reports
    def withoutErrors: Seen = copy(result = result.left.map(_ => Set.empty), reports = Nil)

  /** One run of a program. */
  private final class Run(program: Program):
    val failures, elements = ListBuffer[Any]()
    val busy = ListBuffer[(Long, Long)]()
    var closes = 0

    def time(id: Int, value: Int): FiniteDuration =
      val random = scala.util.Random((program.salt.toLong << 32) + id * 1000 + value)
      random.nextInt(): Unit
      (1 + random.nextLong(1_000_000_000L)).nanos

    /** Work that takes some time. Before it fails it is masked for a while. */
    def work(link: Link, value: Int): Task[Int] =
      val takes = Task.sleep(time(link.id, value))
      if !link.failsAt.contains(value) then takes.as(value)
      else
        val name = s"work of ${link.id} at $value"
        val fails = Task(failures.synchronized(failures += name)).andThen(Task.fail(Boom(name)))
        takes.andThen(Task.uncancelable(_ => Task.sleep(time(link.id, value + 50)).andThen(fails)))

    def source(link: Link, size: Int): Stream[Int] =
      Stream.emits(0 until size).evalMap(work(link, _))

  private var current: Run = scala.compiletime.uninitialized

  private def work(link: Link)(value: Int): Task[Int] = current.work(link, value)

  /** A stream that does not end at once when it is asked: the other one may have an error then. */
  private def other(link: Link): Stream[Int] =
    current.source(link, link.number * 2) ++ Stream.exec(Task.sleep(current.time(link.id, 100)))

  private val plain = List(
    Op("map", (s, l) => s.map(i => (i + l.number) % 10)),
    Op("filter", (s, l) => s.filter(_ % 3 != l.number)),
    Op("evalMap", (s, l) => s.evalMap(work(l))),
    Op("flatMap", (s, l) => s.flatMap(i => Stream(i, l.number))),
    Op("flatMap to work", (s, l) => s.flatMap(i => Stream.eval(work(l)(i)))),
    Op("take", (s, l) => s.take(l.number)),
    Op("takeWhile", (s, l) => s.takeWhile(_ != l.number)),
    Op("takeThrough", (s, l) => s.takeThrough(_ != l.number)),
    Op("drop", (s, l) => s.drop(l.number)),
    Op("++", (s, l) => s ++ other(l)),
    Op("zip", (s, l) => s.zip(other(l)).map(_._1)),
    Op("zip on its right", (s, l) => other(l).zip(s).map(_._2)),
    Op("zipAll", (s, l) => s.zipAll(other(l))(0, 0).map(_._1)),
    Op("handleErrorWith", (s, l) => s.handleErrorWith(_ => other(l))),
    Op("attempt", (s, l) => s.attempt.map(_.getOrElse(l.number))),
    Op("onError", (s, l) => s.onError { case _ => work(l)(0) }),
    Op("adaptError", (s, _) => s.adaptError { case e => Boom(s"adapted ${e.getMessage}") }),
    Op("recover", (s, l) => s.recover { case e if e.getMessage.contains("at 2") => l.number }),
    Op(
      "onFinalize",
      (s, l) =>
        val ends = work(l.copy(failsAt = l.failsAt.map(_ => l.number)))(l.number)
        s.onFinalize(ends.void)
    )
  )

  private val withFibers = List(
    Op("prefetchN", (s, l) => s.prefetchN(l.number + 1)),
    Op("prefetchStrict", (s, _) => s.prefetchStrict),
    Op("parEvalMap", (s, l) => s.parEvalMap(l.number + 1)(work(l))),
    Op("parEvalMapUnordered", (s, l) => s.parEvalMapUnordered(l.number + 1)(work(l))),
    Op("merge", (s, l) => s.merge(other(l))),
    Op("mergePreferred", (s, l) => s.mergePreferred(other(l))),
    Op("mergeHaltLeft", (s, l) => s.mergeHaltLeft(other(l))),
    Op("mergeHaltRight", (s, l) => s.mergeHaltRight(other(l))),
    Op("parZip", (s, l) => s.parZip(other(l)).map(_._1)),
    Op("parJoin", (s, l) => s.map(i => Stream.eval(work(l)(i))).parJoin(l.number + 1)),
    Op("switchMap", (s, l) => s.switchMap(i => Stream.eval(work(l)(i)))),
    Op("groupWithin", (s, l) => s.groupWithin(2, current.time(l.id, 0)).mapConcat(identity)),
    Op("broadcastThrough", (s, l) => s.broadcastThrough[Int](_.evalMap(work(l)))),
    Op("direct", (s, _) => Stream.direct(emit => for i <- s do emit(i)))
  )

  private def link(id: Int): Gen[Link] =
    for
      op <- Gen.oneOf(Gen.oneOf(plain), Gen.oneOf(withFibers))
      number <- Gen.choose(0, 4)
      failsAt <- Gen.frequency(2 -> Gen.const(None), 1 -> Gen.choose(0, 5).map(Some(_)))
      ends <- Gen.oneOf(true, false)
    yield Link(op, number, id, failsAt, ends)

  private val sourceOp = Op("source", (s, _) => s)

  private val program: Gen[Program] =
    for
      size <- Gen.choose(0, 7)
      count <- Gen.choose(1, 6)
      first <- link(0).map(_.copy(op = sourceOp, ends = false))
      links <- Gen.sequence[List[Link], Link]((1 to count).map(link))
      wanted <- Gen.frequency(1 -> Gen.const(500), 1 -> Gen.choose(1, 5))
      salt <- Gen.choose(0, Int.MaxValue)
      besides <- Gen.choose(1, 3).flatMap(Gen.listOfN(_, Gen.choose(0, count)))
    yield Program(size, first :: links, wanted, salt, besides)

  private type Beside = Stream[Int] => Stream[Int]

  /** The tasks beside a stream that never end it. */
  private val never: List[Beside] = List(
    _.interruptWhen(Task.never),
    _.interruptWhen(Deferred.unsafe[Unit].get),
    _.concurrently(Stream.never),
    _.timeout(100.days)
  )

  /** Runs the program, on a runtime that other runs have used. */
  private def run(program: Program, runtime: TestRuntime, way: Way)(
      beside: (Int, Stream[Int]) => Stream[Int]
  ): (Seen, Run) =
    val run = Run(program)
    current = run
    val source = run
      .source(program.links.head, program.size)
      .onFinalize(Task { run.closes += 1 })
    val stream = program.links.zipWithIndex.foldLeft(source) { case (upstream, (link, index)) =>
      val made = link.op.on(upstream, link)
      beside(index, if link.ends then endRun(made, way) else made)
    }
    val used = stream.evalMap { i =>
      for
        begin <- Task.monotonic
        _ <- Task(run.elements += i)
        _ <- Task.sleep(run.time(99, run.elements.size))
        end <- Task.monotonic
      yield
        run.busy += ((begin.toNanos, end.toNanos))
        run.elements.size < program.wanted
    }
    var seen: Seen | Null = null
    val text = printed {
      val (time, result) = runtime.timed(used.takeThrough(identity).drain.attempt)
      seen = Seen(
        result.left.map(names),
        run.elements.toList.asInstanceOf[List[Int]],
        Nil,
        run.closes,
        time.toNanos
      )
    }
    val reports = "Boom: (.*)".r.findAllMatchIn(text).map(_.group(1).nn).toList.sorted
    (seen.nn.copy(reports = reports), run)

  /** The messages of an error and of those suppressed under it. */
  private def names(error: Throwable): Set[String] =
    error.getSuppressed.toSet.flatMap(names) + error.getMessage.nn

  private def withRuntime[A](body: TestRuntime => A): A =
    val runtime = TestRuntime(carriers = 1)
    try body(runtime)
    finally runtime.close()

  property("a task that never ends changes neither the result nor the reports"):
    forAllNoShrink(program, Gen.listOfN(8, Gen.oneOf(never))) { (program, tasks) =>
      withRuntime { runtime =>
        val alone = run(program, runtime, fused)((_, stream) => stream)._1
        val beside = (index: Int, stream: Stream[Int]) =>
          if program.besides.contains(index) then tasks(index)(stream) else stream
        val seen = run(program, runtime, fused)(beside)._1
        assertEquals(run(program, runtime, chained)(beside)._1, seen)
        // A handler that is cancelled takes the error of work in its fiber. A task in between moves
        // that work to another fiber, which keeps the error.
        if handles(program) then
          assertEquals(seen.withoutErrors, alone.withoutErrors)
          assert(alone.errors.subsetOf(seen.errors), s"$seen, alone: $alone")
        else assertEquals(seen, alone)
      }
    }

  property("an interrupt cuts a stream: its error has happened, and none is lost"):
    forAllNoShrink(program, Gen.choose(1L, 3_000_000_000L), Gen.oneOf(true, false)) {
      (program, nanos, isLast) =>
        withRuntime { runtime =>
          val whole = run(program, runtime, fused)((_, stream) => stream)._1
          val last = program.links.size - 1
          val at = if isLast then last else program.besides.head
          val cuts = (index: Int, stream: Stream[Int]) =>
            if index == at then stream.interruptWhen(Task.sleep(nanos.nanos)) else stream
          val start = runtime.run(Task.monotonic).toNanos
          val (seen, first) = run(program, runtime, fused)(cuts)
          assertEquals(run(program, runtime, chained)(cuts)._1, seen)
          val errors = seen.errors
          val happened = first.failures.toSet.asInstanceOf[Set[String]]
          assert(errors.forall(e => happened(e.stripPrefix("adapted "))), s"$errors of $happened")
          if !handles(program) then assertEquals(happened -- errors, Set.empty, s"lost of $seen")
          if isLast then
            assert(whole.elements.startsWith(seen.elements), s"$seen, whole: $whole")
            val until = start + nanos
            val wasBusy = first.busy.exists((begin, end) => begin < until && until < end)
            if wasBusy then
              val ofFinalizers = program.links.exists(l => l.op.name == "onFinalize")
              assert(seen.result.isRight || ofFinalizers, s"$seen")
        }
    }

  private def handles(program: Program): Boolean = program.links.exists(l => handlers(l.op.name))

  private val handlers = Set("handleErrorWith", "attempt", "onError", "adaptError", "recover")
