package weir.std

import weir.{Outcome, StreamTests, Task, WeirRuntime}

class CountDownLatchSuite extends StreamTests:

  for releases <- List(1, 2, 100) do
    test(s"it opens with the last of $releases releases, for all who wait, and stays open"):
      given WeirRuntime = smallRuntime()
      val latch = CountDownLatch(releases).runSync()
      val fibers = List.fill(10)(parked(latch.await))
      for i <- releases to 1 by -1 do
        assertEquals(latch.count.runSync(), i.toLong)
        standstill()
        assert(fibers.forall(!ended(_)))
        latch.release.runSync()
      for fiber <- fibers do fiber.joinOrFail.runSync()
      latch.await.runSync()
      latch.release.runSync()
      assertEquals(latch.count.runSync(), 0L)

  test("one release too many, at once with the last one, is none"):
    for _ <- 1 to 200 do
      val latch = CountDownLatch.unsafe(4)
      Task.parForeachN(8)(1 to 8)(_ => Task.cede.andThen(latch.release)).runSync()
      latch.await.runSync()
      assertEquals(latch.count.runSync(), 0L)

  test("an await cancelled before or while waiting stops, and the others go on waiting"):
    given WeirRuntime = smallRuntime()
    val latch = CountDownLatch.unsafe(1)
    val early = Task.uncancelable(poll => Task.canceled.andThen(poll(latch.await))).start
    assertEquals(early.flatMap(_.join).runSync(), Outcome.Canceled)
    val fibers = List.fill(3)(parked(latch.await))
    fibers(1).cancel.runSync()
    assertEquals(latch.awaitedAs, "CountDownLatch(1), with 1 missing")
    latch.release.runSync()
    assertEquals(fibers.map(_.join.runSync()).count(_ == Outcome.Canceled), 1)

  test("fewer than one release is refused with its value and the rule"):
    for n <- List(0, -1) do
      val error = intercept[IllegalArgumentException](CountDownLatch(n).runSync())
      assert(error.getMessage.contains(s"was $n. It must be at least 1."), error.getMessage)
