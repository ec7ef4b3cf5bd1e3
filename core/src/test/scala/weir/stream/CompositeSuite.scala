package weir
package stream

import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import scala.util.Random
import scala.util.control.NoStackTrace
import weir.fiber.TaskFiber
import weir.trace.Functions

/** Random streams that consist of streams do the same as a plain recursive loop over the same
  * description: the same elements, and the same effects, finalizers and handlers in the same order.
  *
  * `-Dweir.stress.seed=N` takes a printed seed, `-Dweir.stress.seconds=60` runs it for a minute.
  */
class CompositeSuite extends StreamTests:
  private val seed = Tier.seed("weir.stress.seed")
  private val seconds = Integer.getInteger("weir.stress.seconds", Tier(1, 30)).intValue

  override def limit: FiniteDuration = 30.seconds + seconds.seconds

  // First, since random streams never end if these fail.

  test("a recursion that makes no element looks for a cancel in each turn"):
    for turn <- List[(=> Stream[Int]) => Stream[Int]](
        go => Stream.empty ++ go,
        go => Stream.fail(first).handleErrorWith(_ => go),
        go => Stream.emit(1).flatMap(_ => go)
      )
    do
      var turns = 0
      def recursion(own: TaskFiber): Stream[Int] =
        turns += 1
        if turns == 3 then own.requestCancel()
        if turns == 100 then Stream.empty else turn(recursion(own))
      val ended = ownFiber.flatMap(recursion(_).drain).start.flatMap(_.join).runSync()
      assertEquals((ended, turns), (Outcome.Canceled, 3))

  test("a part that is a collection looks for a cancel before each element"):
    for make <- List[Stream[Int] => Stream[Int]](
        part => Stream.emit(1).flatMap(_ => part),
        part => Stream.empty ++ part
      )
    do
      var used = 0
      def stream(own: TaskFiber) = make(Stream.emits(1 to 100)).map { i =>
        used = i
        if i == 3 then own.requestCancel()
      }
      val ended = ownFiber.flatMap(stream(_).drain).start.flatMap(_.join).runSync()
      assertEquals((ended, used), (Outcome.Canceled, 3))

  test("a handler gets no error that its own stream throws"):
    var calls = 0
    val stream = Stream.fail(first).handleErrorWith { _ =>
      calls += 1
      if calls == 1 then Stream.fail(second) else Stream.empty
    }
    assertEquals((stream.drain.attempt.runSync(), calls), (Left(second), 1))

  test("a handler gets its error with those of the finalizers inside suppressed under it"):
    val (error, later) = (Boom("of the source"), Boom("of the finalizer"))
    val stream = Stream.fail(error).onFinalize(Task.fail(later)).handleErrorWith { handled =>
      assertEquals(handled, error)
      assertEquals(handled.getSuppressed.toList, List(later))
      Stream.emit(1)
    }
    assertEquals(stream.toList.runSync(), List(1))

  private enum Shape:
    case Emits(values: List[Int])
    case Eval(value: Int)
    case Failing(error: Int)
    case Bracket(name: Int)
    case Append(first: Shape, second: Shape)
    case FlatMap(source: Shape, inner: Vector[Shape])
    case Handle(source: Shape, handler: Shape)
    case HandlerThrows(source: Shape, error: Int)
    case Finalize(source: Shape, name: Int)
    case Take(source: Shape, count: Int)
    case MapThrows(source: Shape, at: Int)
  import Shape.*

  private final case class Error(id: Int) extends RuntimeException(s"error $id") with NoStackTrace

  private def random(random: Random, depth: Int): Shape =
    def id() = random.nextInt(1000)
    def inner() = this.random(random, depth - 1)
    random.nextInt(if depth == 0 then 4 else 14) match
      case 0 => Emits(List.fill(random.nextInt(4))(id()))
      case 1 => Eval(id())
      case 2 => Failing(id())
      case 3 => Bracket(id())
      case 4 | 5 => Append(inner(), inner())
      case 6 | 7 | 8 => FlatMap(inner(), Vector.fill(1 + random.nextInt(3))(inner()))
      case 9 | 10 => Handle(inner(), inner())
      case 11 =>
        if random.nextBoolean() then HandlerThrows(inner(), id()) else MapThrows(inner(), id())
      case 12 => Finalize(inner(), id())
      case 13 => Take(inner(), random.nextInt(4))

  private def stream(shape: Shape, log: Log): Stream[Int] = shape match
    case Emits(values) => Stream.emits(values)
    case Eval(value) => Stream.eval(log(s"eval $value").as(value))
    case Failing(error) => Stream.fail(Error(error))
    case Bracket(name) => Stream.bracket(log(s"+$name").as(name))(_ => log(s"-$name"))
    case Append(first, second) => stream(first, log) ++ stream(second, log)
    case FlatMap(source, inner) =>
      stream(source, log).flatMap(i => stream(inner(i % inner.size), log))
    case Handle(source, handler) =>
      stream(source, log).handleErrorWith { error =>
        log.write(s"handle ${error.getMessage}")
        stream(handler, log)
      }
    case HandlerThrows(source, error) =>
      stream(source, log).handleErrorWith(_ => throw Error(error))
    case Finalize(source, name) => stream(source, log).onFinalize(log(s"final $name"))
    case Take(source, count) => stream(source, log).take(count)
    case MapThrows(source, at) =>
      stream(source, log).map(i => if i % 7 == at % 7 then throw Error(at) else i)

  /** The error that downstream throws. A handler, or the source of a `take`, does not get it, and
    * finalizers run.
    */
  private final class Downstream(val error: Error | Null) extends RuntimeException with NoStackTrace

  /** The plain loop: `emit` is downstream. */
  private def loop(shape: Shape, log: Log)(emit: Int => Unit): Unit =
    var thrown: Downstream | Null = null
    def pass(value: Int): Unit =
      try emit(value)
      catch
        case error: Error =>
          val downstream = Downstream(error)
          thrown = downstream
          throw downstream
    def unwrapped(run: => Unit): Unit =
      try run
      catch case downstream: Downstream if downstream eq thrown => throw downstream.error.nn
    shape match
      case Emits(values) => values.foreach(emit)
      case Eval(value) =>
        log.write(s"eval $value")
        emit(value)
      case Failing(error) => throw Error(error)
      case Bracket(name) =>
        log.write(s"+$name")
        try emit(name)
        finally log.write(s"-$name")
      case Append(first, second) =>
        loop(first, log)(emit)
        loop(second, log)(emit)
      case FlatMap(source, inner) =>
        loop(source, log)(i => loop(inner(i % inner.size), log)(emit))
      case Handle(source, handler) =>
        unwrapped {
          try loop(source, log)(pass)
          catch
            case error: Error =>
              log.write(s"handle ${error.getMessage}")
              loop(handler, log)(pass)
        }
      case HandlerThrows(source, error) =>
        unwrapped {
          try loop(source, log)(pass)
          catch case _: Error => throw Error(error)
        }
      case Finalize(source, name) =>
        try loop(source, log)(emit)
        finally log.write(s"final $name")
      case Take(source, count) =>
        var left = count
        val enough = Downstream(null)
        // A pull with nothing left to take is closed before it has begun.
        try
          if left > 0 then
            loop(source, log) { value =>
              emit(value)
              left -= 1
              if left == 0 then throw enough
            }
          else unbegun(source, log)
        catch case downstream: Downstream if downstream eq enough => ()
      case MapThrows(source, at) =>
        loop(source, log)(i => if i % 7 == at % 7 then throw Error(at) else emit(i))

  /** The finalizers of a stream that was closed before its first element. */
  private def unbegun(shape: Shape, log: Log): Unit = shape match
    case Append(first, _) => unbegun(first, log)
    case FlatMap(source, _) => unbegun(source, log)
    case Handle(source, _) => unbegun(source, log)
    case HandlerThrows(source, _) => unbegun(source, log)
    case Finalize(source, name) =>
      unbegun(source, log)
      log.write(s"final $name")
    case Take(source, _) => unbegun(source, log)
    case MapThrows(source, _) => unbegun(source, log)
    case _ => ()

  /** The consumer logs each element, and fails at the element `failsAt`. */
  private def used(log: Log, failsAt: Int): Int => Unit =
    var count = 0
    value =>
      log.write(s"use $value")
      count += 1
      if count == failsAt then throw Error(-1)

  private def ended(log: Log)(run: => Unit): List[String] =
    try run
    catch case error: Error => log.write(error.getMessage)
    log.lines

  test("random streams of streams do what a plain loop does"):
    println(s"CompositeSuite: -Dweir.stress.seed=$seed")
    val source = Random(seed)
    val end = System.nanoTime() + seconds * 1_000_000_000L
    var elements, handled, finalized = 0
    // On a machine that is busy, until there have been enough of each.
    while System.nanoTime() < end || elements < 1000 || handled < 100 || finalized < 100 do
      val shape = random(source, 5)
      val failsAt = source.nextInt(20)
      val expectedLog, log = Log()
      val expected = ended(expectedLog) {
        loop(shape, expectedLog)(used(expectedLog, failsAt))
      }
      val use = used(log, failsAt)
      val seen = ended(log)(stream(shape, log).evalMap(i => Task(use(i))).drain.runSync())
      assertEquals(seen, expected, s"$shape, failing at $failsAt")
      elements += seen.count(_.startsWith("use"))
      handled += seen.count(_.startsWith("handle"))
      finalized += seen.count(_.startsWith("final"))

  // ---- handlers ----

  private val first, second = Boom()

  private def handlers(stream: Stream[Int]): List[String] =
    val log = Log()
    stream
      .handleErrorWith { error =>
        log.write(if error eq first then "outer: first" else s"outer: $error")
        Stream.empty
      }
      .drain
      .runSync()
    log.lines

  test("a handler in scope sees the error of a stream in tail position, at any depth"):
    def flat(n: Int): Stream[Int] =
      Stream.eval(Task(n)).flatMap(_ => if n == 10_000 then Stream.fail(first) else flat(n + 1))
    def retried(n: Int): Stream[Int] =
      Stream
        .fail(second)
        .handleErrorWith(_ => if n == 10_000 then Stream.fail(first) else retried(n + 1))
    def appended(n: Int): Stream[Int] =
      Stream.emit(n) ++ (if n == 10_000 then Stream.fail(first) else appended(n + 1))
    for stream <- List(flat(0), retried(0), appended(0)) do
      assertEquals(handlers(stream), List("outer: first"))

  test("a handler sees neither what follows its source nor what its own stream throws"):
    val inner = Stream.emit(1).handleErrorWith(_ => fail("not its own"))
    assertEquals(handlers(inner ++ Stream.fail(first)), List("outer: first"))
    assertEquals(handlers(inner.flatMap(_ => Stream.fail(first))), List("outer: first"))
    assertEquals(
      handlers(Stream.fail(second).handleErrorWith(_ => Stream.fail(first))),
      List("outer: first")
    )

  test("what a consumer throws is handled by no handler upstream"):
    val source = Stream.emits(1 to 3).handleErrorWith(_ => fail("of the consumer"))
    assertEquals(source.map(_ => throw first).drain.attempt.runSync(), Left(first))
    assertEquals(source.flatMap(_ => Stream.fail(first)).drain.attempt.runSync(), Left(first))

  test(
    "a finalizer that fails between two streams fails the whole; its own handler is not called"
  ):
    val finalized = Stream.emit(1).onFinalize(Task.fail(first))
    val stream = finalized.handleErrorWith(_ => fail("its own")) ++ Stream.emit(2)
    assertEquals(handlers(stream), List("outer: first"))
    assertEquals(stream.drain.attempt.runSync(), Left(first))

  test("a handler that throws does not hide the error: it is suppressed under what was thrown"):
    val error = Boom("the error")
    Stream
      .fail(error)
      .handleErrorWith { case _: java.io.IOException => Stream.empty }
      .drain
      .attempt
      .runSync() match
      case Left(thrown: MatchError) => assertEquals(thrown.getSuppressed.toList, List(error))
      case other => fail(s"$other")
    val wrapping = RuntimeException("wraps", error)
    val wrapped = Stream.fail(error).handleErrorWith(_ => throw wrapping)
    assertEquals(wrapped.drain.attempt.runSync(), Left(wrapping))
    assertEquals(wrapping.getSuppressed.toList, Nil)
    val same = Stream.fail(error).handleErrorWith(e => throw e)
    assertEquals(same.drain.attempt.runSync(), Left(error))
    assertEquals(error.getSuppressed.toList, Nil)

  test("an error that is thrown again and again for ever keeps a bounded number of others"):
    def go(n: Int): Stream[Int] =
      if n == 1000 then Stream.empty
      else
        Stream
          .fail(first)
          .onFinalize(Task.fail(RuntimeException("of a finalizer")))
          .handleErrorWith(_ => go(n + 1))
    go(0).drain.runSync()
    assert(first.getSuppressed.length <= 64, first.getSuppressed.length)

  test("a trace finds all functions that come next in a running stream"):
    def flat(i: Int): Stream[Int] = Stream.emit(i)
    def handle(error: Throwable): Stream[Int] = Stream.fail(error)
    def more(): Stream[Int] = Stream.empty
    val stream = (Stream.eval(Task(1)).flatMap(flat).handleErrorWith(handle) ++ more())
    val lines = Functions.in(stream.open()).filter(_.getFileName == "CompositeSuite.scala")
    assertEquals(lines.size, 4, lines)

  test("a handler gets the error of a collection also where that is read ahead"):
    for failing <- List(0, 1, 2, 65, 66) do
      val boom = Boom()
      val view = new java.util.AbstractList[Int]:
        def get(i: Int): Int = if i == failing then throw boom else i
        def size: Int = 100
      val handled = Stream.emits(view.asScala).handleErrorWith {
        case `boom` => Stream.emit(-1)
        case other => Stream.fail(other)
      }
      assertEquals(handled.prefetchN(4).toList.runSync(), List.range(0, failing) :+ -1)
