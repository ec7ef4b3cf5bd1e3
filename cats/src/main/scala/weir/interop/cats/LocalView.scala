package weir.interop.cats

import _root_.cats.Applicative
import _root_.cats.mtl.Local
import weir.{Task, TaskLocal}

extension [A](local: TaskLocal[A])

  /** Returns a view of this local as a `Local` of cats-mtl, in which otel4s and others keep their
    * context.
    * {{{
    * for
    *   requestId <- TaskLocal.of("none")
    *   given Local[Task, String] = requestId.asLocal
    *   answer <- handle[Task](request) // handle[F[_]](request: Request)(using Local[F, String])
    * yield answer
    * }}}
    */
  def asLocal: Local[Task, A] = LocalView(local)

private[cats] final class LocalView[A](variable: TaskLocal[A]) extends Local[Task, A]:
  def applicative: Applicative[Task] = TaskAsync
  def ask[A2 >: A]: Task[A2] = variable.get
  def local[B](task: Task[B])(f: A => A): Task[B] =
    variable.get.flatMap(value => variable.locally(f(value))(task))
  override def scope[B](task: Task[B])(value: A): Task[B] = variable.locally(value)(task)
