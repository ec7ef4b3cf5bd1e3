package weir
package stream

import org.scalacheck.Gen
import org.scalacheck.Prop.forAll
import scala.concurrent.duration.*
import weir.testkit.TestRuntime

/** The groups of `groupWithin` for any times of its elements, on a virtual clock. */
class GroupWithinLawsSuite extends munit.ScalaCheckSuite, StreamTests:

  override def scalaCheckTestParameters =
    super.scalaCheckTestParameters.withMinSuccessfulTests(Tier(15, 1000))

  /** No element comes just at the end of a window: which is first would be undefined. */
  private val window = 100.millis + 500.micros

  private val gapsMillis =
    Gen.listOf(Gen.frequency(4 -> Gen.const(0), 3 -> Gen.choose(0, 60), 1 -> Gen.choose(90, 400)))

  /** The groups, each with the time at which it is complete. */
  private def expected(times: List[Long], size: Int): List[(List[Long], Duration)] = times match
    case Nil => Nil
    case first :: _ =>
      val group = times.takeWhile(_ <= first + window.toMillis).take(size)
      val isLast = group.size == times.size
      val windowEnd = first.millis + window
      val complete =
        if group.size == size then group.last.millis
        else if isLast then windowEnd.min(times.last.millis)
        else windowEnd
      (group, complete) :: expected(times.drop(group.size), size)

  property("groupWithin: a window begins with its first element, no group is empty or too large"):
    forAll(gapsMillis, Gen.choose(1, 5)) { (gaps, size) =>
      val times = gaps.scanLeft(0L)(_ + _).tail
      val source = Stream.fromIterable(gaps.zip(times)).evalMap { (gap, time) =>
        if gap == 0 then Task.pure(time) else Task.sleep(gap.millis).as(time)
      }
      val run = for
        start <- Task.monotonic
        groups <- source
          .groupWithin(size, window)
          .evalMap(group => Task.monotonic.map(now => (group.toList, now - start)))
          .toList
      yield groups
      assertEquals(TestRuntime.run(run), expected(times, size))
    }

  property("groupWithin: with a slow consumer nothing is lost, and no group empty or too large"):
    forAll(gapsMillis, Gen.choose(1, 5), Gen.choose(0, 200)) { (gaps, size, pauseMillis) =>
      val elements = gaps.indices.toList
      val source = Stream.fromIterable(gaps.zipWithIndex).evalMap { (gap, i) =>
        Task.sleep(gap.millis).as(i)
      }
      val slow = source.groupWithin(size, window).evalTap(_ => Task.sleep(pauseMillis.millis))
      val groups = TestRuntime.run(slow.toList)
      assertEquals(groups.flatten, elements)
      assert(groups.forall(group => group.nonEmpty && group.size <= size), groups)
    }
