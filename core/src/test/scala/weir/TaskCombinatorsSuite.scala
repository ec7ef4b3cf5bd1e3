package weir

import java.io.{ByteArrayOutputStream, PrintStream}
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import scala.compiletime.testing.typeCheckErrors
import scala.concurrent.duration.*
import scala.util.{Failure, Success}
import weir.std.CyclicBarrier

/** Everyday combinators of tasks, each derived from others. */
class TaskCombinatorsSuite extends WeirSuite:

  private val boom = Boom("first")
  private val failed: Task[Int] = Task.fail(boom)

  // ---- errors ----

  test("option is the value, or None of any failure"):
    assertEquals(Task.pure(1).option.runSync(), Some(1))
    assertEquals(failed.option.runSync(), None)

  test("redeem calls one of its functions, and fails with what that throws"):
    assertEquals(Task.pure(1).redeem(_ => "no", n => s"yes $n").runSync(), "yes 1")
    assertEquals(failed.redeem(error => error.getMessage, _ => "yes").runSync(), "first")
    val later = Boom("later")
    assertEquals(
      intercept[Boom](Task.pure(1).redeem(_ => 0, _ => throw later).runSync(): Unit),
      later
    )
    val thrown = intercept[Boom](failed.redeem(_ => throw later, identity).runSync(): Unit)
    assertEquals((thrown, thrown.getSuppressed.toList), (later, List(boom)))

  test("redeemWith does not give its own success's error to its other function"):
    val later = Boom("later")
    var asked = 0
    val task = Task.pure(1).redeemWith(_ => Task(asked += 1), _ => Task.fail(later))
    assertEquals(intercept[Boom](task.runSync(): Unit), later)
    assertEquals(asked, 0)
    assertEquals(
      failed.redeemWith(e => Task.pure(e.getMessage), _ => Task.pure("")).runSync(),
      "first"
    )

  test("orElse is the first to succeed; of two errors the later one, with the first under it"):
    assertEquals(Task.pure(1).orElse(Task.pure(2)).runSync(), 1)
    assertEquals(failed.orElse(Task.pure(2)).runSync(), 2)
    val later = Boom("later")
    val thrown = intercept[Boom](failed.orElse(Task.fail(later)).runSync(): Unit)
    assertEquals((thrown, thrown.getSuppressed.toList), (later, List(boom)))

  test("onError runs for errors that it has a case for, and changes nothing"):
    val seen = AtomicInteger()
    def watched(task: Task[Int]) = task.onError { case _: Boom => Task(seen.incrementAndGet()) }
    assertEquals(watched(Task.pure(1)).runSync(), 1)
    assertEquals(seen.get, 0)
    assertEquals(intercept[Boom](watched(failed).runSync(): Unit), boom)
    assertEquals(seen.get, 1)
    intercept[ArithmeticException](watched(Task.fail(ArithmeticException())).runSync(): Unit): Unit
    assertEquals(seen.get, 1)

  test("what onError's own task fails with is suppressed under the error"):
    val first = Boom("own")
    val later = Boom("later")
    val thrown =
      intercept[Boom](Task.fail(first).onError { case _ => Task.fail(later) }.runSync(): Unit)
    assertEquals((thrown, thrown.getSuppressed.toList), (first, List(later)))
    val own = Boom("own")
    val onlyOwn = intercept[Boom](Task.fail(own).onError { case _ => throw later }.runSync(): Unit)
    assertEquals((onlyOwn, onlyOwn.getSuppressed.toList), (own, List(later)))

  test("adaptError replaces an error that it has a case for"):
    val other = IllegalStateException("other", boom)
    assertEquals(
      intercept[IllegalStateException](failed.adaptError { case _: Boom => other }.runSync(): Unit),
      other
    )
    assertEquals(
      intercept[Boom](failed.adaptError { case _: ArithmeticException => other }.runSync(): Unit),
      boom
    )

  test("rethrow is the opposite of attempt"):
    assertEquals(Task.pure(1).attempt.rethrow.runSync(), 1)
    assertEquals(intercept[Boom](failed.attempt.rethrow.runSync(): Unit), boom)
    assert(typeCheckErrors("weir.Task.pure(1).rethrow").nonEmpty)

  test("fromEither, fromTry and fromOption"):
    assertEquals(Task.fromEither(Right(1)).runSync(), 1)
    assertEquals(intercept[Boom](Task.fromEither(Left(boom)).runSync(): Unit), boom)
    assertEquals(Task.fromTry(Success(1)).runSync(), 1)
    assertEquals(intercept[Boom](Task.fromTry(Failure(boom)).runSync(): Unit), boom)
    assertEquals(Task.fromOption(Some(1))(throw AssertionError("not asked for")).runSync(), 1)
    assertEquals(intercept[Boom](Task.fromOption(None)(boom).runSync(): Unit), boom)

  test("when, unless, raiseWhen and raiseUnless"):
    var ran = 0
    Task.when(true)(Task(ran += 1)).runSync()
    Task.unless(false)(Task(ran += 1)).runSync()
    Task.when(false)(throw AssertionError("not asked for")).runSync()
    Task.unless(true)(throw AssertionError("not asked for")).runSync()
    assertEquals(ran, 2)
    Task.raiseWhen(false)(throw AssertionError("not asked for")).runSync()
    Task.raiseUnless(true)(throw AssertionError("not asked for")).runSync()
    assertEquals(intercept[Boom](Task.raiseWhen(true)(boom).runSync()), boom)
    assertEquals(intercept[Boom](Task.raiseUnless(false)(boom).runSync()), boom)

  test("validate runs all, and gives all errors in their order"):
    val ran = AtomicInteger()
    def check(n: Int) = Task {
      ran.incrementAndGet(): Unit
      if n % 2 == 0 then throw ArithmeticException(s"$n") else n
    }
    assertEquals(Task.validate(List(1, 3))(check).runSync(), Right(List(1, 3)))
    val refused = Task.validate(List(1, 2, 3, 4))(check).runSync()
    assertEquals(refused.left.map(_.map(_.getMessage)), Left(List("2", "4")))
    assertEquals(ran.get, 6)
    val thrown = Task.validate(List(1))(_ => throw ArithmeticException("thrown")).runSync()
    assertEquals(thrown.left.map(_.map(_.getMessage)), Left(List("thrown")))
    assertEquals(Task.validate(List.empty[Int])(check).runSync(), Right(Nil))

  // ---- one after the other ----

  test(">> runs the second once the first has ended, and not after a failure"):
    var ran = List.empty[Int]
    def note(n: Int) = Task { ran = n :: ran; n }
    assertEquals((note(1) >> note(2)).runSync(), 2)
    assertEquals(ran, List(2, 1))
    intercept[Boom]((failed >> note(3)).runSync(): Unit): Unit
    assertEquals(ran, List(2, 1))

  test("timed tells how long the task took, without what is before"):
    val (took, value) = Task(Thread.sleep(20)).as(1).timed.runSync()
    assertEquals(value, 1)
    assert(took >= 20.millis && took < 20.seconds, took)

  test("delayBy waits before the task, each time"):
    val (_, took) = timed(Task.unit.delayBy(10.millis).replicate(3).runSync())
    assert(took >= 30.millis, took)

  test("iterateWhile and iterateUntil give the first value that ends them, in constant stack"):
    val count = AtomicInteger()
    val next = Task(count.incrementAndGet())
    assertEquals(next.iterateWhile(_ < 1_000_000).runSync(), 1_000_000)
    assertEquals(next.iterateUntil(_ % 10 == 0).runSync(), 1_000_010)

  test("an iteration that never ends can be cancelled"):
    val fiber = Task.unit.iterateWhile(_ => true).start.runSync()
    fiber.cancel.runSync()
    assertEquals(fiber.join.runSync(), Outcome.Canceled)

  test("replicate runs the task so many times, in order; none for a number below one"):
    val count = AtomicInteger()
    assertEquals(Task(count.incrementAndGet()).replicate(3).runSync(), List(1, 2, 3))
    assertEquals(Task(count.incrementAndGet()).replicate(0).runSync(), Nil)
    assertEquals(Task(count.incrementAndGet()).replicate(-1).runSync(), Nil)
    assertEquals(count.get, 3)

  test("fold goes from the first item to the last, in constant stack"):
    val text = Task.fold(List("a", "b", "c"))("")((all, item) => Task(all + item))
    assertEquals(List(text.runSync(), text.runSync()), List("abc", "abc"))
    assertEquals(Task.fold(1 to 100_000)(0L)((sum, n) => Task.pure(sum + n)).runSync(), 5000050000L)
    assertEquals(Task.fold(List.empty[Int])(7)((_, _) => failed).runSync(), 7)

  test("filter asks for each item once, in order"):
    var asked = List.empty[Int]
    val even = Task.filter(1 to 5)(n => Task { asked = n :: asked; n % 2 == 0 })
    assertEquals(even.runSync(), List(2, 4))
    assertEquals(asked, List(5, 4, 3, 2, 1))

  test("debug prints how the task has ended, and changes nothing"):
    val before = System.err
    val written = ByteArrayOutputStream()
    System.setErr(PrintStream(written))
    try
      assertEquals(Task.pure(1).debug("one").runSync(), 1)
      intercept[Boom](failed.debug().runSync(): Unit): Unit
    finally System.setErr(before)
    assertEquals(
      written.toString.linesIterator.toList,
      List("one: Succeeded(1)", s"task: Failed($boom)")
    )

  // ---- many ----

  test("zip gives the values as a tuple with their types, run in order"):
    var ran = List.empty[String]
    def note[A](name: String, value: A) = Task { ran = name :: ran; value }
    val all: Task[(Int, String, Boolean)] =
      Task.zip(note("a", 1), note("b", "two"), note("c", true))
    assertEquals(all.runSync(), (1, "two", true))
    assertEquals(ran.reverse, List("a", "b", "c"))
    val two: Task[(Int, String)] = Task.zip((Task.pure(1), Task.pure("x")))
    assertEquals(two.runSync(), (1, "x"))

  test("parZip runs all at once, and parMap gives their values to a function"):
    val barrier = CyclicBarrier.unsafe(3)
    def part[A](value: A) = barrier.await.as(value)
    assertEquals(Task.parZip(part(1), part("two"), part(3.0)).runSync(), (1, "two", 3.0))
    assertEquals(
      Task.parMap(part(1), part(2), part(3))((a, b, c) => a + b * c).runSync(),
      7
    )

  test("seven tasks of parZip, with a for over the tuple"):
    val sum =
      for (a, b, c, d, e, f, g) <- Task.parZip(
          Task(1),
          Task(2),
          Task(3),
          Task(4),
          Task(5),
          Task(6),
          Task("7")
        )
      yield a + b + c + d + e + f + g.toInt
    assertEquals(sum.runSync(), 28)

  test("parZip fails with the first error, once the others are cancelled"):
    val cleaned = AtomicInteger()
    val waits = Task.never.onCancel(Task(cleaned.incrementAndGet()).void)
    assertEquals(intercept[Boom](Task.parZip(waits, failed, waits).runSync(): Unit), boom)
    assert(cleaned.get <= 2)

  test("zip of what is no task does not compile, and says what it takes"):
    val errors = typeCheckErrors("weir.Task.zip(weir.Task.pure(1), 2)")
    assert(errors.exists(_.message.contains("zip, parZip and parMap take tasks")), errors)

  test("both and race of two tasks"):
    assertEquals(Task.pure(1).both(Task.pure("x")).runSync(), (1, "x"))
    assertEquals(Task.never.race(Task.pure("x")).runSync(), Right("x"))

  test("raceAll is the first to end, be it with an error; the others are cancelled"):
    val cleaned = AtomicInteger()
    val waits: Task[Int] = Task.never.guarantee(Task(cleaned.incrementAndGet()).void)
    assertEquals(Task.raceAll(List(waits, Task.pure(1).delayBy(5.millis), waits)).runSync(), 1)
    assertEquals(cleaned.get, 2)
    assertEquals(
      intercept[Boom](Task.raceAll(List(waits, failed.delayBy(5.millis))).runSync(): Unit),
      boom
    )
    val value = Deferred.unsafe[Int]
    val kept = AtomicInteger()
    val masked = CountDownLatch(1)
    val takes = Task.uncancelable(_ => Task(masked.countDown()).andThen(value.get))
    val taken = Task.raceAll(List(takes, Task.never))
    val fiber =
      Task.uncancelable(poll => poll(taken).flatMap(n => Task(kept.set(n)))).start.runSync()
    await(masked) // a cancel that comes before that ends the race before the child begins
    val cancel = startCancel(fiber)
    value.complete(7).runSync(): Unit
    cancel.join.runSync(): Unit
    assertEquals(kept.get, 7) // as with race: a cancel loses no value of a child
    val none =
      intercept[IllegalArgumentException](Task.raceAll(List.empty[Task[Int]]).runSync(): Unit)
    assert(none.getMessage.startsWith("Task.raceAll: there was no task."), none.getMessage)

  test("the values come in a collection of the same kind, ready or not"):
    for child <- List[Int => Task[Int]](Task.pure, n => Task.cede.as(n)) do
      val vector: Vector[Int] = Task.traverse(Vector(2, 1))(child).runSync()
      val set: Set[Int] = Task.parTraverse(Set(2, 1))(child).runSync()
      val list: List[Int] = Task.parTraverseN(1)(List(2, 1))(child).runSync()
      val range: IndexedSeq[Int] = Task.parTraverse(1 to 2)(child).runSync()
      val tasks: Vector[Int] = Task.parSequence(Vector(2, 1).map(child)).runSync()
      val few: Vector[Int] = Task.parSequenceN(1)(Vector(2, 1).map(child)).runSync()
      val inOrder: Seq[Int] = Task.sequence(Seq(2, 1).map(child)).runSync()
      assertEquals((vector, tasks, few), (Vector(2, 1), Vector(2, 1), Vector(2, 1)))
      assertEquals((set, list, range, inOrder), (Set(1, 2), List(2, 1), 1 to 2, Seq(2, 1)))

  test("parFilter, parFilterN, parValidate and parValidateN keep the order of the items"):
    def slow(n: Int) = Task.cede.replicate(6 - n).as(n % 2 == 0)
    assertEquals(Task.parFilter(1 to 5)(slow).runSync(), List(2, 4))
    assertEquals(Task.parFilterN(2)(1 to 5)(slow).runSync(), List(2, 4))
    def check(n: Int) = slow(n).flatMap(Task.raiseWhen(_)(ArithmeticException(s"$n")).as(n))
    assertEquals(Task.parValidate(List(1, 3))(check).runSync(), Right(List(1, 3)))
    val refused = Task.parValidateN(2)(1 to 5)(check).runSync()
    assertEquals(refused.left.map(_.map(_.getMessage)), Left(List("2", "4")))

  test("unbounded parForeach, and a bounded unordered sequence"):
    val barrier = CyclicBarrier.unsafe(5)
    Task.parForeach(1 to 5)(_ => barrier.await).runSync()
    assertEquals(
      Task.parSequenceUnorderedN(2)(List(1, 2).map(Task.pure)).runSync().sorted,
      List(1, 2)
    )
