package weir.orders

import scala.concurrent.duration.*
import weir.orders.OrdersSuite.{Kept, together}
import weir.std.Supervisor
import weir.{Outcome, Ref, Resource, Scope, Task}

/** Fibers, races, timeouts, scopes and resources in every order, beside cancels. */
class TaskOrdersSuite extends OrdersSuite:
  private val inFibers = Seq.empty[String]
  private val inGroups = Seq.empty[String]
  private val boom = IllegalStateException("expected")

  orders("a finalizer runs once, and before a join returns")(inFibers*) {
    for
      ended <- Ref.of(0)
      fiber <- Task.cede.guarantee(ended.update(_ + 1)).start
      _ <- together(
        fiber.cancel,
        fiber.join.andThen(ended.get).map(n => assert(n <= 1, n))
      )
      outcome <- fiber.join
      n <- ended.get
    yield assert(n == 1 || outcome == Outcome.Canceled, (n, outcome))
  }

  orders("a cancel waits for the end of a masked region")(inFibers*) {
    for
      steps <- Ref.of(0)
      step = steps.update(_ + 1)
      fiber <- Task.uncancelable(_ => step.andThen(Task.cede).andThen(step)).start
      _ <- fiber.cancel
      n <- steps.get
    yield assert(n == 0 || n == 2, n)
  }

  orders("two cancels of one fiber both wait for its finalizer")(inFibers*) {
    for
      ended <- Ref.of(false)
      fiber <- Task.uncancelable(poll => poll(Task.never).onCancel(ended.set(true))).start
      cancel = fiber.cancel.andThen(fiber.join).andThen(fiber.poll)
      _ <- together(
        cancel.map(end => assertEquals(end, Some(Outcome.Canceled))),
        cancel.map(end => assertEquals(end, Some(Outcome.Canceled)))
      )
    yield ()
  }

  orders("both returns both values, or fails once both have ended")(inGroups*) {
    for
      running <- Ref.of(0)
      part = (end: Task[Int]) =>
        Task.bracket(running.update(_ + 1))(_ => end)(_ => running.update(_ - 1))
      ok <- Task.both(part(Task.pure(1)), part(Task.cede.as(2)))
      failed <- Task.both(part(Task.fail(boom)), part(Task.never)).attempt
      n <- running.get
    yield
      assertEquals(ok, (1, 2))
      assertEquals(failed, Left(boom))
      assertEquals(n, 0)
  }

  orders("a race has one winner, and the loser has ended")(inGroups*) {
    for
      running <- Ref.of(0)
      part = (n: Int) =>
        Task.bracket(running.update(_ + 1))(_ => Task.cede.as(n))(_ => running.update(_ - 1))
      winner <- Task.race(part(1), part(2))
      n <- running.get
    yield
      assert(winner == Left(1) || winner == Right(2))
      assertEquals(n, 0)
  }

  orders("a race that is cancelled leaves nothing running")(inGroups*) {
    for
      running <- Ref.of(0)
      part = (end: Task[Any]) =>
        Task.bracket(running.update(_ + 1))(_ => end)(_ => running.update(_ - 1))
      race <- Task.race(part(Task.cede), part(Task.never)).start
      _ <- race.cancel
      n <- running.get
    yield assertEquals(n, 0)
  }

  orders("parTraverse runs each once, also where one fails or the whole is cancelled")(
    inGroups*
  ) {
    for
      begun <- Ref.of(0)
      ended <- Ref.of(0)
      one = (n: Int) =>
        Task.bracket(begun.update(_ + 1))(_ => Task.cede.as(n))(_ => ended.update(_ + 1))
      ok <- Task.parTraverse(List(1, 2, 3))(one)
      failing = Task.parTraverse(List(1, 2, 3))(n => if n == 2 then Task.fail(boom) else one(n))
      whole <- failing.attempt.start
      _ <- together(whole.cancel, whole.join)
      a <- begun.get
      b <- ended.get
    yield
      assertEquals(ok, List(1, 2, 3))
      assertEquals(a, b)
  }

  orders("a timeout at the moment of the result gives one of the two")(inGroups*) {
    for
      ended <- Ref.of(0)
      task = Task.bracket(Task.unit)(_ => Task.sleep(1.second).as(1))(_ => ended.update(_ + 1))
      result <- task.timeoutTo(1.second, Task.pure(2))
      n <- ended.get
    yield
      assert(result == 1 || result == 2)
      assertEquals(n, 1)
  }

  orders("a resource is released once where its use is cancelled")("weir.Resource") {
    for
      open <- Ref.of(0)
      resource = Resource.make(open.update(_ + 1))(_ => open.update(_ - 1))
      fiber <- resource.both(resource).use(_ => Task.cede).start
      _ <- fiber.cancel
      n <- open.get
    yield assertEquals(n, 0)
  }

  orders("a scope ends once its fibers have, also where one fails")("weir.Scope") {
    for
      running <- Ref.of(0)
      part = (end: Task[Any]) =>
        Task.bracket(running.update(_ + 1))(_ => end)(_ => running.update(_ - 1))
      _ <- Scope.run(scope => scope.fork(part(Task.cede)).andThen(scope.fork(part(Task.unit))))
      afterAll <- running.get
      failed <- Scope.run(scope => scope.fork(part(Task.fail(boom))).andThen(Task.never)).attempt
      n <- running.get
    yield
      assertEquals(afterAll, 0)
      assertEquals(failed, Left(boom))
      assertEquals(n, 0)
  }

  orders("what is supervised as the supervisor closes is cancelled, or refused")(
    "weir.std.Supervisor"
  ) {
    for
      running <- Ref.of(0)
      part = Task.bracket(running.update(_ + 1))(_ => Task.never)(_ => running.update(_ - 1))
      allocated <- Supervisor().allocated
      (supervisor, close) = allocated
      _ <- together(supervisor.supervise(part).attempt, close)
      n <- running.get
    yield assertEquals(n, 0)
  }

  orders("a fiber in the background has ended with its resource")("weir.Resource") {
    for
      running <- Ref.of(0)
      part = Task.bracket(running.update(_ + 1))(_ => Task.never)(_ => running.update(_ - 1))
      user <- Kept.start(part.background.use(_ => Task.cede))
      _ <- user.cancel
      _ <- user.get
      n <- running.get
    yield assertEquals(n, 0)
  }
