package weir.testkit

import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import weir.{Deferred, Queue, Ref, Semaphore, Task}

class LinearizableSuite extends munit.FunSuite:
  private val limits = ExploreLimits(time = 2.seconds)

  /** For what has no violation that could be found, so that all of the time passes. */
  private val rightLimits = ExploreLimits(time = 500.millis)

  test("a bounded queue is linearizable"):
    val spec = Spec(Queue.bounded[Int](1), Vector.empty[Int])
    val report = Linearizable.check(spec, rightLimits)(
      spec.operation("tryOffer 1")(_.tryOffer(1))(s =>
        if s.isEmpty then (Vector(1), true) else (s, false)
      ),
      spec.waiting("offer 2")(_.offer(2))(s => Option.when(s.isEmpty)((Vector(2), ()))),
      spec.operation("tryTake")(_.tryTake)(s => (s.drop(1), s.headOption)),
      spec.waiting("take")(_.take)(s => s.headOption.map(n => (s.tail, n)))
    )
    assert(report.programs >= 1, s"$report")

  test("a semaphore is linearizable"):
    val spec = Spec(Semaphore(1), 1)
    val report = Linearizable.check(spec, rightLimits)(
      spec.waiting("acquire")(_.acquire)(n => Option.when(n > 0)((n - 1, ()))),
      spec.operation("tryAcquire")(_.tryAcquire)(n => if n > 0 then (n - 1, true) else (n, false)),
      spec.operation("release")(_.release)(n => (n + 1, ()))
    )
    assert(report.programs >= 1, s"$report")

  test("a deferred value is linearizable"):
    val spec = Spec(Deferred[Int], Option.empty[Int])
    val report = Linearizable.check(spec, rightLimits)(
      spec.operation("complete 1")(_.complete(1))(s => (s.orElse(Some(1)), s.isEmpty)),
      spec.operation("complete 2")(_.complete(2))(s => (s.orElse(Some(2)), s.isEmpty)),
      spec.operation("tryGet")(_.tryGet)(s => (s, s)),
      spec.waiting("get")(_.get)(s => s.map(n => (s, n)))
    )
    assert(report.programs >= 1, s"$report")

  /** A counter that reads and then writes. */
  private final class Counter(n: Ref[Int]):
    def add: Task[Int] = n.get.flatMap(m => n.set(m + 1).as(m + 1))
    def get: Task[Int] = n.get

  test("a counter that reads and then writes is not, and the program gets as small as can be"):
    val spec = Spec(Ref.of(0).map(Counter(_)), 0)
    val error = intercept[ExploreFailure](
      Linearizable.check(spec, limits)(
        spec.operation("add")(_.add)(n => (n + 1, n + 1)),
        spec.operation("get")(_.get)(n => (n, n))
      )
    )
    val history = error.getCause.getMessage.linesIterator.toList.tail
    assert(error.getCause.isInstanceOf[Linearizable.Violation], s"$error")
    assertEquals(history, List("  fiber 1: add → 1", "  fiber 2: add → 1"))

  /** A stack that checks first and then takes. */
  private final class Stack(items: Ref[List[Int]]):
    def push(n: Int): Task[Unit] = items.update(n :: _)
    def pop: Task[Option[Int]] = items.get.flatMap {
      case Nil => Task.pure(None)
      case head :: tail => items.set(tail).as(Some(head))
    }

  test("a stack that checks and then takes is not: two take the same item, or one is lost"):
    val spec = Spec(Ref.of(List.empty[Int]).map(Stack(_)), List.empty[Int])
    val error = intercept[ExploreFailure](
      Linearizable.check(spec, limits)(
        spec.operation("push 1")(_.push(1))(s => (1 :: s, ())),
        spec.operation("pop")(_.pop)(s => (s.drop(1), s.headOption))
      )
    )
    val calls = error.getCause.getMessage.linesIterator.drop(1).mkString.split("→").length - 1
    assert(calls <= 3, s"$error")

  /** Two counters that are read one after the other. */
  private final class Pair:
    val (a, b) = (AtomicInteger(), AtomicInteger())
    def move: Task[Unit] = Task {
      a.incrementAndGet(): Unit
      b.decrementAndGet(): Unit
    }

  test("a sum that is read in two steps is not: it has seen neither the old nor the new"):
    val spec = Spec(Task(Pair()), (0, 0))
    val error = intercept[ExploreFailure](
      Linearizable.check(spec, limits)(
        spec.operation("move")(_.move)((a, b) => ((a + 1, b - 1), ())),
        spec.operation("sum")(p => Task(p.a.get + p.b.get))((a, b) => ((a, b), a + b))
      )
    )
    assert(error.getCause.getMessage.contains("sum → "), s"$error")

  test("an operation that is never woken is no wait that the model knows"):
    final class Gate(isOpen: Ref[Boolean], opened: Deferred[Unit]):
      def open: Task[Unit] = isOpen.set(true)
      def pass: Task[Unit] = isOpen.get.flatMap(open => Task.unless(open)(opened.get))
    val spec = Spec(Ref.of(false).flatMap(r => Deferred[Unit].map(Gate(r, _))), false)
    val error = intercept[ExploreFailure](
      Linearizable.check(spec, limits)(
        spec.operation("open")(_.open)(_ => (true, ())),
        spec.waiting("pass")(_.pass)(open => Option.when(open)((open, ())))
      )
    )
    assert(error.getCause.getMessage.contains("pass waits"), s"$error")
