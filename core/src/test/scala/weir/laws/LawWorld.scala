package weir.laws

import scala.concurrent.duration.*
import weir.{Deferred, Fiber, Outcome, Poll, Ref, Resource, Semaphore, Task}

/** The parts of a side of a law, in one run: tasks and functions that have names, and that are the
  * same on both sides. `programOf` and `numberOf` choose them. The effects of a task are noted
  * under its name, with their places in the program.
  */
final class LawWorld(
    runtime: LawRuntime,
    programOf: String => LawProgram,
    numberOf: String => Int
):
  import LawProgram.*

  // ---- the named things ----

  def task(name: String): Task[Int] = task(programOf(name), name, Nil, isMain = true)
  def fa: Task[Int] = task("fa")
  def fb: Task[Int] = task("fb")
  def fc: Task[Int] = task("fc")
  def fu: Task[Unit] = task("fu").void
  def fin1: Task[Unit] = task("fin1").void
  def fin2: Task[Unit] = task("fin2").void

  /** A task that may run in another fiber on one side than on the other. */
  def child: Task[Int] = task(programOf("child"), "child", Nil, isMain = false)
  def note(event: String): Unit = runtime.note(event)

  /** A function with two different results. */
  def effectful(name: String): Int => Task[Int] = n =>
    val which = s"$name${n & 1}"
    task(which).map(_ + n)
  def f: Int => Task[Int] = effectful("f")
  def g: Int => Task[Int] = effectful("g")
  def h: Int => Task[Int] = effectful("h")

  def number(name: String): Int = numberOf(name)
  def a: Int = numberOf("a")
  def b: Int = numberOf("b")
  def e: LawError = LawError(numberOf("e"))
  def pf: Int => Int = n => n * 3 + numberOf("pf")
  def pg: Int => Int = n => n * 5 - numberOf("pg")
  def ff: Task[Int => Int] = task("ff").map(n => m => m * 7 + n)
  def fg: Task[Int => Int] = task("fg").map(n => m => m * 11 + n)

  /** A handler, whose result depends on the error. */
  def handler: Throwable => Task[Int] = error =>
    mark(s"handler of ${LawRuntime.describe(error)}").andThen(task("handler"))
  def pureHandler: Throwable => Int = error => LawRuntime.describe(error).hashCode

  /** Notes an event `name`. */
  def mark(name: String): Task[Unit] = Task.delay(runtime.note(name))

  // ---- operations of Cats Effect that `Task` has under other names ----

  def forceR[A, B](first: Task[A])(second: Task[B]): Task[B] =
    first.void.handleError(_ => ()).flatMap(_ => second)

  def ap[A, B](function: Task[A => B])(source: Task[A]): Task[B] =
    function.flatMap(f => source.map(f))

  def product[A, B](first: Task[A], second: Task[B]): Task[(A, B)] =
    first.flatMap(a => second.map(b => (a, b)))

  /** See `LawRuntime.bounded`. */
  def bounded[A](task: Task[A]): Task[A] = LawRuntime.bounded(task)

  /** Both, in fibers of their own, until one of them has ended. A cancel of the wait cancels both.
    */
  def racePair[A, B](
      left: Task[A],
      right: Task[B]
  ): Task[Either[(Outcome[A], Fiber[B]), (Fiber[A], Outcome[B])]] = Task.uncancelable { poll =>
    for
      first <- Deferred[Either[Outcome[A], Outcome[B]]]
      a <- left.start
      b <- right.start
      _ <- a.join.flatMap(end => first.complete(Left(end))).start
      _ <- b.join.flatMap(end => first.complete(Right(end))).start
      end <- poll(first.get).onCancel(Task.parForeachN(2)(List(a, b))(_.cancel))
    yield end match
      case Left(end) => Left((end, b))
      case Right(end) => Right((a, end))
  }

  // ---- a program as a task ----

  private def task(
      program: LawProgram,
      path: String,
      polls: List[Poll],
      isMain: Boolean
  ): Task[Int] =
    def in(part: Int, program: LawProgram, polls: List[Poll] = polls): Task[Int] =
      task(program, s"$path.$part", polls, isMain)
    def child(program: LawProgram): Task[Int] = task(program, s"$path.0", polls, isMain = false)
    def finalizer(part: Int, program: LawProgram): Task[Unit] =
      task(program, s"$path.$part", Nil, isMain).void
    def noted[A](value: => A): Task[A] = Task.delay {
      runtime.note(path)
      value
    }
    program match
      case Pure(n) => Task.pure(n)
      case Fail(n) => Task.fail(LawError(n))
      case Delay(n) => noted(n)
      case Throw(n) => noted(throw LawError(n))
      case Canceled(n) => Task.canceled.as(n)
      case CancelMain(_, n) if isMain => noted(runtime.cancelRoot()).as(n)
      case CancelMain(nanos, _) =>
        // Ends here, since it is cancelled itself if the main fiber waits for it.
        Task.sleep(nanos.nanos).flatMap(_ => noted(runtime.cancelRoot())).andThen(Task.never)
      case Cede(n) => Task.cede.as(n)
      case Never => Task.never
      case Clock(n) => Task.monotonic.flatMap(_ => Task.realTime).as(n)
      case Sleep(nanos, n) => Task.sleep(nanos.nanos).flatMap(_ => noted(n))

      case AsyncNow(error, n) =>
        Task.async { callback =>
          callback(if error then Left(LawError(n)) else Right(n))
          callback(Right(-1))
        }
      case AsyncLater(nanos, error, n) =>
        Task.async(callback =>
          runtime.later(nanos.nanos)(callback(if error then Left(LawError(n)) else Right(n)))
        )
      case AsyncHook(nanos, n, hook) =>
        Task.asyncCancelable { callback =>
          runtime.later(nanos.nanos)(callback(Right(n)))
          finalizer(0, hook)
        }
      case AsyncNever(hook) => Task.asyncCancelable(_ => finalizer(0, hook))

      case Map(source, n) => in(0, source).map(_ + n)
      case Ap(function, source) =>
        ap(in(0, function).map(n => (m: Int) => m * 2 + n))(in(1, source))
      case FlatMap(source, next) => in(0, source).flatMap(n => in(1, next).map(_ + n))
      case Sequence(first, second) => Task.sequence(List(in(0, first), in(1, second))).map(_.sum)
      case Attempt(source) => in(0, source).attempt.map(_.fold(_ => -1, n => n))
      case Handle(source, handler) => in(0, source).handleErrorWith(_ => in(1, handler))
      case ForceR(first, second) => forceR(in(0, first))(in(1, second))

      case OnCancel(source, fin) => in(0, source).onCancel(finalizer(1, fin))
      case Guarantee(source, fin) =>
        in(0, source).guaranteeCase(outcome =>
          mark(s"$path ${ended(outcome)}").andThen(finalizer(1, fin))
        )
      case Bracket(acquire, use, release) =>
        in(0, acquire).bracket(n => in(1, use).map(_ + n))(_ => finalizer(2, release))
      case Use(acquire, use, release) =>
        Resource.make(in(0, acquire))(_ => finalizer(2, release)).use(n => in(1, use).map(_ + n))
      case Mask(body) => Task.uncancelable(poll => in(0, body, poll :: polls))
      case Polled(up, body) =>
        polls.lift(up) match
          case Some(poll) => poll(in(0, body))
          case None => in(0, body)

      case Start(program, n) => child(program).start.as(n)
      case StartJoin(program, meanwhile) =>
        child(program).start.flatMap(fiber => in(1, meanwhile).flatMap(_ => fiber.join)).map(ended)
      case StartCancel(program, nanos) =>
        child(program).start
          .flatMap(fiber => Task.sleep(nanos.nanos).andThen(fiber.cancel).flatMap(_ => fiber.join))
          .map(ended)
      case RaceNever(program, true) => Task.race(child(program), Task.never).map(_.merge)
      case RaceNever(program, false) => Task.race(Task.never, child(program)).map(_.merge)
      case RaceSleep(program, nanos, isLeft) =>
        val sleep = Task.sleep(nanos.nanos).as(-4)
        val race =
          if isLeft then Task.race(child(program), sleep) else Task.race(sleep, child(program))
        race.map(_.merge)
      case Both(program, nanos) =>
        Task.both(child(program), Task.sleep(nanos.nanos)).map(_._1)
      case Timeout(program, nanos) => child(program).timeout(nanos.nanos)
      case TimeoutTo(program, nanos, fallback) =>
        child(program).timeoutTo(nanos.nanos, in(1, fallback))
      case Cancelable(program, hook) => child(program).cancelable(finalizer(1, hook))

      case ThroughRef(source) =>
        Ref.of(1).flatMap(ref => in(0, source).flatMap(n => ref.updateAndGet(_ + n)))
      case ThroughDeferred(source) =>
        Deferred[Int].flatMap { deferred =>
          child(source).flatMap(deferred.complete).start.flatMap(_ => deferred.get)
        }
      case WithPermit(nanos, body) =>
        Semaphore(1).flatMap { semaphore =>
          val holder =
            semaphore.acquire.flatMap(_ => Task.sleep(nanos.nanos).andThen(semaphore.release).start)
          holder.andThen(semaphore.withPermit(in(0, body)))
        }

  private def ended(outcome: Outcome[Int]): Int = outcome match
    case Outcome.Succeeded(n) => n
    case Outcome.Failed(_) => -2
    case Outcome.Canceled => -3
