package weir.interop.cats

import _root_.cats.effect.SyncIO
import _root_.cats.effect.kernel.Async
import _root_.cats.effect.std.{Console, Env, SecureRandom, SystemProperties}
import _root_.cats.{Align, CommutativeApplicative, Monoid, Parallel, Semigroup, SemigroupK, Show}
import weir.Task

/** Cats Effect's strongest type class, with all classes that it inherits. fs2, http4s, skunk and
  * doobie need it of an effect. `import weir.interop.cats.given` brings it into scope.
  */
given asyncForTask: Async[Task] = TaskAsync

/** `parTraverse`, `parMapN` and the like of Cats, as one group of children: see `TaskParallel`. */
given parallelForTask: Parallel.Aux[Task, TaskParallel.Par] = TaskParallel

/** Runs both, one after the other, and combines their values. */
given semigroupForTask[A](using semigroup: Semigroup[A]): Semigroup[Task[A]] =
  new TaskSemigroup[A](semigroup)

/** As the semigroup. `empty` is a task that returns the empty value at once. */
given monoidForTask[A](using monoid: Monoid[A]): Monoid[Task[A]] = new TaskMonoid[A](monoid)

/** `<+>`: runs the second task if the first one fails. */
given semigroupKForTask: SemigroupK[Task] = TaskAlternatives

/** Runs both, one after the other, and keeps the values of those that succeed. If both fail, the
  * error is that of the first.
  */
given alignForTask: Align[Task] = TaskAlternatives

/** The applicative of `parTraverse` and `parMapN`: runs both tasks at the same time. */
given commutativeApplicativeForTaskPar: CommutativeApplicative[TaskParallel.Par] =
  TaskParallel.applicative

/** As `alignForTask`, but runs both at the same time. */
given alignForTaskPar: Align[TaskParallel.Par] = TaskParallel.align

/** The standard streams of the process. */
given consoleForTask: Console[Task] = Console.make

/** The environment variables of the process. */
given envForTask: Env[Task] = Env.make

/** The system properties of the JVM. */
given systemPropertiesForTask: SystemProperties[Task] = SystemProperties.make

/** Random values of `java.security.SecureRandom`; also for code that asks for a `Random`. */
given secureRandomForTask: SecureRandom[Task] = SecureRandom.in[SyncIO, Task].unsafeRunSync()

/** Shows only that the value is a task, since only running it could show more. */
given showForTask[A]: Show[Task[A]] = Show.show(_ => "Task(...)")

private[cats] class TaskSemigroup[A](semigroup: Semigroup[A]) extends Semigroup[Task[A]]:
  def combine(first: Task[A], second: Task[A]): Task[A] =
    first.flatMap(a => second.map(semigroup.combine(a, _)))

private[cats] final class TaskMonoid[A](monoid: Monoid[A])
    extends TaskSemigroup[A](monoid),
      Monoid[Task[A]]:
  val empty: Task[A] = Task.pure(monoid.empty)
