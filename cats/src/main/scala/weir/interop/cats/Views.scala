package weir.interop.cats

import _root_.cats.data.State
import _root_.cats.effect.kernel
import weir.{Deferred, Ref, Task}

/** A view of a Weir reference with Cats Effect's type. */
private[cats] final class RefView[A](ref: Ref[A]) extends kernel.Ref[Task, A]:
  def get: Task[A] = ref.get
  def set(a: A): Task[Unit] = ref.set(a)
  override def getAndSet(a: A): Task[A] = ref.getAndSet(a)
  override def getAndUpdate(f: A => A): Task[A] = ref.getAndUpdate(f)
  override def updateAndGet(f: A => A): Task[A] = ref.updateAndGet(f)
  def update(f: A => A): Task[Unit] = ref.update(f)
  def modify[B](f: A => (A, B)): Task[B] = ref.modify(f)
  def tryUpdate(f: A => A): Task[Boolean] = ref.tryUpdate(f)
  def tryModify[B](f: A => (A, B)): Task[Option[B]] = ref.tryModify(f)
  def tryModifyState[B](state: State[A, B]): Task[Option[B]] =
    val f = state.runF.value
    tryModify(a => f(a).value)
  def modifyState[B](state: State[A, B]): Task[B] =
    val f = state.runF.value
    modify(a => f(a).value)

  def access: Task[(A, A => Task[Boolean])] = ref.get.map { seen =>
    def unchanged(a: A) = a.asInstanceOf[AnyRef] eq seen.asInstanceOf[AnyRef]
    (
      seen,
      next => ref.modify(present => if unchanged(present) then (next, true) else (present, false))
    )
  }

/** A view of a Weir deferred value with Cats Effect's type. */
private[cats] final class DeferredView[A](deferred: Deferred[A]) extends kernel.Deferred[Task, A]:
  def get: Task[A] = deferred.get
  def tryGet: Task[Option[A]] = deferred.tryGet
  def complete(value: A): Task[Boolean] = deferred.complete(value)
