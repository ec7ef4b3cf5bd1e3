package weir

/** What a fiber's handle says. */
class FiberSuite extends WeirSuite:

  test("poll is how the fiber ended, and does not wait for that"):
    val go = Deferred.unsafe[Int]
    val fiber = go.get.start.runSync()
    assertEquals(fiber.poll.runSync(), None)
    go.complete(7).runSync(): Unit
    fiber.join.runSync(): Unit
    assertEquals(fiber.poll.runSync(), Some(Outcome.Succeeded(7)))

  test("poll of a fiber that failed or was cancelled"):
    val boom = Boom()
    val failed = Task.fail(boom).start.runSync()
    failed.join.runSync(): Unit
    assertEquals(failed.poll.runSync(), Some(Outcome.Failed(boom)))
    val cancelled = Task.never.start.runSync()
    cancelled.cancel.runSync()
    assertEquals(cancelled.poll.runSync(), Some(Outcome.Canceled))
