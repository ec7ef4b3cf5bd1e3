package weir.laws

import weir.Task

/** The laws of Cats' classes that `MonadCancel` extends, from `Invariant` to `MonadError`, under
  * the names that they have there.
  *
  * `Task` has no `ap`, `product`, `map2`, `tailRecM`, `recover`, `recoverWith`, `onError`,
  * `adaptError`, `rethrow`, `redeem`: they are written out, in the way in which Cats defines them.
  * Not here:
  *   - "attempt consistent with attemptT" and "map2/map2Eval consistency" are about types of Cats,
  *     `EitherT` and `Eval`.
  *   - "ensure consistency", "ensureOr consistency", "redeemWith is derived from attempt and
  *     flatMap", "mapOrKeepToMapEquivalence": written out, both of their sides would be the same
  *     expression.
  *   - Laws of `Invariant` and `InvariantMonoidal` say of `imap` what those of `Functor` and
  *     `Applicative` say of `map`.
  */
class MonadErrorLawsSuite extends LawTests:

  // ---- Functor ----

  law("covariant identity")(_.fa.map(n => n))(_.fa)
  law("covariant composition")(w => w.fa.map(w.pf).map(w.pg))(w => w.fa.map(w.pf.andThen(w.pg)))

  // ---- Semigroupal, Apply ----

  law("semigroupal associativity")(w => w.product(w.fa, w.product(w.fb, w.fc)))(w =>
    w.product(w.product(w.fa, w.fb), w.fc).map { case ((a, b), c) => (a, (b, c)) }
  )
  law("monoidal left identity")(w => w.product(Task.unit, w.fa).map(_._2))(_.fa)
  law("monoidal right identity")(w => w.product(w.fa, Task.unit).map(_._1))(_.fa)
  law("apply composition")(w => w.ap(w.fg)(w.ap(w.ff)(w.fa)))(w =>
    w.ap(w.ap(w.fg.map(g => (f: Int => Int) => f.andThen(g)))(w.ff))(w.fa)
  )
  law("map2/product-map consistency")(w => w.product(w.fa, w.fb).map(_ - _))(w =>
    w.fa.flatMap(a => w.fb.map(b => a - b))
  )
  law("productR consistent map2")(w => w.fa.andThen(w.fb))(w => w.product(w.fa, w.fb).map(_._2))
  law("productL consistent map2")(w => w.fa.flatTap(_ => w.fb))(w =>
    w.product(w.fa, w.fb).map(_._1)
  )

  // ---- Applicative ----

  law("applicative identity")(w => w.ap(Task.pure((n: Int) => n))(w.fa))(_.fa)
  law("applicative homomorphism")(w => w.ap(Task.pure(w.pf))(Task.pure(w.a)))(w =>
    Task.pure(w.pf(w.a))
  )
  law("applicative interchange")(w => w.ap(w.ff)(Task.pure(w.a)))(w =>
    w.ap(Task.pure((f: Int => Int) => f(w.a)))(w.ff)
  )
  law("applicative map")(w => w.fa.map(w.pf))(w => w.ap(Task.pure(w.pf))(w.fa))
  law("applicative composition") { w =>
    val compose = (g: Int => Int) => (f: Int => Int) => f.andThen(g)
    w.ap(w.ap(w.ap(Task.pure(compose))(w.fg))(w.ff))(w.fa)
  }(w => w.ap(w.fg)(w.ap(w.ff)(w.fa)))
  law("ap consistent with product + map")(w => w.ap(w.ff)(w.fa))(w =>
    w.product(w.ff, w.fa).map((f, a) => f(a))
  )
  law("applicative unit")(w => Task.unit.as(w.a))(w => Task.pure(w.a))
  law("replicateA_ consistent with replicateA.void")(w => Task.foreach(1 to 3)(_ => w.fa))(w =>
    Task.sequence(List.fill(3)(w.fa)).void
  )

  // ---- FlatMap, Monad ----

  law("flatMap associativity")(w => w.fa.flatMap(w.f).flatMap(w.g))(w =>
    w.fa.flatMap(a => w.f(a).flatMap(w.g))
  )
  law("flatMap consistent apply")(w => w.ap(w.ff)(w.fa))(w => w.ff.flatMap(f => w.fa.map(f)))
  law("Kleisli associativity")(w => w.f(w.a).flatMap(w.g).flatMap(w.h))(w =>
    w.f(w.a).flatMap(b => w.g(b).flatMap(w.h))
  )
  law("mproduct consistent flatMap")(w => w.fa.flatMap(a => w.f(a).map(b => (a, b))))(w =>
    w.fa.flatMap(a => w.product(Task.pure(a), w.f(a)))
  )
  law("tailRecM consistent flatMap")(w => bounced(w, 1))(w => bounced(w, 0).flatMap(w.f))
  law("flatMap from tailRecM consistency")(w => w.fa.flatMap(w.f))(w =>
    tailRecM(Option.empty[Int]) {
      case None => w.fa.map(a => Left(Some(a)))
      case Some(a) => w.f(a).map(b => Right(b))
    }
  )
  law("monad left identity")(w => Task.pure(w.a).flatMap(w.f))(w => w.f(w.a))
  law("monad right identity")(_.fa.flatMap(Task.pure))(_.fa)
  law("Kleisli left identity")(w => Task.pure(w.a).flatMap(Task.pure).flatMap(w.f))(w => w.f(w.a))
  law("Kleisli right identity")(w => w.f(w.a).flatMap(Task.pure))(w => w.f(w.a))
  law("map flatMap coherence")(w => w.fa.flatMap(a => Task.pure(w.pf(a))))(w => w.fa.map(w.pf))
  law("flatMapOrKeep flatMap coherence")(w =>
    w.fa.flatMap(a => if a % 2 == 0 then w.f(a) else Task.pure(a))
  ) { w =>
    val even: PartialFunction[Int, Task[Int]] = { case a if a % 2 == 0 => w.f(a) }
    w.fa.flatMap(a => even.applyOrElse(a, Task.pure))
  }

  test("tailRecM stack safety"):
    val n = 50_000
    val down = tailRecM(0)(i => Task.pure(if i < n then Left(i + 1) else Right(i)))
    assertEquals(down.runSync(), n)

  private def bounced(w: LawWorld, times: Int): Task[Int] =
    tailRecM((w.a, times))((a, left) =>
      if left > 0 then w.f(a).map(b => Left((b, left - 1))) else w.f(a).map(b => Right(b))
    )

  private def tailRecM[A, B](a: A)(f: A => Task[Either[A, B]]): Task[B] = f(a).flatMap {
    case Left(next) => tailRecM(next)(f)
    case Right(b) => Task.pure(b)
  }

  // ---- ApplicativeError, MonadError ----

  law("applicativeError handleWith")(w => Task.fail(w.e).handleErrorWith(w.handler))(w =>
    w.handler(w.e)
  )
  law("applicativeError handle")(w => Task.fail(w.e).handleError(w.pureHandler))(w =>
    Task.pure(w.pureHandler(w.e))
  )
  law("applicativeError handleErrorWith pure")(w => Task.pure(w.a).handleErrorWith(w.handler))(w =>
    Task.pure(w.a)
  )
  law("applicativeError handleError pure")(w => Task.pure(w.a).handleError(w.pureHandler))(w =>
    Task.pure(w.a)
  )
  law("applicativeError raiseError attempt")(w => Task.fail(w.e).attempt)(w => Task.pure(Left(w.e)))
  law("applicativeError pure attempt")(w => Task.pure(w.a).attempt)(w => Task.pure(Right(w.a)))
  law("applicativeError handleErrorWith consistent with recoverWith")(w =>
    w.fa.handleErrorWith(w.handler)
  )(w => recoverWith(w.fa) { case error => w.handler(error) })
  law("applicativeError handleError consistent with recover")(w => w.fa.handleError(w.pureHandler))(
    w => recoverWith(w.fa) { case error => Task.pure(w.pureHandler(error)) }
  )
  law("applicativeError recover consistent with recoverWith")(w =>
    w.fa.attempt.flatMap {
      case Left(LawError(n)) if n % 2 == 0 => Task.pure(n)
      case other => other.fold(Task.fail, Task.pure)
    }
  )(w => recoverWith(w.fa) { case LawError(n) if n % 2 == 0 => Task.pure(n) })
  law("applicativeError attempt fromEither consistent with pure")(w =>
    (if w.a % 2 == 0 then Task.fail(w.e) else Task.pure(w.a)).attempt
  )(w => Task.pure(if w.a % 2 == 0 then Left(w.e) else Right(w.a)))
  law("applicativeError voidError consistent with void+handleError")(_.fu.attempt.void)(
    _.fu.handleError(_ => ())
  )
  law("applicativeError onError pure")(w => onError(Task.pure(w.a))(w.handler))(w => Task.pure(w.a))
  law("applicativeError onError raise")(w => onError(Task.fail(w.e))(_ => w.fb))(w =>
    w.fb.andThen(Task.fail(w.e))
  )
  law("applicativeError adaptError pure")(w => adaptError(Task.pure(w.a))(_ => w.e))(w =>
    Task.pure(w.a)
  )
  law("applicativeError adaptError raise")(w =>
    adaptError(Task.fail(w.e))(error => LawError(w.pureHandler(error)))
  )(w => Task.fail(LawError(w.pureHandler(w.e))))
  law("applicativeError redeem is derived from attempt and map")(w =>
    w.fa.map(w.pf).handleError(w.pureHandler)
  )(w => w.fa.attempt.map(_.fold(w.pureHandler, w.pf)))
  law("applicativeError handleError . raiseError left-distributes over ap")(w =>
    w.ap(Task.fail(w.e): Task[Unit => Int])(Task.unit).handleErrorWith(w.handler)
  )(w => w.handler(w.e))
  law("applicativeError handleError . raiseError right-distributes over ap")(w =>
    w.ap(Task.pure((n: Int) => n))(Task.fail(w.e)).handleErrorWith(w.handler)
  )(w => w.handler(w.e))
  law("monadError left zero")(w => Task.fail(w.e).flatMap(w.f))(w => Task.fail(w.e))
  law("monadError rethrow attempt")(_.fa.attempt.flatMap(_.fold(Task.fail, Task.pure)))(_.fa)

  private def recoverWith(task: Task[Int])(pf: PartialFunction[Throwable, Task[Int]]): Task[Int] =
    task.handleErrorWith(error => pf.applyOrElse(error, Task.fail))

  private def onError(task: Task[Int])(f: Throwable => Task[Any]): Task[Int] =
    task.handleErrorWith(error => f(error).andThen(Task.fail(error)))

  private def adaptError(task: Task[Int])(f: Throwable => Throwable): Task[Int] =
    task.handleErrorWith(error => Task.fail(f(error)))
