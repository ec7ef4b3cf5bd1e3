package weir.interop.cats

import _root_.cats.data.Ior
import _root_.cats.{Align, CommutativeApplicative, Functor, Monad, Parallel, ~>}
import weir.Task

/** Cats' `Parallel` for tasks. */
private[cats] object TaskParallel extends Parallel[Task]:

  /** A task that runs concurrently with those with which it is combined. */
  opaque type Par[A] = Task[A]

  type F[A] = Par[A]

  val parallel: Task ~> Par = new (Task ~> Par):
    def apply[A](task: Task[A]): Par[A] = task

  val sequential: Par ~> Task = new (Par ~> Task):
    def apply[A](par: Par[A]): Task[A] = par

  def monad: Monad[Task] = TaskAsync

  val applicative: CommutativeApplicative[Par] = new CommutativeApplicative[Par]:
    def pure[A](a: A): Par[A] = Task.pure(a)
    override def map[A, B](par: Par[A])(f: A => B): Par[B] = par.map(f)
    def ap[A, B](ff: Par[A => B])(fa: Par[A]): Par[B] = map2(ff, fa)((f, a) => f(a))
    override def product[A, B](fa: Par[A], fb: Par[B]): Par[(A, B)] = Task.both(fa, fb)
    override def map2[A, B, Z](fa: Par[A], fb: Par[B])(f: (A, B) => Z): Par[Z] =
      Task.both(fa, fb).map(f(_, _))
    override val unit: Par[Unit] = Task.unit

  val align: Align[Par] = new Align[Par]:
    def functor: Functor[Par] = applicative
    def align[A, B](fa: Par[A], fb: Par[B]): Par[Ior[A, B]] =
      Task.both(fa.attempt, fb.attempt).flatMap(TaskAlternatives.either(_, _))
