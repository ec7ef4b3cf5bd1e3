package weir.laws

import weir.Task

/** The laws of Cats Effect's `Async`, under the names that they have there.
  *
  * In `Task.async` the registration is plain code; in Cats Effect it is an effect. So "async right
  * is uncancelable sequenced pure" and its like have code in the place of that effect. Those of
  * `asyncCheckAttempt`, `evalOn`, `executionContext` and `syncStep` are not here: the suites of
  * `weir-cats` have all laws, through the type class.
  */
class AsyncLawsSuite extends LawTests:

  law("async right is uncancelable sequenced pure")(w =>
    Task
      .async[Int] { callback =>
        callback(Right(w.a))
        w.note("registered")
      }
      .andThen(w.fa)
  )(w => Task.uncancelable(_ => w.mark("registered")).as(w.a).andThen(w.fa))

  law("async left is uncancelable sequenced raiseError")(w =>
    Task
      .async[Int] { callback =>
        callback(Left(w.e))
        w.note("registered")
      }
      .handleErrorWith(w.handler)
  )(w =>
    Task
      .uncancelable(_ => w.mark("registered"))
      .andThen(Task.fail(w.e))
      .handleErrorWith(w.handler)
  )

  law("async repeated callback is ignored")(w =>
    Task.async[Int] { callback =>
      callback(Right(w.a))
      callback(Right(w.a + 1))
      callback(Left(w.e))
    }
  )(w => Task.pure(w.a))

  law("async cancel token is unsequenced on complete")(w =>
    Task
      .asyncCancelable[Int] { callback =>
        callback(Right(w.a))
        w.fu
      }
      .flatMap(w.f)
  )(w => Task.pure(w.a).flatMap(w.f))

  law("async cancel token is unsequenced on error")(w =>
    Task
      .asyncCancelable[Int] { callback =>
        callback(Left(w.e))
        w.fu
      }
      .handleErrorWith(w.handler)
  )(w => Task.fail(w.e).handleErrorWith(w.handler))

  law("never is derived from async")(_ => Task.never)(_ => Task.asyncCancelable(_ => Task.unit))

  law("the cancel token of async is sequenced on cancel")(w =>
    Task.asyncCancelable[Int](_ => w.fin1)
  )(w => Task.never.onCancel(w.fin1))
