package weir.laws

import java.io.{OutputStream, PrintStream}
import java.util.concurrent.CancellationException
import org.scalacheck.Prop
import org.scalacheck.Prop.forAll
import org.scalacheck.rng.Seed
import weir.{Outcome, Task, Tier, WeirRuntime, WeirSuite}

/** The laws of Cats Effect's type classes, from Functor to Async, over random programs.
  *
  * Both sides of a law contain the program; they must end in the same way after the same events,
  * without a cancel and with a cancel at each step. `-Dweir.laws.seed=` takes the seed that a
  * failure prints.
  */
class LawsSuite extends munit.ScalaCheckSuite, WeirSuite:

  override def limit = scala.concurrent.duration.DurationInt(60).seconds

  override def scalaCheckTestParameters =
    super.scalaCheckTestParameters.withMinSuccessfulTests(
      Integer.getInteger("weir.laws.each", Tier(8, 100)).intValue
    )

  override val scalaCheckInitialSeed: String =
    System.getProperty("weir.laws.seed", Tier(Seed(1), Seed.random()).toBase64).nn

  // Without the reports of finalizers that fail, which are in the programs.
  private val err = System.err
  override def beforeAll(): Unit = System.setErr(PrintStream(OutputStream.nullOutputStream()))
  override def afterAll(): Unit = System.setErr(err)

  private type Side = (Task[Int], Machine) => Task[Int]

  /** `masked`: both sides run the program masked; `forked`: in another fiber. */
  private def law(name: String, masked: Boolean = false, forked: Boolean = false)(left: Side)(
      right: Side
  ): Unit =
    property(name) {
      forAll(Program.any) { program =>
        val points = Reference.points(program, masked).filter {
          case CancelAt.Step(_, own) => own || !forked
          case CancelAt.Start => !forked
          case CancelAt.Nowhere => true
        }
        Prop.all(points.map { point =>
          def side(of: Side): Seen =
            val machine = Machine(point, WeirRuntime.default)
            machine.runWith(program, masked)(task =>
              // The cancel that the last step requests is noticed by the step after it.
              Task.unit
                .flatMap(_ => of(task, machine))
                .flatMap(n => machine.mark("end").as(n))
                .handleErrorWith(error => machine.mark("failed").andThen(Task.fail(error)))
            )
          Prop(side(left) == side(right)).label(s"$point\n${side(left)}\n${side(right)}")
        }*)
      }
    }

  private val same: Side = (task, _) => task

  // ---- Functor, Monad, MonadError ----

  law("map of the identity")((task, _) => task.map(n => n))(same)
  law("map twice")((task, _) => task.map(_ + 1).map(_ * 2))((task, _) => task.map(n => (n + 1) * 2))
  law("pure before flatMap")((task, _) => Task.pure(1).flatMap(_ => task))(same)
  law("pure in flatMap")((task, _) => task.flatMap(Task.pure))(same)
  law("flatMap is associative")((task, machine) =>
    task.flatMap(n => machine.mark("f").as(n)).flatMap(n => machine.mark("g").as(n))
  )((task, machine) =>
    task.flatMap(n => machine.mark("f").as(n).flatMap(n => machine.mark("g").as(n)))
  )
  law("attempt, taken apart")((task, _) => task.attempt.flatMap(_.fold(Task.fail, Task.pure)))(same)
  law("handleErrorWith fail")((task, _) => task.handleErrorWith(Task.fail))(same)
  law("what follows a failure does not run")((task, _) =>
    Task.fail(Boom()).flatMap(_ => task).handleError(_ => 3)
  )((_, _) => Task.pure(3))
  law("defer")((task, _) => Task.defer(task))(same)
  law("cede before")((task, _) => Task.cede.andThen(task))(same)

  // ---- MonadCancel ----

  law("uncancelable with a poll around all of it")((task, _) => Task.uncancelable(_(task)))(same)
  law("uncancelable in uncancelable", masked = true)((task, _) =>
    Task.uncancelable(_ => Task.uncancelable(_ => task))
  )((task, _) => Task.uncancelable(_ => task))
  law("the inner poll alone unmasks nothing", masked = true)((task, _) =>
    Task.uncancelable(_ => Task.uncancelable(inner => inner(task)))
  )((task, _) => Task.uncancelable(_ => task))
  law("polls in the wrong order unmask nothing", masked = true)((task, _) =>
    Task.uncancelable(outer => Task.uncancelable(inner => outer(inner(task))))
  )((task, _) => Task.uncancelable(_ => task))
  law("polls in the right order unmask all")((task, _) =>
    Task.uncancelable(outer => Task.uncancelable(inner => inner(outer(task))))
  )(same)
  law("a poll unmasks nothing of a mask inside of what it has unmasked", masked = true)((task, _) =>
    Task.uncancelable(poll => poll(Task.uncancelable(_ => poll(task))))
  )((task, _) => Task.uncancelable(_ => task))
  law("a poll in itself")((task, _) => Task.uncancelable(poll => poll(poll(task))))(same)
  law("a poll that has been used once may be used again")((task, machine) =>
    Task.uncancelable(poll => poll(machine.mark("first")).andThen(poll(task)))
  )((task, machine) => machine.mark("first").andThen(task))
  law("what follows canceled does not run")((task, _) => Task.canceled.andThen(task))((_, _) =>
    Task.canceled.as(0)
  )
  law("uncancelable eliminates onCancel", masked = true)((task, machine) =>
    Task.uncancelable(_ => task.onCancel(machine.mark("never")))
  )((task, _) => Task.uncancelable(_ => task))
  law("onCancel twice is one after the other")((task, machine) =>
    task.onCancel(machine.mark("f")).onCancel(machine.mark("g"))
  )((task, machine) => task.onCancel(machine.mark("f").andThen(machine.mark("g"))))
  law("a finalizer is masked")((task, machine) => task.onCancel(machine.mark("f")))(
    (task, machine) => task.onCancel(Task.uncancelable(_ => machine.mark("f")))
  )
  law("a poll in a finalizer unmasks nothing")((task, machine) =>
    Task.uncancelable(poll => poll(task).onCancel(poll(machine.mark("f"))))
  )((task, machine) => task.onCancel(machine.mark("f")))
  law("canceled in a finalizer changes nothing")((task, machine) =>
    task.onCancel(Task.canceled.andThen(machine.mark("f")))
  )((task, machine) => task.onCancel(machine.mark("f")))
  law("guarantee is guaranteeCase")((task, machine) => task.guarantee(machine.mark("f")))(
    (task, machine) => task.guaranteeCase(_ => machine.mark("f"))
  )
  law("guarantee is bracket of nothing")((task, machine) => task.guarantee(machine.mark("f")))(
    (task, machine) => Task.unit.bracket(_ => task)(_ => machine.mark("f"))
  )
  law("guaranteeCase is onCancel, and one for each of the other ends")((task, machine) =>
    task.guaranteeCase(told(machine))
  )((task, machine) =>
    Task.uncancelable { poll =>
      val finalizer = told(machine)
      poll(task)
        .onCancel(finalizer(Outcome.Canceled))
        .attempt
        .flatMap {
          case Right(value) => finalizer(Outcome.Succeeded(value)).as(value)
          case Left(error) => finalizer(Outcome.Failed(error)).andThen(Task.fail(error))
        }
    }
  )
  law("bracket is uncancelable, with use polled", masked = true)((task, machine) =>
    task.bracket(n => machine.mark("use").as(n))(_ => machine.mark("release"))
  )((task, machine) =>
    Task.uncancelable(poll =>
      task.flatMap(n => poll(machine.mark("use").as(n)).guarantee(machine.mark("release")))
    )
  )

  private def told(machine: Machine)(outcome: Outcome[Int]): Task[Unit] = outcome match
    case Outcome.Succeeded(value) => machine.mark(s"succeeded $value")
    case Outcome.Failed(_) => machine.mark("failed")
    case Outcome.Canceled => machine.mark("canceled")

  // ---- GenSpawn ----

  law("uncancelable is not inherited by a fork", forked = true)((task, machine) =>
    machine.alone(Task.uncancelable(_ => task.start).flatMap(_.join))
  )((task, machine) => machine.alone(task.start.flatMap(_.join)))

  private def outcome(task: Task[Any]): Outcome[Any] =
    task.start.flatMap(_.join).runSync()

  test("start, then join, gives each of the outcomes"):
    val boom = Boom()
    assertEquals(outcome(Task.pure(1)), Outcome.Succeeded(1))
    assertEquals(outcome(Task.fail(boom)), Outcome.Failed(boom))
    assertEquals(outcome(Task.canceled), Outcome.Canceled)
    val canceled = Task.never.start.flatMap(fiber => fiber.cancel.andThen(fiber.join))
    assertEquals(canceled.runSync(), Outcome.Canceled)

  test("a fork of never returns, also masked, and a cancel ends it"):
    Task.uncancelable(_ => Task.never.start.flatMap(_.cancel)).runSync()

  test("a race is won by what is not never, on either side, whatever its outcome"):
    val boom = Boom()
    assertEquals(Task.race(Task.pure(1), Task.never).runSync(), Left(1))
    assertEquals(Task.race(Task.never, Task.pure(1)).runSync(), Right(1))
    assertEquals(Task.race(Task.fail(boom), Task.never).attempt.runSync(), Left(boom))
    assertEquals(Task.race(Task.never, Task.fail(boom)).attempt.runSync(), Left(boom))
    assertEquals(Task.race(Task.canceled, Task.pure(1)).runSync(), Right(1))
    assertEquals(Task.race(Task.pure(1), Task.canceled).runSync(), Left(1))
    assertEquals(outcome(Task.race(Task.canceled, Task.canceled)), Outcome.Canceled)

  test("a race whose sides cancel themselves cancels its parent, or fails where that is masked"):
    val both = Task.race(Task.canceled, Task.canceled)
    assertEquals(outcome(both), Outcome.Canceled)
    val masked = Task.uncancelable(_ => both.attempt)
    outcome(masked) match
      case Outcome.Succeeded(Left(_: CancellationException)) => ()
      case other => fail(s"$other")
    assertEquals(outcome(masked.andThen(Task(1))), Outcome.Canceled)

  // ---- Async ----

  law("async whose callback is called at once")((task, _) =>
    Task.async[Int](_(Right(1))).flatMap(_ => task)
  )(same)
  law("async whose callback is called with an error")((task, _) =>
    Task.async[Int](_(Left(Boom()))).handleErrorWith(_ => task)
  )((task, _) => Task.fail(Boom()).handleErrorWith(_ => task))
  law("async ignores the second call")((task, _) =>
    Task
      .async[Int] { callback =>
        callback(Right(1))
        callback(Left(Boom()))
      }
      .flatMap(_ => task)
  )(same)
  law("async's hook does not run once the callback was called")((task, machine) =>
    Task
      .asyncCancelable[Int] { callback =>
        callback(Right(1))
        machine.mark("hook")
      }
      .flatMap(_ => task)
  )(same)
  law("never is async whose callback is never called", forked = true)((task, machine) =>
    machine.alone(canceledWhileWaiting(Task.never, task))
  )((task, machine) => machine.alone(canceledWhileWaiting(Task.async(_ => ()), task)))

  private def canceledWhileWaiting(wait: Task[Any], task: Task[Int]): Task[Outcome[Any]] =
    wait.andThen(task).start.flatMap(fiber => fiber.cancel.andThen(fiber.join))
