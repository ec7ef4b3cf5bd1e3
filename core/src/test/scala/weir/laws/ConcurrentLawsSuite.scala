package weir.laws

import weir.{Deferred, Outcome, Ref, Task}

/** Laws of the operations that `GenConcurrent` adds to `GenSpawn`: `ref`, `deferred`, `both`, and
  * `traverse` in parallel. Cats Effect has no laws of its own for that class, so these are ours,
  * after its documentation of these operations. `memoize` has no equal here: a `Cache` is a type
  * with keys and times.
  */
class ConcurrentLawsSuite extends LawTests:

  law("a ref that is got is what it was made of, or set to")(w =>
    Ref.of(w.a).flatMap(ref => w.product(ref.get, ref.set(w.b).andThen(ref.get)))
  )(w => Task.pure((w.a, w.b)))

  law("ref set twice is the second set")(w =>
    Ref.of(0).flatMap(ref => ref.set(w.a).andThen(ref.set(w.b)).andThen(ref.get))
  )(w => Ref.of(0).flatMap(ref => ref.set(w.b).andThen(ref.get)))

  law("ref update is get and set")(w =>
    Ref.of(w.a).flatMap(ref => ref.update(w.pf).andThen(ref.get))
  )(w => Ref.of(w.a).flatMap(ref => ref.get.flatMap(n => ref.set(w.pf(n))).andThen(ref.get)))

  law("ref modify is update with a result")(w =>
    Ref.of(w.a).flatMap(ref => w.product(ref.modify(n => (w.pf(n), w.pg(n))), ref.get))
  )(w => Task.pure((w.pg(w.a), w.pf(w.a))))

  law("ref getAndSet is get, then set")(w =>
    Ref.of(w.a).flatMap(ref => w.product(ref.getAndSet(w.b), ref.get))
  )(w => Task.pure((w.a, w.b)))

  law("ref updateAndGet is update, then get")(w =>
    Ref.of(w.a).flatMap(_.updateAndGet(w.pf)).flatMap(w.f)
  )(w => Ref.of(w.a).flatMap(ref => ref.update(w.pf).andThen(ref.get)).flatMap(w.f))

  law("a ref keeps what was set before a cancel or an error", canceled = false)(w =>
    Ref
      .of(0)
      .flatMap(ref =>
        ref.set(w.a).andThen(w.child).start.flatMap(fiber => fiber.join.andThen(ref.get))
      )
  )(w => w.child.start.flatMap(_.join).as(w.a))

  law("deferred get after complete is its value")(w =>
    Deferred[Int].flatMap(d => d.complete(w.a).andThen(d.get).flatMap(w.f))
  )(w => w.f(w.a))

  law("the first complete of a deferred is the one that counts")(w =>
    Deferred[Int].flatMap(d =>
      w.product(w.product(d.complete(w.a), d.complete(w.b)), w.product(d.get, d.tryGet))
    )
  )(w => Task.pure(((true, false), (w.a, Some(w.a)))))

  law("deferred get before complete waits for it", canceled = false)(w =>
    Deferred[Int].flatMap(d =>
      d.get.start.flatMap(fiber =>
        w.bounded(w.child).flatMap(d.complete).start.andThen(fiber.joinOrFail)
      )
    )
  )(w =>
    w.bounded(w.child).start.flatMap(_.join).flatMap {
      case Outcome.Succeeded(n) => Task.pure(n)
      case _ => Task.never
    }
  )

  law("a deferred that is never completed is never")(w =>
    Deferred[Int].flatMap(_.get).andThen(w.fa)
  )(_ => Task.never)

  law("both of a pure is map (left)", unless = Some(_.child))(w =>
    Task.both(w.bounded(w.child), Task.pure(w.a))
  )(w => w.bounded(w.child.map(n => (n, w.a))))
  law("both of a pure is map (right)", unless = Some(_.child))(w =>
    Task.both(Task.pure(w.a), w.bounded(w.child))
  )(w => w.bounded(w.child.map(n => (w.a, n))))
  law("both of a canceled is canceled")(_ => Task.both(Task.canceled, Task.never))(_ =>
    Task.canceled
  )

  law("parTraverse of one is traverse of one", unless = Some(_.child))(w =>
    Task.parTraverse(List(w.a))(_ => w.bounded(w.child))
  )(w => w.bounded(Task.traverse(List(w.a))(_ => w.child)))
  law("parTraverse of pures is traverse")(w =>
    Task.parTraverse(w.a to w.a + 9)(n => Task.cede.as(w.pf(n)))
  )(w => Task.traverse(w.a to w.a + 9)(n => Task.pure(w.pf(n))))
  law("parTraverse of one at a time is traverse", canceled = false, unless = Some(twice))(w =>
    Task.parTraverseN(1)(List(1, 2))(n => w.bounded(w.child.map(_ + n)))
  )(w => w.bounded(Task.traverse(List(1, 2))(n => w.child.map(_ + n))))

  private def twice(w: LawWorld): Task[Any] = w.child.andThen(w.child)
