package ported

import cats.effect.kernel.{Async, Deferred, Outcome, Ref, Resource}
import cats.effect.syntax.all.*
import cats.syntax.all.*
import java.util.concurrent.TimeoutException
import scala.concurrent.duration.*
import weir.Task
import weir.interop.cats.given

/** Code as it is written for any effect, with all syntax of Cats and Cats Effect in scope, run on
  * `Task`; and the same names on a `Task` itself, which are its own.
  */
class SyntaxSuite extends munit.FunSuite:

  private def started[F[_]: Async]: F[Int] =
    Async[F].pure(1).start.flatMap(_.joinWithNever)

  private def inBackground[F[_]: Async]: F[Outcome[F, Throwable, Int]] =
    Async[F].pure(2).background.use(identity)

  private def told[F[_]: Async]: F[List[String]] =
    for
      ends <- Ref[F].of(List.empty[String])
      note = (outcome: Outcome[F, Throwable, Int]) =>
        ends.update(outcome.fold("canceled", _ => "failed", _ => "succeeded") :: _)
      _ <- Async[F].pure(1).guaranteeCase(note)
      _ <- Async[F].raiseError[Int](Exception("boom")).guaranteeCase(note).attempt
      fiber <- Async[F].never[Int].guaranteeCase(note).start
      _ <- Async[F].sleep(2.millis) >> fiber.cancel
      all <- ends.get
    yield all.reverse

  private def late[F[_]: Async]: F[Either[Throwable, Unit]] =
    Async[F].never[Unit].timeout(1.milli).attempt

  private def twice[F[_]: Async]: F[(Int, Int)] = Async[F].pure(1).both(Async[F].pure(2))

  private def raced[F[_]: Async]: F[Either[Int, Unit]] =
    Async[F].pure(1).race(Async[F].never[Unit])

  private def inParallel[F[_]: Async]: F[(List[Int], List[Int], Vector[Int])] =
    for
      all <- Async[F].parTraverseN(2)(List(1, 2, 3))(n => Async[F].cede.as(n))
      same <- List(1, 2, 3).parTraverseN(2)(n => Async[F].cede.as(n + 1))
      vector <- Vector(1, 2).parTraverseN(2)(n => Async[F].pure(n))
    yield (all, same, vector)

  private def memoized[F[_]: Async]: F[(Int, Int)] =
    for
      count <- Ref[F].of(0)
      once <- count.updateAndGet(_ + 1).memoize
      first <- once
      second <- once
    yield (first, second)

  private def masked[F[_]: Async]: F[Int] =
    Async[F].uncancelable(poll => poll(Async[F].pure(1)).onCancel(Async[F].unit))

  private def bracketed[F[_]: Async]: F[(Int, Boolean)] =
    for
      closed <- Deferred[F, Boolean]
      value <- Resource.make(Async[F].pure(1))(_ => closed.complete(true).void).use(Async[F].pure)
      end <- closed.get
    yield (value, end)

  test("polymorphic code gets what it expects"):
    assertEquals(started[Task].runSync(), 1)
    inBackground[Task].runSync() match
      case Outcome.Succeeded(value) => assertEquals(value.runSync(), 2)
      case other => fail(s"$other")
    assertEquals(told[Task].runSync(), List("succeeded", "failed", "canceled"))
    late[Task].runSync() match
      case Left(_: TimeoutException) => ()
      case other => fail(s"$other")
    assertEquals(twice[Task].runSync(), (1, 2))
    assertEquals(raced[Task].runSync(), Left(1))
    assertEquals(inParallel[Task].runSync(), (List(1, 2, 3), List(2, 3, 4), Vector(1, 2)))
    assertEquals(memoized[Task].runSync(), (1, 1))
    assertEquals(masked[Task].runSync(), 1)
    assertEquals(bracketed[Task].runSync(), (1, true))

  test("on a Task itself these names are its own, and clash with none"):
    val task = Task.pure(1)
    assertEquals(task.start.flatMap(_.joinOrFail).runSync(), 1)
    assertEquals(task.background.use(_.joinOrFail).runSync(), 1)
    assertEquals(task.guaranteeCase(_ => Task.unit).runSync(), 1)
    assertEquals(task.timeout(1.second).runSync(), 1)
    assertEquals(task.both(task).runSync(), (1, 1))
    assertEquals(task.race(Task.never).runSync(), Left(1))
    assertEquals(task.memoize.flatMap(identity).runSync(), 1)
    assertEquals(List(1, 2).parTraverse(n => Task.pure(n)).runSync(), List(1, 2))
    assertEquals((task, task).parMapN(_ + _).runSync(), 2)
    assertEquals((task, task).mapN(_ + _).runSync(), 2)
    assertEquals(task.evalOn(scala.concurrent.ExecutionContext.global).runSync(), 1)
