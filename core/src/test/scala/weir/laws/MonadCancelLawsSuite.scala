package weir.laws

import weir.Task

/** The laws of Cats Effect's `MonadCancel`, under the names that they have there.
  *
  * `forceR` is `LawWorld.forceR`, since `Task` has none. Cats Effect's laws for a root that is
  * uncancelable ("uncancelable identity", "canceled is unit") are not those of `Task`, as they are
  * not those of its `IO`.
  *
  * Both sides end with one more step (`LawRuntime.bounded`), as in Cats Effect's own runs.
  */
class MonadCancelLawsSuite extends LawTests:

  law("guarantee is guaranteeCase")(w => w.fa.guarantee(w.fin1))(w =>
    w.fa.guaranteeCase(_ => w.fin1)
  )

  law("uncancelable poll is identity")(w => Task.uncancelable(poll => poll(w.fa)))(_.fa)

  law("uncancelable ignored poll eliminates nesting")(w =>
    Task.uncancelable(_ => Task.uncancelable(_ => w.fa))
  )(w => Task.uncancelable(_ => w.fa))

  law("uncancelable poll inverse nest is uncancelable")(w =>
    Task.uncancelable(outer => Task.uncancelable(inner => outer(inner(w.fa))))
  )(w => Task.uncancelable(_ => w.fa))

  law("uncancelable eliminates onCancel")(w => Task.uncancelable(_ => w.fa.onCancel(w.fin1)))(w =>
    Task.uncancelable(_ => w.fa)
  )

  law("onCancel associates over uncancelable boundary")(w =>
    Task.uncancelable(_ => w.fa.onCancel(w.fin1))
  )(w => Task.uncancelable(_ => w.fa).onCancel(w.fin1))

  law("onCancel implies uncancelable")(w =>
    w.fa.onCancel(Task.uncancelable(_ => w.fin1)).onCancel(w.fin2)
  )(w => w.fa.onCancel(w.fin1).onCancel(w.fin2))

  law("forceR discards pure")(w => w.forceR(Task.pure(w.a))(w.fa))(_.fa)

  law("forceR discards error")(w => w.forceR(Task.fail(w.e))(w.fa))(_.fa)

  law("forceR canceled short-circuits")(w => w.forceR(Task.canceled)(w.fa))(w =>
    Task.canceled.andThen(w.fa)
  )

  law("forceR associativity")(w => w.forceR(w.fa)(w.forceR(w.fb)(w.fc)))(w =>
    w.forceR(w.forceR(w.fa)(w.fb))(w.fc)
  )

  law("uncancelable finalizers")(w => Task.canceled.onCancel(Task.uncancelable(_ => w.fin1)))(w =>
    Task.canceled.onCancel(w.fin1)
  )

  law("canceled sequences onCancel in order")(w => Task.canceled.onCancel(w.fin1).onCancel(w.fin2))(
    w => w.forceR(Task.uncancelable(_ => w.forceR(w.fin1)(w.fin2)))(Task.canceled)
  )

  law("uncancelable canceled associates right over flatMap attempt")(w =>
    Task.uncancelable(_ => Task.canceled.andThen(w.fa)).attempt.andThen(Task.unit)
  )(w => w.forceR(Task.uncancelable(_ => w.fa))(Task.canceled))

  law("canceled associates left over flatMap")(w => Task.canceled.andThen(w.fa.void))(_ =>
    Task.canceled
  )
