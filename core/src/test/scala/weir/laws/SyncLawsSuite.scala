package weir.laws

import weir.Task

/** The laws of Cats Effect's `Sync`, under the names that they have there, for each way in which a
  * task runs plain code.
  *
  * `Task` takes no hint, as all code may block: `delay` is Cats Effect's `delay`, `blocking` and
  * `interruptible` in one. `Task.onPlatformThread` is run on the machine's clock and threads, as it
  * has a thread of its own.
  */
class SyncLawsSuite extends LawTests:

  /** A way to run `thunk`. */
  private abstract class Suspend(val name: String):
    def apply[A](thunk: => A): Task[A]

  private val delay = new Suspend("Task.delay"):
    def apply[A](thunk: => A): Task[A] = Task.delay(thunk)
  private val uninterruptible = new Suspend("Task.uninterruptible"):
    def apply[A](thunk: => A): Task[A] = Task.uninterruptible(thunk)
  private val defer = new Suspend("Task.defer"):
    def apply[A](thunk: => A): Task[A] = Task.defer(Task.pure(thunk))

  for suspend <- List(delay, uninterruptible, defer) do
    law(s"suspend value is pure (${suspend.name})")(w => suspend(w.a))(w => Task.pure(w.a))
    law(s"suspend throw is raiseError (${suspend.name})")(w => suspend(throw w.e))(w =>
      Task.fail(w.e)
    )
    law(s"unsequenced suspend is no-op (${suspend.name})")(w => unsequenced(suspend, w))(w =>
      Task.pure(w.a)
    )
    law(s"repeated suspend is not memoized (${suspend.name})")(w => repeated(suspend, w))(w =>
      Task.pure(w.pf(w.pf(w.a)))
    )

  private def unsequenced(suspend: Suspend, w: LawWorld): Task[Int] = Task.defer {
    var current = w.a
    val unused = suspend { current = w.pf(current) }
    Task.delay { if unused eq null then -1 else current }
  }

  private def repeated(suspend: Suspend, w: LawWorld): Task[Int] = Task.defer {
    var current = w.a
    val change = suspend {
      current = w.pf(current)
      current
    }
    change.andThen(change)
  }

  test("suspend value is pure, suspend throw is raiseError (Task.onPlatformThread)"):
    for n <- 1 to 1_000 do
      assertEquals(Task.onPlatformThread(n).runSync(), n)
      val thrown = Task.onPlatformThread(throw LawError(n)).attempt.runSync()
      assertEquals(thrown, Left(LawError(n)))
