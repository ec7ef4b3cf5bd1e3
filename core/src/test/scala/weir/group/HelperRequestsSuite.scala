package weir.group

import weir.runtime.Tuning
import java.util.concurrent.{CompletableFuture, ConcurrentLinkedQueue, CountDownLatch, TimeUnit}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import weir.{Tier, WeirSuite}

/** Delayed helper requests: when each is made, by which thread. */
class HelperRequestsSuite extends WeirSuite:

  private class Group(blocked: Boolean = false) extends HelperRequests.Requester:
    val requested = CountDownLatch(1)
    val times = AtomicInteger()
    def isBlocked: Boolean = blocked
    def requestNow(): Unit =
      times.incrementAndGet(): Unit
      requested.countDown()

  private val short = Tuning.shortGroupNanos - 1

  test("a key may delay after so many groups that needed no helper, and not after one that did"):
    val requests = HelperRequests()
    for _ <- 1 until Tuning.needlessHelperRequests do requests.learn(7, short)
    assert(!requests.mayDelay(7))
    requests.learn(7, short)
    assert(requests.mayDelay(7))
    assert(!requests.mayDelay(8))
    for _ <- 1 to 1000 do requests.learn(7, short)
    assert(requests.mayDelay(7))
    requests.learn(7, Long.MaxValue)
    assert(!requests.mayDelay(7))
    requests.learn(7, short)
    assert(requests.mayDelay(7)) // after a long row without, one counts little
    for _ <- 1 to 2 do requests.learn(7, Long.MaxValue)
    requests.learn(7, short)
    assert(!requests.mayDelay(7))

  test("a group that took long weighs as much as the short ones that have saved its time"):
    val requests = HelperRequests()
    def learn(times: Int, nanos: Long) = for _ <- 1 to times do requests.learn(7, nanos)
    for (nanos, weight) <- List(200_000L -> 6, 1_000_000L -> 33, 5_000_000L -> 64) do
      learn(200, short)
      learn(1, nanos)
      learn(1, Long.MaxValue) // from 127 that is to 63 - weight
      learn(weight.min(63), short)
      assert(!requests.mayDelay(7), nanos)
      learn(1, short)
      assert(requests.mayDelay(7), nanos)

  test("a request can be withdrawn once; its slot is free again"):
    val requests = HelperRequests(_ => ()) // no thread looks
    val group = Group()
    val slot = requests.delay(3, group)
    assert(slot >= 0)
    assertEquals(requests.delay(3, Group()), -1)
    assert(requests.withdraw(slot, group))
    assert(!requests.withdraw(slot, group))
    assert(requests.delay(3, Group()) >= 0)

  test("the request of a group that stays is made, of one whose thread is blocked too, each once"):
    val requests = HelperRequests()
    val groups = List(Group(), Group(blocked = true))
    val slots = groups.zipWithIndex.map((group, i) => requests.delay(i, group))
    groups.foreach(group => await(group.requested))
    for (group, slot) <- groups.zip(slots) do
      assert(!requests.withdraw(slot, group))
      assertEquals(group.times.get, 1)

  test("a request for which there is no memory is made later"):
    val requests = HelperRequests()
    val group = new Group:
      private val isFirst = AtomicBoolean(true)
      override def requestNow(): Unit =
        if isFirst.getAndSet(false) then throw OutOfMemoryError("Java heap space")
        super.requestNow()
    assert(requests.delay(0, group) >= 0)
    await(group.requested)

  test(
    "the thread ends when there has been nothing for a while, and the next group starts another"
  ):
    val started = AtomicInteger()
    val requests = HelperRequests(
      { thread =>
        started.incrementAndGet(): Unit
        thread.start()
      },
      looks = Tier(100, Tuning.helperRequestLooks)
    )
    for i <- 1 to 2 do
      val group = Group()
      assert(requests.delay(0, group) >= 0)
      await(group.requested)
      assertEquals(started.get, i)
      eventually("the thread has ended")(!requests.isLooking)

  /** The first thread has ended before the group that has started it takes its slot. There is a
    * second one, or not.
    */
  private final class EndsFirst(hasSecond: Boolean, threads: ConcurrentLinkedQueue[Thread])
      extends HelperRequests(
        { thread =>
          threads.add(thread): Unit
          thread.start()
        },
        nanos = 1,
        looks = 1
      ):
    override protected def start(): Boolean =
      if threads.isEmpty then
        val started = super.start()
        threads.peek().join()
        started
      else hasSecond && super.start()

  test("a group that takes its slot after the thread's last look is seen by another thread"):
    val threads = ConcurrentLinkedQueue[Thread]()
    val group = Group()
    assert(EndsFirst(hasSecond = true, threads).delay(0, group) >= 0)
    await(group.requested)
    assertEquals(threads.size, 2)

  test(
    "such a group leaves its slot, and makes its request at once, where there is no other thread"
  ):
    val requests = EndsFirst(hasSecond = false, ConcurrentLinkedQueue())
    val group = Group()
    assertEquals(requests.delay(0, group), -1)
    assert(!requests.withdraw(0, group))

  /** Requests whose thread ends after a look that finds no group. It has had that look, and the
    * request of `group` is delayed before the thread can note its end. Returns the requests, the
    * threads that were started, and the slot.
    */
  private def delayedAtTheEnd(group: Group): (HelperRequests, ConcurrentLinkedQueue[Thread], Int) =
    val threads = ConcurrentLinkedQueue[Thread]()
    val requests = HelperRequests(threads.add(_): Unit, nanos = 1, looks = 1)
    val slot = requests.delay(0, group)
    assert(requests.withdraw(slot, group))
    requests.synchronized {
      threads.peek().start()
      eventually("it has seen nothing, and is about to end"):
        threads.peek().getState == Thread.State.BLOCKED
      assertEquals(requests.delay(0, group), slot)
    }
    (requests, threads, slot)

  test("a group that takes its slot between the thread's last look and its end is seen by it"):
    val group = Group()
    val (_, threads, _) = delayedAtTheEnd(group)
    await(group.requested)
    assertEquals(threads.size, 1)

  test("a thread that was about to end ends, where another one looks by then"):
    val known = CompletableFuture[HelperRequests]()
    val first =
      new Group: // as the thread looks at it for the last time, another request is delayed
        override def isBlocked: Boolean =
          assert(known.get(5, TimeUnit.SECONDS).delay(1, Group()) >= 0)
          false
    val (requests, threads, slot) = delayedAtTheEnd(first)
    known.complete(requests): Unit
    threads.peek().join(5000)
    assert(!threads.peek().isAlive)
    assertEquals(threads.size, 2)
    assert(requests.withdraw(slot, first), "the second thread has not begun")

  test("two groups that delay their requests at once start one thread"):
    val started = AtomicInteger()
    val slot = CompletableFuture[Int]()
    lazy val requests: HelperRequests = HelperRequests { _ =>
      if started.incrementAndGet() == 1 then
        val other = Thread.startVirtualThread { () =>
          slot.complete(requests.delay(1, Group())): Unit
        }
        eventually("the other waits for this one")(other.getState == Thread.State.BLOCKED)
    }
    assert(requests.delay(0, Group()) >= 0)
    assert(slot.get(5, TimeUnit.SECONDS) >= 0)
    assertEquals(started.get, 1)

  test(
    "stress: a thread that ends after each empty look forgets no group, and serves none twice"
  ):
    val requests = HelperRequests(nanos = 1, looks = 1)
    val failed = AtomicInteger()
    val builder =
      Thread.ofPlatform().uncaughtExceptionHandler((_, _) => failed.incrementAndGet(): Unit)
    val threads = for shard <- 0 until 3 yield builder.start { () =>
      for i <- 1 to Tier(1000, 3000) do
        val group = Group()
        val slot = requests.delay(shard, group)
        assert(slot >= 0)
        if i % 3 == 0 then await(group.requested)
        else if i % 3 == 1 then
          if !requests.withdraw(slot, group) then await(group.requested)
        else
          Thread.sleep(0, i * 37 % 200_000)
          await(group.requested)
        assert(group.times.get <= 1)
    }
    threads.foreach(_.join())
    assertEquals(failed.get, 0)

  test("what is known of the keys is forgotten as the thread ends"):
    val requests = HelperRequests(nanos = 1, looks = 1)
    for _ <- 1 to Tuning.needlessHelperRequests do requests.learn(7, short)
    assert(requests.mayDelay(7))
    val group = Group()
    assert(requests.delay(0, group) >= 0)
    await(group.requested)
    eventually("it is forgotten")(!requests.mayDelay(7))

  test(
    "a group at which the thread cannot look for a while, in which it would end, gets its helper"
  ):
    val requests = HelperRequests(nanos = 1, looks = 1)
    val throws = AtomicInteger()
    val group = new Group:
      override def isBlocked: Boolean =
        if throws.incrementAndGet() <= 100 then throw OutOfMemoryError("a test's own")
        false
    assert(requests.delay(0, group) >= 0)
    await(group.requested)
    assert(throws.get > 100)

  test("where no thread can be started, nothing is delayed"):
    val requests = HelperRequests(_ => throw OutOfMemoryError("unable to create native thread"))
    val group = Group()
    assertEquals(requests.delay(0, group), -1)
    assertEquals(requests.delay(0, group), -1)
    assert(!requests.isLooking)
