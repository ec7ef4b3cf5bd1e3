package weir
package stream

import java.util.concurrent.ConcurrentLinkedQueue
import munit.ScalaCheckSuite
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll
import org.scalacheck.rng.Seed
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.fiber.TaskFiber
import weir.testkit.TestRuntime

/** Elements that exist already cross from fiber to fiber together, and a consumer must not notice.
  */
class ChunkSuite extends StreamTests, ScalaCheckSuite:
  override def scalaCheckInitialSeed = Tier(Seed(1).toBase64, super.scalaCheckInitialSeed)
  override def scalaCheckTestParameters =
    super.scalaCheckTestParameters.withMinSuccessfulTests(Tier(100, 2_000))

  private val parts = Gen.listOf(Gen.choose(0, 200).map(n => List.range(0, n)))

  /** Collections, single elements, and elements that come out of effects. */
  private def mixed(parts: List[List[Int]]): Stream[Int] =
    parts.zipWithIndex.foldLeft(Stream.empty: Stream[Int]) { case (before, (part, i)) =>
      val next = i % 4 match
        case 0 => Stream.emits(part)
        case 1 => Stream.emits(part).evalMap(Task.pure(_))
        case 2 => Stream.emits(part).flatMap(n => Stream.emits(List(n, -n)))
        case _ => Stream.emits(part).map(_ + 1)
      before ++ next
    }

  for (name, and) <- List[(String, Stream[Int] => Stream[Int])](
      "alone" -> identity,
      "with another after it" -> (_ ++ Stream.emit(-1))
    )
  do
    test(s"an error of a collection $name comes once, after the elements before it"):
      for failing <- List(0, 1, 5, 64, 65, 66); error = RuntimeException("a Java view") do
        var fails = true
        val view = new java.util.AbstractList[Int]:
          def get(i: Int): Int =
            val throws = fails && i == failing
            if throws then
              fails = false
              throw error
            i
          def size: Int = 100
        val seen = ConcurrentLinkedQueue[Int]()
        val stream = and(Stream.emits(view.asScala)).prefetchN(16)
        val program = stream.evalForeach(i => Task(seen.add(i): Unit)).attempt
        assertEquals(TestRuntime.run(program), Left(error))
        assertEquals(seen.asScala.toList, List.range(0, failing))

  property("prefetch keeps all elements in order, and only as many as are taken"):
    forAll(parts, Gen.choose(1, 70), Gen.choose(0, 500)) { (parts, limit, count) =>
      val all = mixed(parts).toList.runSync()
      assertEquals(mixed(parts).prefetchN(limit).toList.runSync(), all)
      assertEquals(mixed(parts).prefetchN(limit).take(count).toList.runSync(), all.take(count))
      assertEquals(mixed(parts).prefetchN(limit).prefetchN(3).toList.runSync(), all)
      assertEquals(mixed(parts).prefetchBytes(limit)(_ => 2).toList.runSync(), all)
    }

  property("parJoin keeps all elements, each stream's in order"):
    forAll(parts, Gen.choose(1, 5)) { (parts, limit) =>
      val streams = parts.zipWithIndex.map((part, i) => mixed(List(part, part)).map((i, _)))
      val got = Stream.emits(streams).parJoin(limit).toList.runSync()
      streams.zipWithIndex.foreach { (stream, i) =>
        assertEquals(got.filter(_._1 == i), stream.toList.runSync())
      }
    }

  test("a long collection does not keep the other side of a merge waiting"):
    val long = Stream.emits(0 until Int.MaxValue)
    assertEquals(long.merge(Stream.emit(-1)).find(_ == -1).runSync(), Some(-1))
    assertEquals(Stream.emit(-1).merge(long).find(_ == -1).runSync(), Some(-1))

  test("a pipe that is cancelled uses no further one of the elements that came together"):
    var used = 0
    def cancelling(elements: Stream[Int])(own: TaskFiber): Stream[Int] = elements.map { i =>
      used += 1
      if i == 3 then own.requestCancel()
      i
    }
    val pipe = (s: Stream[Int]) => Stream.eval(ownFiber).flatMap(cancelling(s))
    assert(Stream.emits(1 to 50).broadcastThrough(pipe).drain.attempt.runSync().isLeft)
    assertEquals(used, 3)

  test("several pipes use the same elements that came together, one pipe after the other"):
    val over = Deferred.unsafe[Unit]
    val first = (s: Stream[Int]) => s ++ Stream.exec(over.complete(()).void)
    val second = (s: Stream[Int]) => Stream.exec(over.get) ++ s
    val all = Stream.emits(1 to 50).broadcastThrough(first, second).toList
    assertEquals(TestRuntime.run(all), List.range(1, 51) ++ List.range(1, 51))

  test("an element does not wait for those after it"):
    val slow = Stream.emits(1 to 3) ++ Stream.eval(Task.never)
    assertEquals(slow.prefetchN(64).take(3).toList.timeout(10.seconds).runSync(), List(1, 2, 3))
    assertEquals(
      slow.merge(Stream.never).take(3).toList.timeout(10.seconds).runSync(),
      List(1, 2, 3)
    )
