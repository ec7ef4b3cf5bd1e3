package weir
package stream

import munit.ScalaCheckSuite
import org.scalacheck.Gen
import org.scalacheck.Prop.*
import org.scalacheck.rng.Seed
import scala.collection.mutable.ListBuffer
import scala.concurrent.duration.*
import weir.fiber.TaskFiber

/** Random chains of all operators of one fiber, on a source that may fail at any place, with a
  * function in the chain that may throw, for a consumer that may stop at any place. They do the
  * same as the same chain on a list. They do it in the same order, seen between each two operators,
  * whether their runs are one loop or a chain of stages. Whatever was opened is closed once.
  */
class OperatorProgramsSuite extends StreamTests, RunWays, ScalaCheckSuite:
  override def limit: FiniteDuration = if Tier.isLong then 20.minutes else 60.seconds

  override def scalaCheckInitialSeed =
    System.getProperty("weir.stream.seed", Tier(Seed(1).toBase64, super.scalaCheckInitialSeed)).nn
  override def scalaCheckTestParameters =
    super.scalaCheckTestParameters.withMinSuccessfulTests(
      Integer.getInteger("weir.stream.runs", Tier(150, 30_000))
    )

  /** @param ends true if a run of steps ends after the operator, as it does at a fiber
    * @param poison the element after the operator at which a function throws
    */
  private final case class Link(
      operator: ListOperator,
      number: Int,
      ends: Boolean,
      poison: Option[Int]
  ):
    override def toString: String =
      s"${operator.name}($number)${poison.fold("")(p => s" fails at $p")}${
          if ends then " |" else ""
        }"

  private final case class Program(
      items: List[Int],
      failsAfter: Option[Int],
      links: List[Link],
      wanted: Int
  ):
    def mayFail: Boolean = failsAfter.isDefined || links.exists(_.poison.isDefined)

  private val link: Gen[Link] =
    for
      operator <- Gen.oneOf(ListOperator.all)
      number <- Gen.choose(0, 4)
      ends <- Gen.oneOf(true, false)
      poison <- Gen.frequency(9 -> Gen.const(None), 1 -> Gen.choose(-9, 9).map(Some(_)))
    yield Link(operator, number, ends, poison)

  private val program: Gen[Program] =
    for
      items <- Gen.listOf(Gen.choose(-9, 9))
      failsAfter <- Gen.frequency(
        2 -> Gen.const(None),
        1 -> Gen.choose(0, items.size).map(Some(_))
      )
      count <- Gen.choose(1, 6)
      links <- Gen.listOfN(count, link)
      wanted <- Gen.frequency(2 -> Gen.const(500), 1 -> Gen.choose(0, 9))
    yield Program(items, failsAfter, links, wanted)

  /** Any element as a small number, so that each operator can follow each. */
  private def small(value: Any): Int = value match
    case number: Int => number % 10
    case Left(_) => 7
    case other => other.hashCode % 10

  private val boom = Boom()

  /** The result, the elements that have passed each operator in their order, and the sources that
    * were opened and closed.
    */
  private final case class Seen(
      result: Either[String, Unit],
      elements: List[Int],
      passed: List[(Int, Int)],
      opened: List[Opened],
      closed: List[String]
  )

  /** A pull without elements, at the beginning of the source. */
  private final case class Opened(var hasBegun: Boolean = false, var closes: Int = 0) extends Pull:
    def next(fiber: TaskFiber): Any =
      hasBegun = true
      Pull.End
    def close(fiber: TaskFiber, outcome: Outcome[Unit]): Unit = closes += 1

  private def run(program: Program, way: Way): Seen =
    val passed = ListBuffer[(Int, Int)]()
    val elements = ListBuffer[Int]()
    val closed = ListBuffer[String]()
    val opened = ListBuffer[Opened]()
    val items = program.failsAfter match
      case Some(count) => Stream.emits(program.items.take(count)) ++ Stream.fail(boom)
      case None => Stream.emits(program.items)
    val first = Stream.of[Unit](() => { opened += Opened(); opened.last })
    val source = (first ++ Stream.eval(Task.unit))
      .flatMap(_ => items)
      .onFinalizeCase(outcome => Task(closed += outcome.toString).void)
    val stream = program.links.zipWithIndex.foldLeft(source) { case (upstream, (link, index)) =>
      val made = link.operator.onStream(upstream, link.number).map { value =>
        val number = small(value)
        passed += ((index, number))
        if link.poison.contains(number) then throw boom
        number
      }
      if link.ends then endRun(made, way) else made
    }
    val task = endRun(stream.take(program.wanted).map(i => { elements += i; i }), way).drain
    Seen(
      task.attempt.runSync().left.map(_.toString),
      elements.toList,
      passed.toList,
      opened.toList,
      closed.toList
    )

  /** Returns the result of the same program on a list: with the poisons left out, or with the end
    * of the list in their place.
    */
  private def model(program: Program, items: List[Int], poisonsEnd: Boolean): List[List[Int]] =
    program.links
      .scanLeft(items) { (before, link) =>
        val after = link.operator.onList(before, link.number).map(small)
        if poisonsEnd then after.takeWhile(!link.poison.contains(_)) else after
      }
      .tail

  private def repeats(link: Link): Boolean = link.operator.name.startsWith("repeat")
  private def handles(link: Link): Boolean = Set("attempt", "orElse")(link.operator.name)

  property("a chain does the same, in the same order, as one loop and as stages"):
    forAll(program) { program =>
      val first = run(program, fused)
      assertEquals(first, run(program, chained))
      // `scan` may end before it asks for an element, and closes the source that it has opened
      // nevertheless. A pull is also opened to look at it, and then neither pulled nor closed.
      for pull <- first.opened do
        assert(pull.closes == 1 || pull.closes == 0 && !pull.hasBegun, s"$first")
      assertEquals(first.closed.size, first.opened.map(_.closes).sum)
    }

  property("a chain does what it does on a list"):
    forAll(program) { program =>
      val seen = run(program, fused)
      val whole = model(program, program.items, poisonsEnd = false)
      val wanted = whole.last.take(program.wanted)
      if !program.mayFail then
        assertEquals(seen.result, Right(()))
        assertEquals(seen.elements, wanted)
        if !program.links.exists(repeats) then
          for (list, index) <- whole.zipWithIndex do
            val passed = seen.passed.collect { case (`index`, number) => number }
            assert(list.startsWith(passed), s"$passed after ${program.links(index)}, not $list")
      else if !program.links.exists(handles) then
        val begun = program.failsAfter.fold(program.items)(program.items.take)
        val ended = model(program, begun, poisonsEnd = true).last.take(program.wanted)
        if seen.result.isRight then assertEquals(seen.elements, wanted)
        else
          assert(ended.startsWith(seen.elements), s"${seen.elements}, not as $ended")
          assert(wanted.startsWith(seen.elements), s"${seen.elements}, not as $wanted")
    }
