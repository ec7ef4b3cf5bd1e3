package weir.kafka.consumer

class FairQueueSuite extends munit.FunSuite:
  private val queue = FunFixture[FairQueue[(Int, Int)]](_ => FairQueue(_._1), _ => ())

  private def takeAll(from: FairQueue[(Int, Int)]): List[(Int, Int)] =
    Iterator.continually(from.take()).takeWhile(_ != null).map(_.nn).toList

  queue.test("each lane in its order, lanes in turns"): queue =>
    for lane <- 1 to 3; n <- 1 to lane do queue.offer((lane, n))
    queue.end()
    assertEquals(takeAll(queue), List((1, 1), (2, 1), (3, 1), (2, 2), (3, 2), (3, 3)))
    assertEquals(queue.take(), null)

  queue.test("what is offered as one is in lanes too, and wakes who waits"): queue =>
    val taken = java.util.concurrent.LinkedBlockingQueue[Any]()
    val readers = List.fill(2)(Thread.ofVirtual().start(() => taken.add(queue.take()): Unit))
    while readers.exists(_.getState != Thread.State.WAITING) do Thread.sleep(1)
    queue.offerAll(java.util.List.of((1, 1), (1, 2), (2, 1), (1, 3)))
    assertEquals(List.fill(2)(taken.take()).toSet, Set[Any]((1, 1), (2, 1)))
    queue.end()
    assertEquals(takeAll(queue), List((1, 2), (1, 3)))

  queue.test("a lane that comes back has its turn after the others"): queue =>
    queue.offer((1, 1))
    queue.offer((2, 1))
    assertEquals(queue.take(), (1, 1))
    queue.offer((1, 2))
    queue.end()
    assertEquals(takeAll(queue), List((2, 1), (1, 2)))

  queue.test("an error comes after the elements, and again and again; the first end counts"):
    queue =>
      val error = RuntimeException("first")
      queue.offer((1, 1))
      queue.fail(error)
      queue.end()
      assertEquals(queue.take(), (1, 1))
      for _ <- 1 to 2 do assertEquals(intercept[RuntimeException](queue.take()), error)

  queue.test("an error in the place of a lane comes after the other lanes; nothing is added then"):
    queue =>
      val (error, later) = (RuntimeException("first"), RuntimeException("later"))
      for lane <- 1 to 3; n <- 1 to 2 do queue.offer((lane, n))
      queue.failInPlace(2, error)
      queue.offer((1, 3))
      assertEquals(queue.take(), (1, 1))
      queue.failInPlace(3, later)
      assertEquals(queue.take(), (1, 2))
      assertEquals(intercept[RuntimeException](queue.take()), error)
      assertEquals(error.getSuppressed.toList, List(later))

  queue.test("who waits gets what is offered, and an interrupt ends a wait"): queue =>
    val taken = java.util.concurrent.LinkedBlockingQueue[Any]()
    val reader = Thread
      .ofVirtual()
      .start: () =>
        try while true do taken.add(queue.take()): Unit
        catch case _: InterruptedException => taken.add("interrupted"): Unit
    for n <- 1 to 1000 do queue.offer((n % 7, n))
    val all = List.fill(1000)(taken.take())
    assertEquals(all.toSet, (1 to 1000).map(n => (n % 7, n)).toSet[Any])
    reader.interrupt()
    assertEquals(taken.take(), "interrupted": Any)
