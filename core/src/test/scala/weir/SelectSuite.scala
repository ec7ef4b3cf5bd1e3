package weir

import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicReference
import weir.fiber.FiberCore
import weir.sync.ChannelWaiter

class SelectSuite extends StreamTests:

  private def channels(capacity: Int): (Channel[Int], Channel[String]) =
    (Channel.unsafe[Int](capacity), Channel.unsafe[String](capacity))

  private def assertNobodyWaits(channels: Channel[?]*): Unit =
    for channel <- channels do assertEquals((channel.receivers.size, channel.senders.size), (0, 0))

  test("the first clause that is ready happens, and the others lose nothing"):
    val (numbers, words) = channels(1)
    numbers.send(1).runSync()
    words.send("one").runSync()
    val select = Channel.select(words.receiveClause, numbers.receiveClause)
    assertEquals(select.runSync(), words.Received("one"))
    assertEquals(select.runSync(), numbers.Received(1))

  test("the result names its clause, with the type of its value"):
    val (numbers, words) = channels(1)
    val out = Channel.unsafe[Int](1)
    words.send("one").runSync()
    val length: Int = Channel
      .select(numbers.receiveClause, words.receiveClause, out.sendClause(3))
      .map {
        case numbers.Received(number) => number
        case words.Received(word) => word.length
        case out.Sent(sent) => -sent
      }
      .runSync()
    assertEquals(length, 3)

  test("two channels of one type are told apart"):
    val left = Channel.unsafe[Int](1)
    val right = Channel.unsafe[Int](1)
    right.send(1).runSync()
    val side = Channel.select(left.receiveClause, right.receiveClause).map {
      case left.Received(_) => "left"
      case right.Received(_) => "right"
    }
    assertEquals(side.runSync(), "right")

  for capacity <- List(0, 1, 2) do
    test(s"a select that waits goes on with the first value that comes, capacity $capacity"):
      given WeirRuntime = smallRuntime()
      val (numbers, words) = channels(capacity)
      val select = parked(Channel.select(numbers.receiveClause, words.receiveClause))
      words.send("one").runSync()
      assertEquals(select.joinOrFail.runSync(), words.Received("one"))
      assertNobodyWaits(numbers, words)

    test(s"a send clause waits for room, and sends once, capacity $capacity"):
      given WeirRuntime = smallRuntime()
      val a, b = Channel.unsafe[Int](capacity)
      Task.foreach(1 to capacity)(i => a.send(i).andThen(b.send(i))).runSync()
      val select = parked(Channel.select(a.sendClause(10), b.sendClause(20)))
      val got = Task.traverse(1 to capacity)(_ => b.receive).runSync()
      assertEquals(got, (1 to capacity))
      if capacity == 0 then assertEquals(b.receive.runSync(), 20)
      assertEquals(select.joinOrFail.runSync(), b.Sent(20))
      if capacity > 0 then assertEquals(b.receive.runSync(), 20)
      assertEquals(a.size.runSync(), capacity)
      assertNobodyWaits(a, b)

    test(s"values sent while no select waits go to no select that has ended, capacity $capacity"):
      given WeirRuntime = smallRuntime()
      val (numbers, words) = channels(capacity)
      val select = parked(Channel.select(numbers.receiveClause, words.receiveClause))
      numbers.send(1).runSync()
      select.joinOrFail.runSync(): Unit
      val send = parked(words.send("one"))
      assertEquals(words.receive.runSync(), "one")
      send.joinOrFail.runSync()

    test(s"a cancelled select leaves all its channels and takes nothing, capacity $capacity"):
      given WeirRuntime = smallRuntime()
      val (numbers, words) = channels(capacity)
      val select = parked(Channel.select(numbers.receiveClause, words.receiveClause))
      assertEquals((numbers.receivers.size, words.receivers.size), (1, 1))
      select.cancel.runSync()
      assertEquals(select.join.runSync(), Outcome.Canceled)
      assertNobodyWaits(numbers, words)

  test("selects wait in line with others at each channel"):
    given WeirRuntime = smallRuntime()
    val (numbers, words) = channels(0)
    val first = parked(numbers.receive)
    val second = parked(Channel.select(words.receiveClause, numbers.receiveClause))
    val third = parked(numbers.receive)
    for i <- 1 to 3 do numbers.send(i).runSync()
    assertEquals(first.joinOrFail.runSync(), 1)
    assertEquals(second.joinOrFail.runSync(), numbers.Received(2))
    assertEquals(third.joinOrFail.runSync(), 3)

  test("a select that sends meets one that receives, whatever the order of their channels"):
    given WeirRuntime = smallRuntime()
    val a, b = Channel.unsafe[Int](0)
    val sender = parked(Channel.select(a.sendClause(1), b.sendClause(2)))
    assertEquals(Channel.select(b.receiveClause, a.receiveClause).runSync(), b.Received(2))
    assertEquals(sender.joinOrFail.runSync(), b.Sent(2))
    val receiver = parked(Channel.select(b.receiveClause, a.receiveClause))
    assertEquals(Channel.select(a.sendClause(3), b.sendClause(4)).runSync(), a.Sent(3))
    assertEquals(receiver.joinOrFail.runSync(), a.Received(3))
    assertNobodyWaits(a, b)

  test("a select does not meet itself"):
    given WeirRuntime = smallRuntime()
    val channel = Channel.unsafe[Int](0)
    val select = parked(Channel.select(channel.sendClause(1), channel.receiveClause))
    assertEquals(channel.receive.runSync(), 1)
    assertEquals(select.joinOrFail.runSync(), channel.Sent(1))
    assertNobodyWaits(channel)

  test("a closed channel fails its clause, or is its value, and values before the end come first"):
    val (numbers, words) = channels(1)
    words.send("one").runSync()
    words.close.runSync(): Unit
    val failing = Channel.select(numbers.receiveClause, words.receiveClause)
    val value = Channel.select(numbers.receiveClause, words.receiveOrClosedClause)
    assertEquals(value.runSync(), words.Received("one"))
    assertEquals(value.runSync(), words.Ended(Channel.Closed.Done))
    assertEquals(intercept[ChannelClosed](failing.runSync()).closed, Channel.Closed.Done)
    intercept[ChannelClosed](Channel.select(words.sendClause("two")).runSync()): Unit
    assertNobodyWaits(numbers, words)

  test("a select that waits sees the close of one of its channels, and leaves the others"):
    given WeirRuntime = smallRuntime()
    val boom = Boom()
    for close <- List[Channel[String] => Task[Any]](_.close, _.closeWithError(boom)) do
      val (numbers, words) = channels(0)
      val failing = parked(Channel.select(numbers.receiveClause, words.receiveClause))
      val value = parked(Channel.select(numbers.receiveClause, words.receiveOrClosedClause))
      val sending = parked(Channel.select(numbers.receiveClause, words.sendClause("no")))
      // A select that sends and one that receives would have been matched.
      assertEquals(failing.join.runSync(), Outcome.Succeeded(words.Received("no")))
      sending.joinOrFail.runSync(): Unit
      val again = parked(Channel.select(numbers.receiveClause, words.receiveClause))
      close(words).runSync(): Unit
      val how = words.closed.runSync().get
      assertEquals(value.joinOrFail.runSync(), words.Ended(how))
      again.join.runSync() match
        case Outcome.Failed(error: ChannelClosed) => assertEquals(error.closed, how)
        case other => fail(s"ended with $other")
      assertNobodyWaits(numbers, words)

  test("cancelled before it begins, a select takes nothing"):
    val (numbers, words) = channels(1)
    numbers.send(1).runSync()
    val select = Channel.select(numbers.receiveClause, words.sendClause("one"))
    val fiber = Task.uncancelable(poll => Task.canceled.andThen(poll(select))).start
    assertEquals(fiber.flatMap(_.join).runSync(), Outcome.Canceled)
    assertEquals((numbers.size.runSync(), words.size.runSync()), (1, 0))

  test("a masked select goes on through a cancel, and its value is not lost"):
    given WeirRuntime = smallRuntime()
    val (numbers, words) = channels(0)
    val got = AtomicReference[Any]()
    val select = Channel.select(numbers.receiveClause, words.receiveClause)
    val fiber = parked(Task.uncancelable(_ => select.map(got.set)))
    val cancel = parked(fiber.cancel)
    words.send("one").runSync()
    cancel.joinOrFail.runSync()
    assertEquals(got.get, words.Received("one"))

  test("trySelect does not wait"):
    val (numbers, words) = channels(1)
    val now = Channel.trySelect(numbers.receiveClause, words.receiveClause)
    assertEquals(now.runSync(), None)
    words.send("one").runSync()
    assertEquals(now.runSync(), Some(words.Received("one")))
    assertEquals(now.runSync(), None)
    assertEquals(Channel.trySelect(numbers.sendClause(1)).runSync(), Some(numbers.Sent(1)))
    assertEquals(Channel.trySelect(numbers.sendClause(1)).runSync(), None)
    numbers.close.runSync(): Unit
    assertEquals(now.runSync(), Some(numbers.Received(1)))
    intercept[ChannelClosed](now.runSync()): Unit

  test("no clause at all is refused with the rule"):
    val error = intercept[IllegalArgumentException](Channel.select())
    assert(error.getMessage.contains("Give it at least one"), error.getMessage)

  test("a fiber that waits in a select says for what"):
    given WeirRuntime = smallRuntime()
    val (numbers, words) = channels(0)
    val fiber = parked(Channel.select(numbers.receiveClause, words.receiveClause))
    val waiting = words.receivers.peek.nn.asInstanceOf[ChannelWaiter].select.nn
    assert(waiting.awaited.nn.awaitedAs.startsWith("Channel.select, for the first of: Channel."))
    fiber.cancel.runSync()

  test("tens of thousands of selects, cancelled or ended elsewhere, leave nothing behind"):
    given WeirRuntime = smallRuntime()
    val (numbers, words) = channels(1)
    val select = Channel.select(numbers.receiveClause, words.receiveClause)
    def round() =
      val fibers = (1 to 1000).map(_ => select.start.runSync())
      eventually("all wait")(words.receivers.size == 1000)
      Task.foreach(1 to 500)(numbers.send).runSync()
      assertEquals((numbers.receivers.size, words.receivers.size), (500, 500))
      Task.foreach(fibers)(_.cancel).runSync()
      assertNobodyWaits(numbers, words)
    val grown = growth(for _ <- 1 to Tier(20, 50) do round())
    assert(grown < megabyte, s"grew by $grown bytes")

  /** Runs `select` and returns its result. `next` is done once `select` has looked at its clauses
    * up to that of `last`.
    */
  private def afterFirstLook(select: Task[Any], last: Channel[?])(next: => Unit): Any =
    val fiber = last.synchronized {
      val fiber = select.start.runSync()
      eventually("it has come to the last channel"):
        fiber match
          case core: FiberCore =>
            val thread = core.runningOn
            thread != null && thread.getState == Thread.State.BLOCKED
      next
      fiber
    }
    fiber.joinOrFail.runSync()

  test("a clause that can happen only after the first look at it is found before the select waits"):
    val first, last = Channel.unsafe[Int](1)
    val select = Channel.select(first.receiveClause, last.receiveClause)
    val result = afterFirstLook(select, last)(assert(first.trySend(1).runSync()))
    assertEquals(result, first.Received(1))
    assertNobodyWaits(first, last)

  test("a select that has waited leaves its other channels where one that looks again meets it"):
    val first, last, other = Channel.unsafe[Int](0)
    val select = Channel.select(first.receiveClause, last.receiveClause)
    val result = afterFirstLook(select, last) {
      Channel.select(first.sendClause(1), other.sendClause(2)).start.runSync(): Unit
      eventually("the other select waits")(!other.senders.isEmpty)
    }
    assertEquals(result, first.Received(1))
    eventually("no sender waits")(other.senders.isEmpty)
    assertNobodyWaits(first, last, other)

  test("a value passes by a receiver that is cancelled, and has not left the line yet"):
    val channel = Channel.unsafe[Int](1)
    val first, second = parked(channel.receive)
    channel.synchronized { // no waiter can leave the line without it
      first match { case core: FiberCore => core.requestCancel() }
      assert(channel.trySend(1).runSync())
    }
    assertEquals(second.joinOrFail.runSync(), 1)
    assertEquals(first.join.runSync(), Outcome.Canceled)

  /** A thread that has the lock of `channel` until `release`. */
  private final class Holds(channel: Channel[?]):
    private val taken, released = CountDownLatch(1)
    private val thread = Thread.ofPlatform().start { () =>
      channel.synchronized { taken.countDown(); released.await() }
    }
    await(taken)
    def release(): Unit =
      released.countDown()
      thread.join()

  /** Waits until `select` waits for a lock, in its first look or while it takes all locks. */
  private def isHeldUp(select: Fiber[Any], again: Boolean): Unit =
    eventually(s"it waits for a lock, in its second look: $again"):
      select match
        case core: FiberCore =>
          val thread = core.runningOn
          thread != null && thread.getState == Thread.State.BLOCKED &&
          thread.getStackTrace.exists(_.getMethodName.contains("lookAgain")) == again

  test("two selects that name the same channels in opposite orders do not wait for each other"):
    val List(a, b, middle, end1, end2) = List.fill(5)(Channel.unsafe[Int](1)): @unchecked
    for channel <- List(a, b, middle, end1, end2) do channel.id: Unit // the order of their locks
    def select(channels: Channel[Int]*) =
      Channel.select(channels.map(_.receiveClause)*).start.runSync()
    val holds1 = Holds(end1)
    val holds2 = Holds(end2)
    val first = select(a, middle, b, end1)
    val second = select(b, a, end2)
    for fiber <- List(first, second) do isHeldUp(fiber, again = false)
    val holdsMiddle = Holds(middle)
    holds1.release()
    isHeldUp(
      first,
      again = true
    ) // with locks in the order of its clauses it would have that of `a`
    holds2.release()
    isHeldUp(second, again = true) // and this one that of `b`
    holdsMiddle.release()
    for i <- 1 to 2 do a.send(i).runSync()
    val received = List(first, second).map(_.joinOrFail.runSync().value)
    assertEquals(received.sorted, List(1, 2))
