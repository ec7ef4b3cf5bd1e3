package weir
package task

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger

class FirstSuccessSuite extends WeirSuite:

  private val blocked = Task(Thread.sleep(3_600_000))

  test("the first to succeed wins, whatever fails before it"):
    for ready <- List(Task.unit, Task.cede, Task(Thread.sleep(1))); count <- List(0, 1, 100) do
      val failing = List.fill(count)(Task.cede.andThen(Task.fail(Boom())))
      assertEquals(Task.firstSuccess(failing ++ List(ready.as(1))).runSync(), 1)
      assertEquals(Task.firstSuccess(ready.as(1) :: failing).runSync(), 1)

  test("losers are cancelled, waiting or blocked, and released before the value comes"):
    val begun = CountDownLatch(3)
    val released = AtomicInteger()
    val losers = List(Task.never, blocked, Task.cede.forever).map(wait =>
      Task(begun.countDown())
        .andThen(wait)
        .guarantee(Task.cede.andThen(Task(released.incrementAndGet()).void))
        .as("lost")
    )
    val winner = Task(begun.await()).as("won")
    val task = Task.firstSuccess(losers.take(2) ++ List(winner) ++ losers.drop(2))
    assertEquals(task.map((_, released.get)).runSync(), ("won", 3))

  test("where none succeeds the first error is thrown, later ones suppressed under it"):
    val first = Boom("first")
    val second = Boom("second")
    assertEquals(Task.firstSuccess(List(Task.fail(first))).attempt.runSync(), Left(first))
    val both = Task.firstSuccess(List(Task.fail(first), Task.fail(second))).attempt.runSync()
    assert(
      both == Left(first) && first.getSuppressed.toList == List(second) ||
        both == Left(second) && second.getSuppressed.toList == List(first)
    )

  test("a task that cancels itself is out of the race; if all do, the parent is cancelled"):
    assertEquals(Task.firstSuccess(List(Task.canceled.as(0), Task.cede.as(1))).runSync(), 1)
    val all = Task.firstSuccess(List.fill(3)(Task.cede.andThen(Task.canceled)))
    assertEquals(all.start.flatMap(_.join).runSync(), Outcome.Canceled)

  test("no task is refused with the rule"):
    val error = intercept[IllegalArgumentException](Task.firstSuccess(Nil).runSync())
    assert(error.getMessage.contains("at least one"), error.getMessage)

  test("a cancel cancels all, and waits for their finalizers"):
    val begun = CountDownLatch(3)
    val released = AtomicInteger()
    val one =
      Task(begun.countDown())
        .andThen(Task.never)
        .guarantee(Task.cede.andThen(Task(released.incrementAndGet()).void))
    val fiber = Task.firstSuccess(List.fill(3)(one)).start.runSync()
    await(begun)
    fiber.cancel.runSync()
    assertEquals((released.get, fiber.join.runSync()), (3, Outcome.Canceled))
