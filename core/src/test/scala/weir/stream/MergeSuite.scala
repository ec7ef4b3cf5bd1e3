package weir
package stream

import java.util.concurrent.CountDownLatch
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll
import java.util.concurrent.atomic.AtomicInteger

class MergeSuite extends munit.ScalaCheckSuite, StreamTests:

  private val items = Gen.choose(0, 40).flatMap(n => Gen.listOfN(n, Gen.choose(0, 9)))

  property("the elements of both, each side in its order") {
    forAll(items, items) { (left, right) =>
      def side(items: List[Int]) =
        Stream.emits(items).evalTap(i => if i < 3 then Task.cede else Task.unit)
      val merged = side(left).map(Left(_)).merge(side(right).map(Right(_))).toList.runSync()
      assertEquals(merged.collect { case Left(i) => i }, left)
      assertEquals(merged.collect { case Right(i) => i }, right)
    }
  }

  for blocking <- List(false, true) do
    test(
      s"both sides run at the same time, with effects that ${if blocking then "block" else "wait"}"
    ):
      val crowd = Crowd(2)
      val side = Stream.eval(crowd.meet(blocking))
      assertEquals(side.merge(side).count.runSync(), 2L)

  test("a side that has nothing yet does not keep back the other"):
    val one = Stream.emits(1 to 5)
    assertEquals(one.merge(Stream.never).take(5).toList.runSync(), (1 to 5).toList)
    assertEquals(Stream.never.merge(one).take(5).toList.runSync(), (1 to 5).toList)
    val blocks = Stream.eval(Task { Thread.sleep(3_600_000); 0 })
    assertEquals(blocks.merge(one).take(5).toList.runSync(), (1 to 5).toList)

  test("it ends when both have ended"):
    val gate = Deferred.unsafe[Unit]
    val left = Stream.emits(1 to 3) ++ Stream.eval(gate.complete(()).as(4))
    val right = Stream.eval(gate.get.as(5))
    assertEquals(left.merge(right).toList.runSync().sorted, (1 to 5).toList)
    assertEquals(Stream.empty.merge(Stream.empty).toList.runSync(), Nil)

  for side <- List("left", "right") do
    test(s"an error of the $side side comes at once, after the finalizers of the other"):
      for wait <- List(Task.never, Task(Thread.sleep(3_600_000)), Task.cede.forever); _ <- 1 to 10
      do
        val boom = Boom()
        val begun = CountDownLatch(1)
        val released = AtomicInteger()
        val other = Stream
          .bracket(Task(begun.countDown()))(_ =>
            Task.cede.andThen(Task(released.incrementAndGet()).void)
          )
          .evalMap(_ => wait)
        val failing = Stream.eval(Task(begun.await()).andThen(Task.fail(boom)))
        val merged = if side == "left" then failing.merge(other) else other.merge(failing)
        val result = merged.drain.attempt.map(result => (result, released.get)).runSync()
        assertEquals(result, (Left(boom), 1))
        assertEquals(boom.getSuppressed.toList, Nil)

  test("an error of a finalizer of the other side is suppressed under the first"):
    val first, second = Boom()
    val begun = CountDownLatch(1)
    val other =
      Stream.eval(Task(begun.countDown()).andThen(Task.never)).onFinalize(Task.fail(second))
    val failing = Stream.eval(Task(begun.await()).andThen(Task.fail(first)))
    assertEquals(other.merge(failing).drain.attempt.runSync(), Left(first))
    assertEquals(first.getSuppressed.toList, List(second))

  test("take releases both sides once, before it returns"):
    for n <- List(1, 2, 50); _ <- 1 to 20 do
      val acquired, released = AtomicInteger()
      val side = Stream
        .bracket(Task(acquired.incrementAndGet()))(_ =>
          Task.cede.andThen(Task(released.incrementAndGet()).void)
        )
        .flatMap(_ => Stream.repeatEval(Task.cede))
      assertEquals(side.merge(side).take(n).count.runSync(), n.toLong)
      assertEquals(released.get, acquired.get)

  test("a hundred streams, merged one on top of the other"):
    val merged = (1 to 100).map(i => Stream.emits(List(i, i))).reduce(_.merge(_))
    assertEquals(merged.toList.runSync().sorted, (1 to 100).flatMap(i => List(i, i)).toList)
