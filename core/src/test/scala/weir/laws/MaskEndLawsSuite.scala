package weir.laws

import scala.concurrent.duration.*
import weir.{Mutex, Outcome, Resource, Semaphore, Task}

/** A cancel that is pending at the end of a mask has no effect there: by Cats Effect's definition
  * the value or the error of the masked region goes on to the code that has waited for it, and the
  * next code that can be cancelled sees the cancel.
  *
  * Cats Effect's own laws compare only after a further step, so they cannot tell. Each of these
  * laws looks at the outcome of a fiber of its own, with a cancel pending on the left, and with
  * none on the right.
  */
class MaskEndLawsSuite extends LawTests:

  /** `context` is the code around the masked region, without any step that can be cancelled. */
  private def kept(name: String)(context: LawWorld => Task[Int] => Task[Any]): Unit =
    def region(w: LawWorld, pending: Task[Unit]): Task[Int] =
      Task.uncancelable(_ => pending.andThen(w.child).flatTap(_ => w.mark("masked")))
    def outcome(task: Task[Any]): Task[Any] = task.start.flatMap(_.join)
    law(s"the value or error of a mask passes $name", canceled = false)(w =>
      outcome(context(w)(region(w, Task.canceled)))
    )(w => outcome(context(w)(region(w, Task.unit))))

  kept("to the end of the fiber")(_ => task => task)
  kept("the end of another mask")(_ => task => Task.uncancelable(_ => task))
  kept("map")(w => task => task.map(w.pf))
  kept("attempt")(_ => task => task.attempt)
  kept("onCancel, which does not run")(w => task => task.onCancel(w.fin1))
  kept("a handler that is not called") { _ => task =>
    task.attempt.handleErrorWith(_ => Task.never)
  }
  kept("the end of a poll")(_ => task => Task.uncancelable(poll => poll(task)))
  kept("the end of a poll, to what is behind it in the mask")(w =>
    task =>
      Task.uncancelable(poll =>
        poll(task).flatMap(n => w.mark("behind").as(n)).guarantee(w.mark("finalizer"))
      )
  )
  kept("the end of a poll with finalizers, to what is behind it in the mask")(w =>
    task =>
      Task.uncancelable(poll =>
        poll(task.onCancel(w.fin1).guarantee(w.mark("in")))
          .flatMap(n => w.mark("behind").as(n))
          .handleErrorWith(error => w.mark("error").andThen(Task.fail(error)))
      )
  )
  kept("the end of a poll in a mask in a poll")(w =>
    task =>
      Task.uncancelable(outer =>
        outer(Task.uncancelable(inner => inner(task).flatMap(n => w.mark("inner").as(n))))
          .flatMap(n => w.mark("outer").as(n))
      )
  )
  kept("guarantee")(w => task => task.guarantee(w.mark("finalizer")))
  kept("guaranteeCase, which is told of it")(w =>
    task => task.guaranteeCase(outcome => w.mark(s"$outcome"))
  )
  kept("the use of a bracket")(w => task => Task.unit.bracket(_ => task)(_ => w.mark("release")))
  kept("the use of a resource")(w =>
    task => Resource.make(w.mark("acquire"))(_ => w.mark("release")).use(_ => task)
  )
  kept("withPermit")(_ => task => Task.defer(Semaphore.unsafe(1).withPermit(task)))
  kept("withLock")(_ => task => Task.defer(Mutex.unsafe().withLock(task)))
  kept("the end of a race")(_ => task => Task.race(task, Task.never))
  kept("the end of both")(_ => task => Task.both(task, Task.unit))
  kept("the end of parTraverse")(_ => task => Task.parTraverse(List(1))(_ => task))
  kept("the end of a timeout that is not over")(_ => task => task.timeout(30.days))
  kept("the end of firstSuccess")(_ => task => Task.firstSuccess(List(task, Task.never)))
  kept("the end of cancelable")(w => task => task.cancelable(w.fin1))

  law("a cancel that is pending at the end of a mask ends the next step", canceled = false)(w =>
    Task.uncancelable(_ => Task.canceled).andThen(w.mark("next")).start.flatMap(_.join)
  )(_ => Task.pure(Outcome.Canceled))

  law("a cancel that comes from outside, in a mask, ends the next step and not the mask") { w =>
    Task.uncancelable(_ => w.fa).onCancel(w.mark("canceled")).attempt.flatMap(_ => w.mark("next"))
  }(w => Task.uncancelable(_ => w.fa.attempt).flatMap(_ => w.mark("next")))
