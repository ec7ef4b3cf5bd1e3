package weir.interop.cats

import _root_.cats.effect.kernel.Async
import _root_.cats.{Monoid, Parallel, Semigroup, Show}
import weir.Task

/** Cats Effect's strongest type class, and with it all that it inherits: what fs2, http4s, skunk
  * and doobie ask of an effect. `import weir.interop.cats.given` brings it into scope.
  */
given asyncForTask: Async[Task] = TaskAsync

/** `parTraverse`, `parMapN` and the like of Cats, as one group of children: see `TaskParallel`. */
given parallelForTask: Parallel.Aux[Task, TaskParallel.Par] = TaskParallel

/** Runs both, one after the other, and combines their values. */
given semigroupForTask[A](using semigroup: Semigroup[A]): Semigroup[Task[A]] =
  new TaskSemigroup[A](semigroup)

/** As the semigroup; empty is a task that returns the empty value at once. */
given monoidForTask[A](using monoid: Monoid[A]): Monoid[Task[A]] = new TaskMonoid[A](monoid)

/** A task says no more than that it is one, since only running it could tell. */
given showForTask[A]: Show[Task[A]] = Show.show(_ => "Task(...)")

private[cats] class TaskSemigroup[A](semigroup: Semigroup[A]) extends Semigroup[Task[A]]:
  def combine(first: Task[A], second: Task[A]): Task[A] =
    first.flatMap(a => second.map(semigroup.combine(a, _)))

private[cats] final class TaskMonoid[A](monoid: Monoid[A])
    extends TaskSemigroup[A](monoid),
      Monoid[Task[A]]:
  val empty: Task[A] = Task.pure(monoid.empty)
