package weir
package sync

import weir.fiber.{FiberCore, TaskFiber}

/** A fiber that comes for the value as that is being set. */
class OneShotSuite extends WeirSuite:

  private val own = TaskFiber(Runtime.default, Task.unit)

  private def startAtLock(task: Task[Any]): Fiber[Any] =
    val fiber = task.start.runSync()
    fiber match
      case core: FiberCore =>
        eventually("it waits for the lock"):
          val thread = core.runningOn
          thread != null && thread.getStackTrace.exists(_.getMethodName == "lockHeld")
    fiber

  test("one that has found no value, and gets the lock after the setter, does not wait"):
    for _ <- 1 to 50 do // the two get the lock in either order
      val value = Deferred.unsafe[Int]
      value.lock()
      val getting = startAtLock(value.get)
      val setting = startAtLock(value.complete(7))
      value.unlockAndWake(own)
      assertEquals(getting.joinOrFail.runSync(), 7)
      assertEquals(setting.joinOrFail.runSync(), true)
