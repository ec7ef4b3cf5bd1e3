package weir

import scala.concurrent.duration.*

/** The differences of unbounded, dropping, sliding and synchronous queues from bounded ones. */
class QueueKindsSuite extends StreamTests:

  private def drain[A](queue: Queue[A]): List[A] = queue.tryTakeN(Int.MaxValue).runSync()

  test("an unbounded queue takes all that comes, in order, and gives its memory back"):
    def grown(): Long =
      val before = Heap.used()
      val queue = Queue.unbounded[Array[Byte]].runSync()
      Task.foreach(1 to 100_000)(_ => queue.offer(new Array[Byte](16))).runSync()
      assertEquals(queue.size.runSync(), 100_000)
      assertEquals(Task.traverse(1 to 100_000)(_ => queue.take).runSync().size, 100_000)
      val after = Heap.used()
      assertEquals(queue.size.runSync(), 0) // it is alive
      after - before
    // Classes that other tests leave to be loaded, or their fibers that still run, may disturb some
    // rounds.
    val rounds = LazyList.continually(grown()).take(3)
    assert(rounds.exists(_ < megabyte / 4), s"grew by $rounds bytes")
    val numbers = Queue.unbounded[Int].runSync()
    val offers = Task.foreach(1 to 10_000)(numbers.offer)
    val takes = Task.traverse(1 to 10_000)(_ => numbers.take)
    assertEquals(Task.both(offers, takes).runSync()._2, (1 to 10_000))

  for capacity <- List(1, 2, 100) do
    test(s"a full dropping queue drops what comes, capacity $capacity"):
      val queue = Queue.dropping[Int](capacity).runSync()
      Task.foreach(1 to capacity + 3)(queue.offer).runSync()
      assert(!queue.tryOffer(0).runSync())
      assertEquals(drain(queue), (1 to capacity).toList)
      assert(queue.tryOffer(7).runSync())
      assertEquals(queue.take.runSync(), 7)

    test(s"a full sliding queue drops its oldest values, capacity $capacity"):
      val queue = Queue.sliding[Int](capacity).runSync()
      Task.foreach(1 to capacity + 3)(queue.offer).runSync()
      assert(queue.tryOffer(capacity + 4).runSync())
      assertEquals(queue.size.runSync(), capacity)
      assertEquals(drain(queue), (5 to capacity + 4).toList)

    test(s"tryTakeN takes as many as it is asked for, and lets offers in that wait, $capacity"):
      given WeirRuntime = smallRuntime()
      val queue = Queue.bounded[Int](capacity).runSync()
      assertEquals(queue.tryTakeN(3).runSync(), Nil)
      Task.foreach(1 to capacity)(queue.offer).runSync()
      val offers = (1 to 3).map(i => parked(queue.offer(capacity + i)))
      assertEquals(queue.tryTakeN(0).runSync(), Nil)
      assertEquals(queue.tryTakeN(1).runSync(), List(1))
      assertEquals(drain(queue), (2 to capacity + 3).toList)
      for offer <- offers do offer.joinOrFail.runSync()

  for (name, make) <- List(
      "dropping" -> Queue.dropping[Int](2),
      "sliding" -> Queue.sliding[Int](2),
      "unbounded" -> Queue.unbounded[Int],
      "synchronous" -> Queue.synchronous[Int]
    )
  do
    test(s"takers of a $name queue are served in order, and one that is cancelled takes nothing"):
      given WeirRuntime = smallRuntime()
      val queue = make.runSync()
      val takers = (1 to 4).map(_ => parked(queue.take))
      takers(1).cancel.runSync()
      for i <- 1 to 3 do queue.offer(i).runSync()
      assertEquals(List(0, 2, 3).map(takers(_).joinOrFail.runSync()), List(1, 2, 3))
      assertEquals(queue.size.runSync(), 0)

  test("a synchronous queue holds nothing: an offer waits for its taker"):
    given WeirRuntime = smallRuntime()
    val queue = Queue.synchronous[Int].runSync()
    assert(!queue.tryOffer(0).runSync())
    assertEquals(queue.tryTake.runSync(), None)
    val offers = (1 to 4).map(i => parked(queue.offer(i)))
    assertEquals(queue.size.runSync(), 0)
    assert(!offers.exists(ended))
    offers(1).cancel.runSync()
    assertEquals(queue.take.runSync(), 1)
    offers(0).joinOrFail.runSync()
    assertEquals(queue.tryTake.runSync(), Some(3))
    assertEquals(drain(queue), List(4))
    val taker = parked(queue.take)
    assert(queue.tryOffer(5).runSync())
    assertEquals(taker.joinOrFail.runSync(), 5)

  test("a synchronous offer that times out has given nothing"):
    val queue = Queue.synchronous[Int].runSync()
    intercept[java.util.concurrent.TimeoutException](queue.offer(1).timeout(1.milli).runSync())
    assertEquals(queue.tryTake.runSync(), None)

  test("a capacity below 1 is refused with its value, the rule, and what to do"):
    for (name, make) <- List("dropping" -> Queue.dropping[Int], "sliding" -> Queue.sliding[Int])
    do
      val error = intercept[IllegalArgumentException](make(0).runSync())
      val rule = s"Queue.$name: capacity was 0. It must be at least 1. For no limit, use"
      assert(error.getMessage.contains(rule), error.getMessage)

  test("a dump says which queue it is, and why one waits"):
    given WeirRuntime = smallRuntime()
    val bounded = Queue.unsafe[Int](1)
    assertEquals(bounded.awaitedAs, "Queue.bounded(1), which is empty")
    bounded.offer(1).runSync()
    assertEquals(bounded.awaitedAs, "Queue.bounded(1), which is full")
    assertEquals(Queue.unbounded[Int].runSync().awaitedAs, "Queue.unbounded, which is empty")
    val synchronous = Queue.synchronous[Int].runSync()
    val offer = parked(synchronous.offer(1))
    assertEquals(synchronous.awaitedAs, "Queue.synchronous, without a taker")
    offer.cancel.runSync()
    assertEquals(synchronous.awaitedAs, "Queue.synchronous, which is empty")
