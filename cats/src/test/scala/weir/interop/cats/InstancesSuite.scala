package weir.interop.cats

import _root_.cats.effect.kernel.{Async, Outcome}
import _root_.cats.effect.std.Queue
import _root_.cats.effect.syntax.all.*
import _root_.cats.syntax.all.*
import java.util.concurrent.CountDownLatch
import scala.concurrent.duration.*
import weir.Task

class InstancesSuite extends munit.FunSuite:

  private def program[F[_]](using F: Async[F]): F[(Int, List[Int], Outcome[F, Throwable, Unit])] =
    for
      queue <- Queue.bounded[F, Int](2)
      _ <- (1 to 100).toList.traverse_(queue.offer).start
      taken <- List.fill(100)(queue.take).sequence
      fiber <- F.never[Unit].start
      _ <- F.sleep(1.milli)
      _ <- fiber.cancel
      outcome <- fiber.join
    yield (taken.sum, taken, outcome)

  test("a program that is polymorphic in its effect runs on Task"):
    assertEquals(program[Task].runSync(), (5050, (1 to 100).toList, Outcome.Canceled()))

  test("parTraverse runs at the same time"):
    val both = CountDownLatch(2)
    val task =
      List(1, 2).parTraverse(n => Async[Task].blocking { both.countDown(); both.await(); n })
    assertEquals(task.runSync(), List(1, 2))

  test("tasks are a monoid as their values are, and show that they are tasks"):
    assertEquals((Task.pure("a") |+| Task.pure("b")).runSync(), "ab")
    assertEquals(Task.pure("a").show, "Task(...)")
