package weir.interop.cats

import _root_.cats.data.Ior
import _root_.cats.{Align, Functor, SemigroupK}
import weir.Task

/** Combines two tasks of which one may fail. */
private[cats] object TaskAlternatives extends SemigroupK[Task], Align[Task]:

  def combineK[A](first: Task[A], second: Task[A]): Task[A] =
    first.handleErrorWith(_ => second)

  def functor: Functor[Task] = TaskAsync

  def align[A, B](fa: Task[A], fb: Task[B]): Task[Ior[A, B]] =
    fa.attempt.flatMap(a => fb.attempt.flatMap(b => either(a, b)))

  /** Combines two results: keeps the values of those that succeeded. **Fails** with the first error
    * if none did.
    */
  def either[A, B](a: Either[Throwable, A], b: Either[Throwable, B]): Task[Ior[A, B]] =
    (a, b) match
      case (Right(a), Right(b)) => Task.pure(Ior.Both(a, b))
      case (Right(a), _) => Task.pure(Ior.Left(a))
      case (_, Right(b)) => Task.pure(Ior.Right(b))
      case (Left(error), _) => Task.fail(error)
