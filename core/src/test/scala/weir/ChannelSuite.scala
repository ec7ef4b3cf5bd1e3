package weir

import java.util.concurrent.TimeoutException
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*

class ChannelSuite extends StreamTests:
  private val capacities = List(0, 1, 2, 100, Int.MaxValue)
  private val bounded = List(1, 2, 100)

  private def drain[A](channel: Channel[A]): List[A] =
    Iterator.continually(channel.tryReceive.runSync()).takeWhile(_.isDefined).flatten.toList

  private def canceledBefore(task: Task[Any]): Unit =
    val fiber = Task.uncancelable(poll => Task.canceled.andThen(poll(task))).start
    assertEquals(fiber.flatMap(_.join).runSync(), Outcome.Canceled)

  for capacity <- capacities do
    test(s"values come out in the order in which they went in, capacity $capacity"):
      val channel = Channel.unsafe[Int](capacity)
      val send = Task.foreach(1 to 10_000)(channel.send)
      val receive = Task.traverse(1 to 10_000)(_ => channel.receive)
      assertEquals(Task.both(send, receive).runSync()._2, (1 to 10_000))
      assertEquals(channel.size.runSync(), 0)

    test(s"what was sent before the close is received, then receivers see the end, $capacity"):
      val channel = Channel.unsafe[Int](capacity)
      val sent = (1 to 3).count(channel.trySend(_).runSync())
      assertEquals(sent, math.min(capacity, 3))
      assert(channel.close.runSync())
      assert(!channel.close.runSync())
      assert(!channel.closeWithError(Boom()).runSync())
      assertEquals(channel.closed.runSync(), Some(Channel.Closed.Done))
      for i <- 1 to sent do
        if i == 2 then assertEquals(channel.tryReceive.runSync(), Some(i))
        else assertEquals(channel.receive.runSync(), i)
      assertEquals(channel.receiveOrClosed.runSync(), Channel.Closed.Done)
      for task <- List[Task[Any]](channel.receive, channel.tryReceive) do
        val error = intercept[ChannelClosed](task.runSync())
        assertEquals(error.closed, Channel.Closed.Done)
        assert(error.getMessage.contains("receiveOrClosed"), error.getMessage)

    test(s"a closed channel takes nothing more, capacity $capacity"):
      val channel = Channel.unsafe[Int](capacity)
      channel.close.runSync(): Unit
      assertEquals(channel.sendOrClosed(1).runSync(), Channel.Closed.Done)
      for task <- List[Task[Any]](channel.send(1), channel.trySend(1)) do
        val error = intercept[ChannelClosed](task.runSync())
        assert(error.getMessage.contains("Nothing can be sent after that"), error.getMessage)
      assertEquals(channel.size.runSync(), 0)

    test(s"receivers that wait see the end, capacity $capacity"):
      given WeirRuntime = smallRuntime()
      val channel = Channel.unsafe[Int](capacity)
      val boom = Boom()
      val failing = parked(channel.receive)
      val value = parked(channel.receiveOrClosed)
      val streaming = channel.stream.toList.start.runSync()
      eventually("the stream waits too")(channel.receivers.size == 3)
      assert(channel.closeWithError(boom).runSync())
      failing.join.runSync() match
        case Outcome.Failed(error: ChannelClosed) => assertEquals(error.getCause, boom)
        case other => fail(s"ended with $other")
      assertEquals(value.joinOrFail.runSync(), Channel.Closed.Failed(boom))
      assertEquals(streaming.join.runSync(), Outcome.Failed(boom))

    test(s"the stream ends after the last value, or with the error, capacity $capacity"):
      val boom = Boom()
      for end <- List[Option[Boom]](None, Some(boom)) do
        val channel = Channel.unsafe[Int](capacity)
        val close = end.fold(channel.close)(channel.closeWithError)
        val send = Task.foreach(1 to 1000)(channel.send).andThen(close)
        val got = Task.both(send, seen(channel.stream)).runSync()._2
        assertEquals(got, (1 to 1000).toList ++ end)

  for capacity <- 0 :: bounded do
    test(s"senders that wait are served in the order in which they came, capacity $capacity"):
      given WeirRuntime = smallRuntime()
      val channel = Channel.unsafe[Int](capacity)
      Task.foreach(1 to capacity)(channel.send).runSync()
      assert(!channel.trySend(0).runSync())
      val waiting = (1 to 10).map(i => parked(channel.send(capacity + i)))
      assertEquals(channel.size.runSync(), capacity)
      val all = Task.traverse(1 to capacity + 10)(_ => channel.receive)
      assertEquals(all.runSync(), (1 to capacity + 10))
      for fiber <- waiting do fiber.joinOrFail.runSync()

    test(s"a cancelled send's value is not received, and the next gets its turn, $capacity"):
      given WeirRuntime = smallRuntime()
      val channel = Channel.unsafe[Int](capacity)
      Task.foreach(1 to capacity)(channel.send).runSync()
      val first = parked(channel.send(-1))
      val second = parked(channel.send(capacity + 1))
      first.cancel.runSync()
      assertEquals(first.join.runSync(), Outcome.Canceled)
      assertEquals(channel.receive.runSync(), 1)
      if capacity > 0 then second.joinOrFail.runSync()
      assertEquals(drain(channel), (2 to capacity + 1).toList)
      second.joinOrFail.runSync()
      assertEquals(channel.senders.size, 0)

    test(s"senders that wait fail at the close, and their values are not received, $capacity"):
      given WeirRuntime = smallRuntime()
      val channel = Channel.unsafe[Int](capacity)
      Task.foreach(1 to capacity)(channel.send).runSync()
      val failing = parked(channel.send(-1))
      val value = parked(channel.sendOrClosed(-2))
      val boom = Boom()
      channel.closeWithError(boom).runSync(): Unit
      failing.join.runSync() match
        case Outcome.Failed(error: ChannelClosed) => assertEquals(error.getCause, boom)
        case other => fail(s"ended with $other")
      assertEquals(value.joinOrFail.runSync(), Channel.Closed.Failed(boom))
      val rest = Task.traverse(1 to capacity)(_ => channel.receive).runSync()
      assertEquals(rest, (1 to capacity))
      assertEquals(channel.receiveOrClosed.runSync(), Channel.Closed.Failed(boom))

  test("receivers that wait are served in the order in which they came, by send and trySend"):
    given WeirRuntime = smallRuntime()
    for capacity <- capacities do
      val channel = Channel.unsafe[Int](capacity)
      val receivers = (1 to 20).map(_ => parked(channel.receive))
      for i <- 1 to 20 do
        if i % 2 == 0 then channel.send(i).runSync() else assert(channel.trySend(i).runSync())
      assertEquals(receivers.map(_.joinOrFail.runSync()), 1 to 20)

  test("where no value waits, a sender goes on only once its value is received"):
    given WeirRuntime = smallRuntime()
    val channel = Channel.synchronous[Int].runSync()
    val sender = parked(channel.send(1))
    assertEquals((channel.size.runSync(), channel.senders.size), (0, 1))
    assertEquals(channel.tryReceive.runSync(), Some(1))
    sender.joinOrFail.runSync()
    assertEquals(channel.tryReceive.runSync(), None)

  test("no sender waits at an unbounded channel"):
    val channel = Channel.unbounded[Int].runSync()
    Task.foreach(1 to 100_000)(channel.send).timeout(5.seconds).runSync()
    assertEquals(channel.size.runSync(), 100_000)
    channel.close.runSync(): Unit
    assertEquals(channel.stream.count.runSync(), 100_000L)

  test("a receive cancelled while waiting leaves the next value for the next receiver"):
    given WeirRuntime = smallRuntime()
    for capacity <- capacities do
      val channel = Channel.unsafe[Int](capacity)
      val receivers = (1 to 5).map(_ => parked(channel.receive))
      for i <- List(0, 2, 4) do receivers(i).cancel.runSync()
      assertEquals(channel.receivers.size, 2)
      channel.send(1).runSync()
      channel.send(2).runSync()
      assertEquals(List(1, 3).map(receivers(_).joinOrFail.runSync()), List(1, 2))

  test("cancelled before it begins, receive takes nothing and send sends nothing"):
    val channel = Channel.unsafe[Int](2)
    channel.send(1).runSync()
    canceledBefore(channel.receive)
    canceledBefore(channel.send(2))
    canceledBefore(channel.close)
    assertEquals(drain(channel), List(1))
    assertEquals(channel.closed.runSync(), None)

  test("cancelled after it has ended, receive and send have their effect"):
    val channel = Channel.unsafe[Int](2)
    for task <- List[Task[Any]](channel.send(1), channel.send(2), channel.receive) do
      val fiber = task.start.runSync()
      fiber.join.runSync(): Unit
      fiber.cancel.runSync()
    assertEquals(drain(channel), List(2))

  test("a masked receive goes on through a cancel, until a value comes"):
    given WeirRuntime = smallRuntime()
    val channel = Channel.unsafe[Int](0)
    val got = AtomicInteger()
    val receiver = parked(Task.uncancelable(_ => channel.receive.map(got.set)))
    val cancel = parked(receiver.cancel)
    assertEquals(got.get, 0)
    channel.send(7).runSync()
    cancel.joinOrFail.runSync()
    assertEquals(got.get, 7)

  test("a receive or send that times out takes and sends nothing"):
    val channel = Channel.unsafe[Int](1)
    intercept[TimeoutException](channel.receive.timeout(1.milli).runSync())
    channel.send(1).runSync()
    intercept[TimeoutException](channel.send(2).timeout(1.milli).runSync())
    assertEquals(drain(channel), List(1))

  test("a stream that takes two leaves the rest, and two streams share the values"):
    val channel = Channel.unsafe[Int](10)
    Task.foreach(1 to 10)(channel.send).runSync()
    assertEquals(channel.stream.take(2).toList.runSync(), List(1, 2))
    channel.close.runSync(): Unit
    val both = Task.both(channel.stream.toList, channel.stream.toList).runSync()
    assertEquals((both._1 ++ both._2).sorted, (3 to 10).toList)

  test("null, unit, and the words for an end are values too"):
    val channel = Channel.unsafe[Any](3)
    val values = List(null, (), Channel.Closed.Done)
    Task.foreach(values)(channel.send).runSync()
    channel.close.runSync(): Unit
    assertEquals(channel.stream.toList.runSync(), values)

  test("a channel that grows keeps the order of what it holds"):
    val channel = Channel.unsafe[Int](1000)
    for i <- 1 to 10 do channel.send(i).runSync()
    for i <- 1 to 10 do assertEquals(channel.receive.runSync(), i)
    Task.foreach(1 to 1000)(channel.send).runSync()
    assertEquals(drain(channel), (1 to 1000).toList)

  test("a capacity below 0 is refused with its value and the rule"):
    val error = intercept[IllegalArgumentException](Channel.bounded[Int](-1).runSync())
    assert(
      error.getMessage.contains("Channel.bounded: capacity was -1. It must be at least 0."),
      error.getMessage
    )

  test("a fiber that waits says for what"):
    val channel = Channel.unsafe[Int](2)
    assertEquals(channel.awaitedAs, "Channel.bounded(2), which is empty")
    channel.send(1).runSync()
    channel.send(1).runSync()
    assertEquals(channel.awaitedAs, "Channel.bounded(2), which has 2 values")

  test("a hundred thousand cancelled receives and sends leave nothing behind"):
    given WeirRuntime = smallRuntime()
    val empty = Channel.unsafe[Int](1)
    val full = Channel.unsafe[Int](1)
    full.send(1).runSync()
    def round(task: Task[Any]) =
      val fibers = (1 to 1000).map(_ => task.start.runSync())
      standstill()
      Task.foreach(fibers)(_.cancel).runSync()
    val grown = growth(for _ <- 1 to Tier(20, 50) do
      round(empty.receive)
      round(full.send(2)))
    assert(grown < megabyte, s"grew by $grown bytes")
    assertEquals((empty.receivers.size, full.senders.size), (0, 0))
