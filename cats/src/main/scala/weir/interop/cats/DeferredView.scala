package weir.interop.cats

import _root_.cats.effect.kernel
import weir.{Deferred, Task}

/** A deferred value of Weir's as Cats Effect sees it. */
private[cats] final class DeferredView[A](deferred: Deferred[A]) extends kernel.Deferred[Task, A]:
  def get: Task[A] = deferred.get
  def tryGet: Task[Option[A]] = deferred.tryGet
  def complete(value: A): Task[Boolean] = deferred.complete(value)
