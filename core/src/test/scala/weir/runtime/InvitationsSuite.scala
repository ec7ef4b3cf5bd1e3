package weir.runtime

import java.util.concurrent.{CompletableFuture, ConcurrentLinkedQueue, CountDownLatch, TimeUnit}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import weir.WeirSuite

/** Invitations that are put off: who makes them, and when. */
class InvitationsSuite extends WeirSuite:

  private class Group(blocked: Boolean = false) extends Invitations.Group:
    val invited = CountDownLatch(1)
    val times = AtomicInteger()
    def isBlocked: Boolean = blocked
    def inviteLate(): Unit =
      times.incrementAndGet(): Unit
      invited.countDown()

  private val short = Tuning.shortGroupNanos - 1

  test("a kind can wait after so many groups that needed nobody, and not after one that did"):
    val invitations = Invitations()
    for _ <- 1 until Tuning.needlessInvitations do invitations.learn(7, short)
    assert(!invitations.canWait(7))
    invitations.learn(7, short)
    assert(invitations.canWait(7))
    assert(!invitations.canWait(8))
    for _ <- 1 to 1000 do invitations.learn(7, short)
    assert(invitations.canWait(7))
    invitations.learn(7, Long.MaxValue)
    assert(!invitations.canWait(7))
    invitations.learn(7, short)
    assert(invitations.canWait(7)) // after a long row without, one is a blip
    for _ <- 1 to 2 do invitations.learn(7, Long.MaxValue)
    invitations.learn(7, short)
    assert(!invitations.canWait(7))

  test("a group that took long weighs as much as the short ones that have saved its time"):
    val invitations = Invitations()
    def learn(times: Int, nanos: Long) = for _ <- 1 to times do invitations.learn(7, nanos)
    for (nanos, weight) <- List(200_000L -> 6, 1_000_000L -> 33, 5_000_000L -> 64) do
      learn(200, short)
      learn(1, nanos)
      learn(1, Long.MaxValue) // from 127 that is to 63 - weight
      learn(weight.min(63), short)
      assert(!invitations.canWait(7), nanos)
      learn(1, short)
      assert(invitations.canWait(7), nanos)

  test("who takes a group back has it, once; its place is free again"):
    val invitations = Invitations(_ => ()) // nobody looks
    val group = Group()
    val place = invitations.putOff(3, group)
    assert(place >= 0)
    assertEquals(invitations.putOff(3, Group()), -1)
    assert(invitations.take(place, group))
    assert(!invitations.take(place, group))
    assert(invitations.putOff(3, Group()) >= 0)

  test("a group that stays is invited for, one whose thread is blocked too, each once"):
    val invitations = Invitations()
    val groups = List(Group(), Group(blocked = true))
    val places = groups.zipWithIndex.map((group, i) => invitations.putOff(i, group))
    groups.foreach(group => await(group.invited))
    for (group, place) <- groups.zip(places) do
      assert(!invitations.take(place, group))
      assertEquals(group.times.get, 1)

  test("an invitation for which there is no memory is made later"):
    val invitations = Invitations()
    val group = new Group:
      private val isFirst = AtomicBoolean(true)
      override def inviteLate(): Unit =
        if isFirst.getAndSet(false) then throw OutOfMemoryError("Java heap space")
        super.inviteLate()
    assert(invitations.putOff(0, group) >= 0)
    await(group.invited)

  test(
    "the thread ends when there has been nothing for a while, and the next group starts another"
  ):
    val started = AtomicInteger()
    val invitations = Invitations { thread =>
      started.incrementAndGet(): Unit
      thread.start()
    }
    for i <- 1 to 2 do
      val group = Group()
      assert(invitations.putOff(0, group) >= 0)
      await(group.invited)
      assertEquals(started.get, i)
      eventually("the thread has ended")(!invitations.isLooking)

  /** The first thread has ended before the group that has asked for it takes its place. There is a second one, or not. */
  private final class EndsFirst(hasSecond: Boolean, threads: ConcurrentLinkedQueue[Thread])
      extends Invitations(
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

  test("a group that takes its place after the thread's last look is seen by another thread"):
    val threads = ConcurrentLinkedQueue[Thread]()
    val group = Group()
    assert(EndsFirst(hasSecond = true, threads).putOff(0, group) >= 0)
    await(group.invited)
    assertEquals(threads.size, 2)

  test("such a group leaves its place, and invites at once, where there is no other thread"):
    val invitations = EndsFirst(hasSecond = false, ConcurrentLinkedQueue())
    val group = Group()
    assertEquals(invitations.putOff(0, group), -1)
    assert(!invitations.take(0, group))

  /** Invitations whose thread ends after a look at nothing. It has had it, and `group` is put off before it can say so. Returns them, the
    * threads that were asked for, and the place.
    */
  private def putOffAtTheEnd(group: Group): (Invitations, ConcurrentLinkedQueue[Thread], Int) =
    val threads = ConcurrentLinkedQueue[Thread]()
    val invitations = Invitations(threads.add(_): Unit, nanos = 1, looks = 1)
    val place = invitations.putOff(0, group)
    assert(invitations.take(place, group))
    invitations.synchronized {
      threads.peek().start()
      eventually("it has seen nothing, and is about to end"):
        threads.peek().getState == Thread.State.BLOCKED
      assertEquals(invitations.putOff(0, group), place)
    }
    (invitations, threads, place)

  test("a group that takes its place between the thread's last look and its end is seen by it"):
    val group = Group()
    val (_, threads, _) = putOffAtTheEnd(group)
    await(group.invited)
    assertEquals(threads.size, 1)

  test("a thread that was about to end ends, where another one looks by then"):
    val known = CompletableFuture[Invitations]()
    val first = new Group: // as the thread looks at it for the last time, another one is put off
      override def isBlocked: Boolean =
        assert(known.get(5, TimeUnit.SECONDS).putOff(1, Group()) >= 0)
        false
    val (invitations, threads, place) = putOffAtTheEnd(first)
    known.complete(invitations): Unit
    threads.peek().join(5000)
    assert(!threads.peek().isAlive)
    assertEquals(threads.size, 2)
    assert(invitations.take(place, first), "the second thread has not begun")

  test("two groups that are put off at once start one thread"):
    val started = AtomicInteger()
    val place = CompletableFuture[Int]()
    lazy val invitations: Invitations = Invitations { _ =>
      if started.incrementAndGet() == 1 then
        val other = Thread.startVirtualThread { () =>
          place.complete(invitations.putOff(1, Group())): Unit
        }
        eventually("the other waits for this one")(other.getState == Thread.State.BLOCKED)
    }
    assert(invitations.putOff(0, Group()) >= 0)
    assert(place.get(5, TimeUnit.SECONDS) >= 0)
    assertEquals(started.get, 1)

  test(
    "stress: a thread that ends after each look at nothing forgets no group, and invites for none twice"
  ):
    val invitations = Invitations(nanos = 1, looks = 1)
    val failed = AtomicInteger()
    val builder =
      Thread.ofPlatform().uncaughtExceptionHandler((_, _) => failed.incrementAndGet(): Unit)
    val threads = for home <- 0 until 3 yield builder.start { () =>
      for i <- 1 to 3000 do
        val group = Group()
        val place = invitations.putOff(home, group)
        assert(place >= 0)
        if i % 3 == 0 then await(group.invited)
        else if i % 3 == 1 then
          if !invitations.take(place, group) then await(group.invited)
        else
          Thread.sleep(0, i * 37 % 200_000)
          await(group.invited)
        assert(group.times.get <= 1)
    }
    threads.foreach(_.join())
    assertEquals(failed.get, 0)

  test("where no thread can be started, nothing is put off"):
    val invitations = Invitations(_ => throw OutOfMemoryError("unable to create native thread"))
    val group = Group()
    assertEquals(invitations.putOff(0, group), -1)
    assertEquals(invitations.putOff(0, group), -1)
    assert(!invitations.isLooking)
