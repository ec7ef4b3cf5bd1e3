package weir
package sync

import weir.fiber.{FiberCore, TaskFiber}

/** A fiber that comes for the value as that is being set. */
class OneShotSuite extends WeirSuite:

  private val own = TaskFiber(WeirRuntime.default, Task.unit)

  private def startAtLock(task: Task[Any]): Fiber[Any] =
    val fiber = task.start.runSync()
    fiber match
      case core: FiberCore =>
        eventually("it waits for the lock"):
          val thread = core.runningOn
          thread != null && thread.getStackTrace.exists(_.getMethodName == "lockHeld")
    fiber

  test("one that has found no value, and gets the lock after the setter, does not wait"):
    val value = Deferred.unsafe[Int]
    value.lock()
    val getting = startAtLock(value.get)
    value.state = 7 // as the setter does under the lock
    value.unlockAndWake(own)
    assertEquals(getting.joinOrFail.runSync(), 7)
