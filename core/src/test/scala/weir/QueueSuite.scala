package weir

import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*

class QueueSuite extends StreamTests:
  private val capacities = List(1, 2, 100)

  private def drain[A](queue: Queue[A]): List[A] =
    Iterator.continually(queue.tryTake.runSync()).takeWhile(_.isDefined).flatten.toList

  for capacity <- capacities do
    test(s"values come out in the order in which they went in, capacity $capacity"):
      val queue = Queue.unsafe[Int](capacity)
      val offers = Task.foreach(1 to 10_000)(queue.offer)
      val takes = Task.traverse(1 to 10_000)(_ => queue.take)
      assertEquals(Task.both(offers, takes).runSync()._2, (1 to 10_000))
      assertEquals(queue.size.runSync(), 0)

    test(s"a full queue refuses tryOffer, an empty one tryTake, capacity $capacity"):
      val queue = Queue.bounded[Int](capacity).runSync()
      assertEquals(queue.tryTake.runSync(), None)
      for i <- 1 to capacity do
        assert(queue.tryOffer(i).runSync())
        assertEquals(queue.size.runSync(), i)
      assert(!queue.tryOffer(0).runSync())
      assertEquals(queue.size.runSync(), capacity)
      assertEquals(drain(queue), (1 to capacity).toList)

    test(s"offers that wait are served in the order in which they came, capacity $capacity"):
      given WeirRuntime = smallRuntime()
      val queue = Queue.unsafe[Int](capacity)
      Task.foreach(1 to capacity)(queue.offer).runSync()
      val waiting = (1 to 10).map(i => parked(queue.offer(capacity + i)))
      assertEquals(queue.size.runSync(), capacity)
      val all = Task.traverse(1 to capacity + 10)(_ => queue.take)
      assertEquals(all.runSync(), (1 to capacity + 10))
      for fiber <- waiting do fiber.joinOrFail.runSync()

    test(s"a cancelled offer's value is not in the queue, and the next one is, $capacity"):
      given WeirRuntime = smallRuntime()
      val queue = Queue.unsafe[Int](capacity)
      Task.foreach(1 to capacity)(queue.offer).runSync()
      val first = parked(queue.offer(-1))
      val second = parked(queue.offer(capacity + 1))
      first.cancel.runSync()
      assertEquals(first.join.runSync(), Outcome.Canceled)
      assertEquals(queue.take.runSync(), 1)
      second.joinOrFail.runSync()
      second.cancel.runSync()
      assertEquals(drain(queue), (2 to capacity + 1).toList)

  test("takers that wait are served in the order in which they came, by offer and tryOffer"):
    given WeirRuntime = smallRuntime()
    val queue = Queue.unsafe[Int](2)
    val takers = (1 to 20).map(_ => parked(queue.take))
    for i <- 1 to 20 do
      if i % 2 == 0 then queue.offer(i).runSync() else assert(queue.tryOffer(i).runSync())
    assertEquals(takers.map(_.joinOrFail.runSync()), 1 to 20)

  test("take cancelled while waiting leaves the next value for the next taker"):
    given WeirRuntime = smallRuntime()
    val queue = Queue.unsafe[Int](1)
    val takers = (1 to 5).map(_ => parked(queue.take))
    for i <- List(0, 2, 4) do takers(i).cancel.runSync()
    queue.offer(1).runSync()
    queue.offer(2).runSync()
    assertEquals(List(1, 3).map(takers(_).joinOrFail.runSync()), List(1, 2))
    queue.offer(3).runSync()
    assertEquals(queue.take.runSync(), 3)

  test("cancelled before it begins, take takes nothing and offer offers nothing"):
    val queue = Queue.unsafe[Int](2)
    queue.offer(1).runSync()
    for task <- List[Task[Any]](queue.take, queue.offer(2)) do
      val fiber = Task.uncancelable(poll => Task.canceled.andThen(poll(task))).start
      assertEquals(fiber.flatMap(_.join).runSync(), Outcome.Canceled)
    assertEquals(drain(queue), List(1))

  test("cancelled after it has ended, take and offer have their effect"):
    val queue = Queue.unsafe[Int](2)
    for task <- List[Task[Any]](queue.offer(1), queue.offer(2), queue.take) do
      val fiber = task.start.runSync()
      fiber.join.runSync(): Unit
      fiber.cancel.runSync()
    assertEquals(drain(queue), List(2))

  test("a masked take goes on through a cancel, until a value comes"):
    given WeirRuntime = smallRuntime()
    val queue = Queue.unsafe[Int](1)
    val taken = AtomicInteger()
    val taker = parked(Task.uncancelable(_ => queue.take.map(taken.set)))
    val cancel = parked(taker.cancel)
    assertEquals(taken.get, 0)
    queue.offer(7).runSync()
    cancel.joinOrFail.runSync()
    assertEquals(taken.get, 7)

  test("a take that times out takes nothing"):
    val queue = Queue.unsafe[Int](1)
    intercept[java.util.concurrent.TimeoutException](queue.take.timeout(1.milli).runSync())
    queue.offer(1).runSync()
    intercept[java.util.concurrent.TimeoutException](queue.offer(2).timeout(1.milli).runSync())
    assertEquals(drain(queue), List(1))

  for capacity <- List(0, -1) do
    test(s"capacity $capacity is refused with its value and the rule"):
      val error = intercept[IllegalArgumentException](Queue.bounded[Int](capacity).runSync())
      val rule = s"Queue.bounded: capacity was $capacity. It must be at least 1."
      assert(error.getMessage.contains(rule), error.getMessage)

  test("a hundred thousand cancelled takes and offers leave nothing behind"):
    given WeirRuntime = smallRuntime()
    val empty = Queue.unsafe[Int](1)
    val full = Queue.unsafe[Int](1)
    full.offer(1).runSync()
    def round(task: Task[Any]) =
      val fibers = (1 to 1000).map(_ => task.start.runSync())
      standstill()
      Task.foreach(fibers)(_.cancel).runSync()
    val grown = growth(for _ <- 1 to Tier(20, 50) do
      round(empty.take)
      round(full.offer(2)))
    assert(grown < megabyte, s"grew by $grown bytes")
    assertEquals((empty.size.runSync(), full.size.runSync()), (0, 1))

  private def queues: List[Queue[Int]] =
    capacities.map(Queue.unsafe[Int](_)) ++
      List(Queue.unbounded[Int], Queue.synchronous[Int]).map(_.runSync())

  test("takeN waits for so many, takeBetween takes more if they are there; the oldest first"):
    for queue <- queues do
      val taking = queue.takeN(3).start.runSync()
      queue.offerAll(List(1, 2, 3)).runSync()
      assertEquals(taking.joinOrFail.runSync(), List(1, 2, 3))
    val queue = Queue.unsafe[Int](10)
    queue.offerAll(1 to 7).runSync()
    assertEquals(queue.takeBetween(2, 4).runSync(), List(1, 2, 3, 4))
    assertEquals(queue.takeBetween(2, 4).runSync(), List(5, 6, 7))
    assertEquals(queue.takeN(0).runSync(), Nil)
    assertEquals(queue.takeAll.runSync(), Nil)

  test("offerAll offers any number of values, and waits for room wherever there is none"):
    for queue <- queues; count <- List(0, 1, 63, 64, 65, 300) do
      val offering = queue.offerAll(1 to count).start.runSync()
      assertEquals(queue.takeN(count).runSync(), (1 to count).toList)
      offering.joinOrFail.runSync()
      assertEquals(queue.size.runSync(), 0)

  test("offerAll gives takers that wait one value each, and the queue the rest"):
    val queue = Queue.unsafe[Int](10)
    val takers = List.fill(3) {
      val taker = queue.take.start.runSync()
      eventually("it waits")(isWaiting(taker))
      taker
    }
    queue.offerAll(1 to 5).runSync()
    assertEquals(takers.map(_.joinOrFail.runSync()), List(1, 2, 3))
    assertEquals(queue.takeAll.runSync(), List(4, 5))

  test("offerAll to a dropping queue drops what has no room, to a sliding one the oldest"):
    val dropping = Queue.dropping[Int](3).runSync()
    dropping.offerAll(1 to 200).runSync()
    assertEquals(dropping.takeAll.runSync(), List(1, 2, 3))
    val sliding = Queue.sliding[Int](3).runSync()
    sliding.offerAll(1 to 200).runSync()
    assertEquals(sliding.takeAll.runSync(), List(198, 199, 200))

  test("offerAll takes values from a lazy collection as there is room for them"):
    val queue = Queue.unsafe[Int](4)
    val offering = queue.offerAll(LazyList.from(1)).start.runSync()
    assertEquals(queue.takeN(1000).runSync(), (1 to 1000).toList)
    offering.cancel.runSync()

  test("offerAll has offered a value of a lazy collection before it asks for the next one"):
    val queue = Queue.unbounded[Int].runSync()
    val error = IllegalStateException("the fourth")
    def value(i: Int) =
      assertEquals(queue.size.runSync(), i - 1)
      if i == 4 then throw error else i
    for values <- List(LazyList.from(1).map(value), (1 to 100).view.map(value)) do
      assertEquals(intercept[IllegalStateException](queue.offerAll(values).runSync()), error)
      assertEquals(queue.takeAll.runSync(), List(1, 2, 3))

  test("an offerAll that is cancelled at random has offered the first ones, each once"):
    val random = scala.util.Random(1)
    for queue <- queues; _ <- 1 to 100 do
      val taken = java.util.concurrent.ConcurrentLinkedQueue[Int]()
      val taker = queue.take.map(taken.add(_)).forever.start.runSync()
      val offering = queue.offerAll(1 to 500).start.runSync()
      Task.foreach(1 to random.nextInt(30))(_ => Task.cede).runSync()
      offering.cancel.runSync()
      eventually("all that is in the queue is taken")(
        queue.size.runSync() == 0 && isWaiting(taker)
      )
      taker.cancel.runSync()
      assertEquals(taken.toArray.map(_.asInstanceOf[Int]).toList, (1 to taken.size).toList)

  test("takeAll takes what offers that wait have, too"):
    val queue = Queue.unsafe[Int](1)
    val offering = queue.offerAll(List(1, 2)).start.runSync()
    eventually("the second offer waits")(isWaiting(offering))
    assertEquals(queue.takeAll.runSync(), List(1, 2))
    offering.joinOrFail.runSync()

  test("what a cancelled takeN has taken is at the front again, in order"):
    for queue <- queues do
      val taking = queue.takeN(4).start.runSync()
      queue.offerAll(List(1, 2, 3)).runSync()
      eventually("it waits for the fourth")(isWaiting(taking))
      taking.cancel.runSync()
      val offering = queue.offer(4).start.runSync()
      assertEquals(queue.takeN(4).runSync(), List(1, 2, 3, 4))
      offering.joinOrFail.runSync()

  test("what a cancelled takeN has taken goes to takers that wait by then"):
    for queue <- queues do
      val taking = queue.takeN(3).start.runSync()
      queue.offerAll(List(1, 2)).runSync()
      eventually("it waits for the third")(isWaiting(taking))
      val other = queue.take.start.runSync()
      eventually("the other one waits")(isWaiting(other))
      taking.cancel.runSync()
      assertEquals(other.joinOrFail.runSync(), 1)
      assertEquals(queue.take.runSync(), 2)

  test("a queue that holds more than its capacity, as values were put back, lets no offer in"):
    val queue = Queue.unsafe[Int](1)
    val taking = queue.takeN(3).start.runSync()
    queue.offerAll(List(1, 2)).runSync()
    eventually("it waits for the third")(isWaiting(taking))
    taking.cancel.runSync()
    assertEquals(queue.size.runSync(), 2)
    val offering = queue.offer(3).start.runSync()
    eventually("the offer waits")(isWaiting(offering))
    assertEquals(queue.take.runSync(), 1)
    assertEquals((queue.size.runSync(), isWaiting(offering)), (1, true))
    assertEquals(queue.takeN(2).runSync(), List(2, 3))
    offering.joinOrFail.runSync()

  test("takers of several values that are cancelled at random lose none and repeat none"):
    for queue <- queues do
      val taken = java.util.concurrent.ConcurrentLinkedQueue[Int]()
      val random = scala.util.Random(1)
      val offering = queue.offerAll(1 to 2000).start.runSync()
      val takers = (1 to 4).map { i =>
        val one = Task.uncancelable(poll =>
          poll(queue.takeBetween(1 + i % 3, 5)).map(_.foreach(taken.add(_): Unit))
        )
        def again: Task[Unit] = Task.defer {
          val cancelSoon = Task.foreach(1 to random.nextInt(20))(_ => Task.cede)
          Task.uncancelable(_ => one.start.flatMap(f => cancelSoon >> f.cancel)) >> again
        }
        again.start.runSync()
      }
      offering.joinOrFail.runSync()
      eventually("nearly all are taken")(taken.size + queue.size.runSync() >= 2000)
      takers.foreach(_.cancel.runSync())
      standstill()
      val rest = queue.takeAll.runSync()
      assertEquals((taken.toArray.toList.map(_.toString.toInt) ++ rest).sorted, (1 to 2000).toList)

  test("a sliding queue is within its capacity after the next offer"):
    val queue = Queue.sliding[Int](2).runSync()
    val taking = queue.takeN(4).start.runSync()
    eventually("it waits")(isWaiting(taking))
    for n <- 1 to 3 do
      queue.offer(n).runSync()
      eventually("it waits for the next")(isWaiting(taking) && queue.size.runSync() == 0)
    taking.cancel.runSync()
    assertEquals(queue.size.runSync(), 3)
    queue.offer(4).runSync()
    assertEquals(queue.takeAll.runSync(), List(3, 4))

  test("takeBetween refuses a range that is none"):
    val queue = Queue.unsafe[Int](2)
    val error = intercept[IllegalArgumentException](queue.takeBetween(5, 2).runSync(): Unit)
    assert(error.getMessage.contains("min was 5 and max 2"), error.getMessage)
