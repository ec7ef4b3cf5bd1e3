package weir.laws

import weir.{Deferred, Fiber, Outcome, Task}

/** The laws of Cats Effect's `GenSpawn` and `Unique`, under the names that they have there. `Task`
  * has no `racePair`: `LawWorld.racePair` is made of fibers and a `Deferred`. `Task` has no
  * `unique` either: the law of `Unique` is about a new `Deferred`, which serves the same purpose.
  *
  * In one point `Task.race` is as Cats Effect's was until 3.4: a side that cancels itself leaves
  * the race to the other one. Since 3.5 of Cats Effect it cancels the other one. So "race derives
  * from racePair" is the law with the former definition; the two identities of "race never
  * non-canceled" are for sides that do not cancel themselves; and the two of "race canceled", which
  * 3.5 has withdrawn, hold.
  */
class SpawnLawsSuite extends LawTests:

  law("race derives from racePair (left)")(w => Task.race(w.child, Task.never))(w =>
    raced(w, w.child, Task.never)
  )
  law("race derives from racePair (right)")(w => Task.race(Task.never, w.child))(w =>
    raced(w, Task.never, w.child)
  )

  private def raced[A, B](w: LawWorld, left: Task[A], right: Task[B]): Task[Either[A, B]] =
    Task.uncancelable { poll =>
      def result[C, D](first: Outcome[C], other: Fiber[D]): Task[Either[C, D]] = first match
        case Outcome.Succeeded(value) => other.cancel.as(Left(value))
        case Outcome.Failed(error) => other.cancel.andThen(Task.fail(error))
        case Outcome.Canceled =>
          poll(other.join).onCancel(other.cancel).flatMap {
            case Outcome.Succeeded(value) => Task.pure(Right(value))
            case Outcome.Failed(error) => Task.fail(error)
            case Outcome.Canceled => poll(Task.canceled).andThen(Task.never)
          }
      poll(w.racePair(left, right)).flatMap {
        case Left((end, other)) => result(end, other)
        case Right((other, end)) => result(end, other).map(_.swap)
      }
    }

  law("race never non-canceled identity (left)", unless = Some(_.child))(w =>
    Task.race(Task.never, w.bounded(w.child))
  )(w => w.bounded(w.child.flatMap(n => Task.pure(Right(n)))))
  law("race never non-canceled identity (right)", unless = Some(_.child))(w =>
    Task.race(w.bounded(w.child), Task.never)
  )(w => w.bounded(w.child.flatMap(n => Task.pure(Left(n)))))
  law("race canceled identity (left)", unless = Some(_.child))(w =>
    Task.race(Task.canceled, w.bounded(w.child))
  )(w => w.bounded(w.child.map(Right(_))))
  law("race canceled identity (right)", unless = Some(_.child))(w =>
    Task.race(w.bounded(w.child), Task.canceled)
  )(w => w.bounded(w.child.map(Left(_))))

  law("fiber pure is completed pure")(w => Task.pure(w.a).start.flatMap(_.join))(w =>
    Task.pure(Outcome.Succeeded(w.a))
  )
  law("fiber error is errored")(w => Task.fail(w.e).start.flatMap(_.join))(w =>
    Task.pure(Outcome.Failed(w.e))
  )
  law("fiber cancelation is canceled")(_ =>
    Task.never.start.flatMap(fiber => fiber.cancel.andThen(fiber.join))
  )(_ => Task.pure(Outcome.Canceled))
  law("fiber canceled is canceled")(_ => Task.canceled.start.flatMap(_.join))(_ =>
    Task.pure(Outcome.Canceled)
  )
  law("fiber never is never")(_ => Task.never.start.flatMap(_.join))(_ => Task.never)
  law("fiber start of never is unit")(_ => Task.never.start.void)(_ => Task.unit)

  // A cancel of the main fiber reaches the child on one side alone.
  law("fiber join is guaranteeCase", canceled = false)(w =>
    w.bounded(w.child)
      .start
      .flatMap(_.join)
      .flatMap(end => embedded(end).guarantee(told(w)(end)))
  )(w => w.bounded(w.child).guaranteeCase(told(w)))

  private def embedded(outcome: Outcome[Int]): Task[Int] = outcome match
    case Outcome.Succeeded(n) => Task.pure(n)
    case Outcome.Failed(error) => Task.fail(error)
    case Outcome.Canceled => Task.canceled.andThen(Task.never)

  private def told(w: LawWorld)(outcome: Outcome[Int]): Task[Unit] =
    w.mark(s"$outcome").andThen(w.fin1)

  law("never dominates over flatMap")(w => Task.never.andThen(w.fa))(_ => Task.never)
  law("uncancelable race not inherited", canceled = false)(_ =>
    Task.uncancelable(_ => Task.race(Task.never, Task.canceled)).void
  )(_ => Task.never)
  law("uncancelable canceled is canceled")(_ =>
    Task.never.start.flatMap(fiber => Task.uncancelable(_ => fiber.cancel).andThen(fiber.join))
  )(_ => Task.pure(Outcome.Canceled))
  law("uncancelable start is cancelable")(_ =>
    Task.uncancelable(_ => Task.never.start.flatMap(fiber => fiber.cancel.andThen(fiber.join)))
  )(_ => Task.pure(Outcome.Canceled))
  law("forceR never is never")(w => w.forceR(Task.never)(w.fa))(_ => Task.never)

  law("uniqueness")(w =>
    w.product(Deferred[Unit], Deferred[Unit]).map((one, other) => one eq other)
  )(_ => Task.pure(false))
