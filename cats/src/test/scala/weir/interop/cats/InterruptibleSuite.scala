package weir.interop.cats

import _root_.cats.effect.IO
import _root_.cats.effect.kernel.Async
import _root_.cats.effect.unsafe.IORuntime
import _root_.cats.syntax.all.*
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import weir.{Task, WeirSuite}

/** Interrupts of plain code, as `IO` has them: the same programs on both. */
class InterruptibleSuite extends WeirSuite:
  testsOn[Task]("Task")([A] => (task: Task[A]) => task.runSync())
  testsOn[IO]("IO")([A] => (io: IO[A]) => io.unsafeRunSync()(using IORuntime.global))

  /** The code of a program. */
  private final class Code:
    val begun, goOn = CountDownLatch(1)
    val interrupts = AtomicInteger()

    /** Blocks until it is interrupted, and swallows that. */
    def swallow(): Unit =
      begun.countDown()
      try goOn.await()
      catch case _: InterruptedException => interrupts.incrementAndGet(): Unit

  private def testsOn[F[_]](name: String)(run: [A] => F[A] => A)(using F: Async[F]): Unit =

    /** The end of a program that is cancelled once its code has begun, and the interrupts seen. */
    def cancelled(program: Code => F[Int]): (String, Int) =
      val code = Code()
      val task = for
        fiber <- F.start(program(code))
        _ <- F.blocking(code.begun.await())
        _ <- fiber.cancel
        end <- fiber.join
      yield end.fold("Canceled", error => s"Errored($error)", _ => "Succeeded")
      (run(task), code.interrupts.get)

    test(s"$name: interruptible whose code swallows the interrupt ends Canceled"):
      assertEquals(cancelled(code => F.interruptible { code.swallow(); 1 }), ("Canceled", 1))

    test(s"$name: so it does behind map, and where the code sets the flag again"):
      assertEquals(
        cancelled(code => F.map(F.interruptible(code.swallow()))(_ => 1)),
        ("Canceled", 1)
      )
      assertEquals(
        cancelled(code => F.interruptible { code.swallow(); Thread.currentThread.interrupt(); 1 }),
        ("Canceled", 1)
      )

    test(s"$name: interruptible whose code answers the interrupt with an error ends Canceled"):
      assertEquals(
        cancelled(code => F.interruptible { code.swallow(); throw Exception("late") }),
        ("Canceled", 1)
      )

    test(s"$name: in a poll too, and its finalizers run"):
      val finalized = AtomicInteger()
      val end = cancelled(code =>
        F.uncancelable(poll =>
          F.onCancel(
            poll(F.interruptible { code.swallow(); 1 }),
            F.delay(finalized.incrementAndGet()).void
          )
        )
      )
      assertEquals((end, finalized.get), (("Canceled", 1), 1))

    test(s"$name: interruptible interrupts once, and the cancel waits for the code"):
      val more = CountDownLatch(1)
      val code = Code()
      val task = for
        fiber <- F.start(F.interruptible { code.swallow(); more.await(); 1 })
        _ <- F.blocking(code.begun.await())
        cancelling <- F.start(fiber.cancel)
        _ <- F.blocking(while code.interrupts.get == 0 do Thread.`yield`())
        _ <- F.delay(more.countDown())
        _ <- cancelling.join
        end <- fiber.join
      yield end.isCanceled
      assertEquals((run(task), code.interrupts.get), (true, 1))

    test(s"$name: interruptibleMany interrupts until the code ends, and ends Canceled"):
      val end =
        cancelled(code => F.interruptibleMany { code.swallow(); code.swallow(); code.swallow(); 1 })
      assertEquals(end, ("Canceled", 3))

    val kinds = List[Code => F[Unit]](
      code => F.interruptible(code.swallow()),
      code => F.interruptibleMany(code.swallow())
    )
    for (kind, at) <- kinds.zipWithIndex do
      test(s"$name: no interrupt comes in a mask: $at"):
        val code = Code()
        val task = for
          fiber <- F.start(F.uncancelable(_ => kind(code)))
          _ <- F.blocking(code.begun.await())
          cancelling <- F.start(fiber.cancel)
          _ <- F.delay(code.goOn.countDown())
          _ <- cancelling.join
        yield code.interrupts.get
        assertEquals(run(task), 0)

    test(s"$name: without a cancel both give the value, or the error"):
      val boom = Exception("boom")
      assertEquals(run(F.both(F.interruptible(1), F.interruptibleMany(2))), (1, 2))
      assertEquals(run(F.attempt(F.interruptible(throw boom))), Left(boom))
      assertEquals(run(F.attempt(F.interruptibleMany(throw boom))), Left(boom))
