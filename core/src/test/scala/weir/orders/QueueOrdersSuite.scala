package weir.orders

import weir.orders.OrdersSuite.{Kept, together}
import weir.{Channel, ChannelClosed, Queue, Task}

/** Queues and channels in every order: each value that goes in comes out once, even if waits are
  * cancelled.
  */
class QueueOrdersSuite extends OrdersSuite:
  private val inQueue = Seq("weir.Queue", "weir.sync.Guarded", "weir.fiber.WaitList")
  private val inChannel = Seq("weir.Channel", "weir.sync.", "weir.fiber.WaitList")

  private val queues = List(
    "a synchronous queue" -> Queue.synchronous[Int],
    "a queue of 1" -> Queue.bounded[Int](1),
    "a queue of 2" -> Queue.bounded[Int](2)
  )

  for (name, make) <- queues do
    orders(s"$name: two values reach two takers, in order for one of them")(inQueue*) {
      for
        queue <- make
        two = queue.take.flatMap(a => queue.take.map(b => assertEquals((a, b), (1, 2))))
        _ <- together(queue.offer(1).andThen(queue.offer(2)), two)
        left <- queue.tryTake
      yield assertEquals(left, None)
    }

    orders(s"$name: a value is with its taker, or with the next one, where that is cancelled")(
      inQueue*
    ) {
      for
        queue <- make
        first <- Kept.start(queue.take)
        second <- Kept.start(queue.take)
        _ <- together(queue.offer(1), first.cancel)
        taken <- first.get
        _ <- Task.when(taken.nonEmpty)(queue.offer(2))
        last <- second.get
        left <- queue.tryTake
      yield
        assertEquals(last, Some(if taken.isEmpty then 1 else 2))
        assertEquals(left, None)
    }

    orders(s"$name: an offer that is cancelled is in the queue, or has never been")(inQueue*) {
      for
        queue <- make
        first <- Kept.start(queue.offer(1))
        second <- Kept.start(queue.offer(2))
        _ <- together(first.cancel, queue.take.map(n => assert(n == 1 || n == 2)))
        isIn <- first.get
        rest <- queue.tryTake
        _ <- second.cancel
        isSecondIn <- second.get
        end <- queue.takeAll
      yield
        val out = 1 + rest.size + end.size
        assertEquals(out, isIn.size + isSecondIn.size)
    }

  orders("takeBetween puts back what it has when it is cancelled")(inQueue*) {
    for
      queue <- Queue.bounded[Int](2)
      taker <- Kept.start(queue.takeN(2))
      _ <- together(queue.offer(1), taker.cancel)
      taken <- taker.get
      left <- queue.takeAll
    yield assertEquals(taken.toList.flatten ++ left, List(1))
  }

  orders("a sliding queue keeps the last value")(inQueue*) {
    for
      queue <- Queue.sliding[Int](1)
      _ <- together(queue.offer(1), queue.offer(2))
      left <- queue.takeAll
    yield assertEquals(left.size, 1)
  }

  for capacity <- List(0, 1) do
    orders(s"a channel of $capacity: what was sent before the close is received")(inChannel*) {
      for
        channel <- Channel.bounded[Int](capacity)
        sender <- Kept.start(channel.sendOrClosed(1))
        closer <- Kept.start(channel.close)
        got <- channel.stream.toList
        sent <- sender.get
        _ <- closer.get
      yield assertEquals(got, if sent.contains(()) then List(1) else Nil)
    }

    orders(s"a channel of $capacity: a value is received once, beside a cancel and a close")(
      inChannel*
    ) {
      for
        channel <- Channel.bounded[Int](capacity)
        sender <- Kept.start(channel.sendOrClosed(1))
        receiver <- Kept.start(channel.receiveOrClosed)
        _ <- together(receiver.cancel, channel.close)
        received <- receiver.get
        sent <- sender.get
        left <- channel.receiveOrClosed
      yield
        val values = List(received, Some(left)).flatten.collect { case n: Int => n }
        assertEquals(values, if sent.contains(()) then List(1) else Nil)
    }

  orders("a select takes from one of two channels, and loses nothing of the other")(inChannel*) {
    for
      a <- Channel.bounded[Int](1)
      b <- Channel.bounded[Int](1)
      selected <- Kept.start(
        Channel.select(a.receiveClause, b.receiveClause).map {
          case a.Received(n) => n
          case b.Received(n) => n
        }
      )
      _ <- together(a.send(1), b.send(2))
      one <- selected.get
      leftOfA <- a.tryReceive
      leftOfB <- b.tryReceive
    yield assertEquals((one.toList ++ leftOfA ++ leftOfB).sorted, List(1, 2))
  }

  orders("a select sees a value that comes as it begins to wait")(inChannel*) {
    for
      a <- Channel.bounded[Int](1)
      b <- Channel.bounded[Int](1)
      selected <- Kept.start(Channel.select(a.receiveClause, b.receiveClause))
      _ <- b.send(2)
      one <- selected.get
    yield assertEquals(one, Some(b.Received(2)))
  }

  orders("a select that is cancelled loses no value")(inChannel*) {
    for
      a <- Channel.bounded[Int](0)
      b <- Channel.bounded[Int](1)
      selected <- Kept.start(Channel.select(a.receiveClause, b.receiveClause))
      _ <- together(b.send(2), selected.cancel)
      one <- selected.get
      left <- b.tryReceive
    yield assertEquals(one.size + left.size, 1)
  }

  orders("a sender that waits fails when the channel is closed, or its value is received")(
    inChannel*
  ) {
    for
      channel <- Channel.bounded[Int](0)
      sender <- Kept.start(channel.send(1).attempt)
      receiver <- Kept.start(channel.receive.attempt)
      _ <- channel.close
      sent <- sender.get
      received <- receiver.get
    yield
      assertEquals(sent.get.isRight, received.get.isRight)
      for error <- sent.get.left.toOption do assert(error.isInstanceOf[ChannelClosed])
  }
