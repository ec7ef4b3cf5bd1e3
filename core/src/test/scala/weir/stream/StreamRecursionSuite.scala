package weir
package stream

import scala.concurrent.duration.*
import scala.util.control.NoStackTrace

/** Streams that continue as themselves without an element in between: each turn costs the same as
  * the first one. `-Dweir.stress.operations=10000000` sets the number of turns of each.
  */
class StreamRecursionSuite extends StreamTests:
  private val turns =
    java.lang.Integer.getInteger("weir.stress.operations", Tier(40_000, 1_000_000)).intValue

  override def limit: FiniteDuration = if turns > 1_000_000 then 1.hour else 60.seconds

  private object failure extends RuntimeException("failed") with NoStackTrace
  private val failing: Stream[Nothing] = Stream.fail(failure)
  private val nothing: Int => Task[Unit] = _ => Task.unit

  /** One turn of a recursion, the stream that comes after it given. */
  private type Turn = (Int, () => Stream[Int]) => Stream[Int]

  private val endings = List[(String, Turn)](
    "fail.handleErrorWith(_ => go)" -> ((_, go) => failing.handleErrorWith(_ => go())),
    "(emit ++ fail).handleErrorWith(_ => go)" -> ((n, go) =>
      (Stream.emit(n) ++ failing).handleErrorWith(_ => go())
    ),
    "fail.handleErrorWith(_ => emit ++ go)" -> ((n, go) =>
      failing.handleErrorWith(_ => Stream.emit(n) ++ go())
    ),
    "emit ++ fail.handleErrorWith(_ => go)" -> ((n, go) =>
      Stream.emit(n) ++ failing.handleErrorWith(_ => go())
    ),
    "a map that throws, handled as go" -> ((n, go) =>
      Stream.emit(n).map(_ => throw failure).handleErrorWith(_ => go())
    ),
    "a handler that throws, handled as go" -> ((_, go) =>
      failing.handleErrorWith(_ => throw failure).handleErrorWith(_ => go())
    ),
    "eval.flatMap(_ => fail).handleErrorWith(_ => go)" -> ((n, go) =>
      Stream.eval(Task(n)).flatMap(_ => failing).handleErrorWith(_ => go())
    ),
    "a new error each time" -> ((_, go) =>
      Stream.eval(Task.fail(new RuntimeException with NoStackTrace)).handleErrorWith(_ => go())
    ),
    "bracket.flatMap(_ => fail).handleErrorWith(_ => go)" -> ((n, go) =>
      Stream.bracket(Task(n))(nothing).flatMap(_ => failing).handleErrorWith(_ => go())
    ),
    "fail.onFinalize.handleErrorWith(_ => go)" -> ((_, go) =>
      failing.onFinalize(Task.unit).handleErrorWith(_ => go())
    ),
    "a finalizer that fails, handled as go" -> ((_, go) =>
      failing.onFinalize(Task.fail(Boom())).handleErrorWith(_ => go())
    ),
    "eval.flatMap(_ => go)" -> ((n, go) => Stream.eval(Task(n)).flatMap(_ => go())),
    "emit.flatMap(_ => go)" -> ((n, go) => Stream.emit(n).flatMap(_ => go())),
    "emits of a list, flatMap(_ => go)" -> ((n, go) => Stream.emits(List(n)).flatMap(_ => go())),
    "emits, go for the last element" -> ((n, go) =>
      Stream.emits(Vector(n, -1)).flatMap(x => if x < 0 then go() else Stream.emit(x))
    ),
    "eval.map.filter.evalMap.drop.flatMap(_ => go)" -> ((n, go) =>
      Stream
        .eval(Task(n))
        .map(_ + 1)
        .filter(_ => true)
        .evalMap(Task.pure)
        .drop(0)
        .takeWhile(_ => true)
        .chunkN(4)
        .flatMap(_ => go())
    ),
    "eval.zip(eval).scan, flatMap, go for the last element" -> ((n, go) =>
      Stream
        .eval(Task(n))
        .zip(Stream.emit(n))
        .scan(-1)((_, pair) => pair._1)
        .flatMap(x => if x < 0 then Stream.empty else go())
    ),
    "repeatEval.take(1).flatMap(_ => go)" -> ((n, go) =>
      Stream.repeatEval(Task(n)).take(1).flatMap(_ => go())
    ),
    "(emit ++ eval).flatMap, go for the last element" -> ((n, go) =>
      (Stream.emit(n) ++ Stream.eval(Task(-1)))
        .flatMap(x => if x < 0 then go() else Stream.emit(x))
    ),
    "eval.handleErrorWith.flatMap(_ => go)" -> ((n, go) =>
      Stream.eval(Task(n)).handleErrorWith(_ => Stream.empty).flatMap(_ => go())
    ),
    "eval.flatMap(eval).flatMap(_ => go)" -> ((n, go) =>
      Stream.eval(Task(n)).flatMap(m => Stream.eval(Task(m))).flatMap(_ => go())
    ),
    "for a <- eval; b <- emit; c <- go yield c" -> ((n, go) =>
      for
        a <- Stream.eval(Task(n))
        _ <- Stream.emit(a)
        c <- go()
      yield c
    ),
    "eval.flatMap(_ => (emit ++ fail).handleErrorWith(_ => go))" -> ((n, go) =>
      Stream
        .eval(Task(n))
        .flatMap(m => (Stream.emit(m) ++ failing).handleErrorWith(_ => go()))
    ),
    "fail.handleErrorWith(_ => eval.flatMap(_ => empty ++ go))" -> ((n, go) =>
      failing.handleErrorWith(_ => Stream.eval(Task(n)).flatMap(_ => Stream.empty ++ go()))
    ),
    "eval.onFinalize ++ go" -> ((n, go) => Stream.eval(Task(n)).onFinalize(Task.unit) ++ go()),
    "bracket.flatMap(emit) ++ go" -> ((n, go) =>
      Stream.bracket(Task(n))(nothing).flatMap(Stream.emit) ++ go()
    ),
    "bracket.flatMap(eval).handleErrorWith(_ => empty) ++ go" -> ((n, go) =>
      Stream
        .bracket(Task(n))(nothing)
        .flatMap(m => Stream.eval(Task(m)))
        .handleErrorWith(_ => Stream.empty) ++ go()
    )
  )

  /** `turn` again and again, then the number of turns as an element. `at` runs in each turn. */
  private def recursion(turn: Turn, turns: Int)(at: Int => Unit): Stream[Int] =
    def go(n: Int): Stream[Int] =
      at(n)
      if n == turns then Stream.emit(n) else turn(n, () => go(n + 1))
    go(0)

  private def last(stream: Stream[Int]): Int = stream.fold(-1)((_, n) => n).runSync()

  for (name, turn) <- endings do
    test(s"constant stack and constant heap: go = $name"):
      var early, late = 0L
      val stream = recursion(turn, turns) { n =>
        if n == turns / 10 then early = Heap.used() else if n == turns then late = Heap.used()
      }
      assertEquals(last(stream), turns)
      assert(
        late - early < megabyte / 2,
        s"grew by ${late - early} bytes over nine tenths of $turns turns"
      )

    test(s"through stages that run ahead: go = $name"):
      val n = Tier(10_000, 20_000)
      for stage <- List[Stream[Int] => Stream[Int]](
          _.prefetchN(16),
          _.prefetchStrict,
          _.parEvalMap(2)(Task.pure),
          stream => Stream.emits(List(stream, Stream.empty)).parJoin(2)
        )
      do assertEquals(last(stage(recursion(turn, n)(_ => ()))), n)

  // Each turn keeps a part that is still to come, on the heap and not on the stack.
  for (name, turn) <- List[(String, Turn)](
      "bracket.flatMap(_ => go)" -> ((n, go) =>
        Stream.bracket(Task(n))(nothing).flatMap(_ => go())
      ),
      "go.onFinalize" -> ((n, go) => Stream.emit(n).flatMap(_ => go()).onFinalize(Task.unit)),
      "(emit ++ go).onFinalize" -> ((n, go) => (Stream.emit(n) ++ go()).onFinalize(Task.unit)),
      "(emit ++ go).handleErrorWith" -> ((n, go) =>
        (Stream.emit(n) ++ go()).handleErrorWith(_ => Stream.empty)
      ),
      "eval.flatMap(_ => go).handleErrorWith" -> ((n, go) =>
        Stream.eval(Task(n)).flatMap(_ => go()).handleErrorWith(_ => Stream.empty)
      ),
      "eval.flatMap(_ => go) ++ emit" -> ((n, go) =>
        Stream.eval(Task(n)).flatMap(_ => go()) ++ Stream.empty
      ),
      "an endless stream, flatMap(_ => go)" -> ((n, go) =>
        Stream.fromIterator(Iterator.single(n)).flatMap(_ => go())
      )
    )
  do
    test(s"a hundred thousand turns in constant stack: go = $name"):
      assertEquals(last(recursion(turn, 100_000)(_ => ())), 100_000)

  test("a recursion that makes no element can be cancelled"):
    def empty: Stream[Int] = Stream.empty ++ empty
    def failed: Stream[Int] = failing.handleErrorWith(_ => failed)
    def mapped: Stream[Int] = Stream.emit(1).flatMap(_ => mapped)
    for stream <- List(empty, failed, mapped) do
      val fiber = stream.drain.start.runSync()
      fiber.cancel.runSync()
      assertEquals(fiber.join.runSync(), Outcome.Canceled)

  test("finalizers of a hundred thousand turns run once each, the last one first"):
    val n = 100_000
    for end <- List[Stream[Int]](Stream.empty, failing) do
      var released = List.empty[Int]
      def go(i: Int): Stream[Int] =
        if i == n then end
        else Stream.bracket(Task(i))(j => Task { released = j :: released }).flatMap(_ => go(i + 1))
      go(0).drain.attempt.runSync(): Unit
      assertEquals(released, (0 until n).toList)
