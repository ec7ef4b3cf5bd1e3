package weir

import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import scala.util.Random

/** Senders and receivers of several channels, alone and in selects, that are cancelled at random points. */
class ChannelStressSuite extends StressTests:

  for capacity <- List(0, 1, 16) do
    stress(s"cancelled at random points, items in = items out, in order, capacity $capacity") {
      (seed, deadline) => exchange(capacity, seed, deadline)
    }

    stress(s"closed at a random point, what was sent is received, capacity $capacity") {
      (seed, deadline) =>
        val random = Random(seed)
        while deadline.hasTimeLeft() do closing(capacity, random)
    }

  /** Long enough for two to meet on a machine that is busy. */
  private val mostNanos = 200_000

  private case class Item(producer: Int, channel: Int, number: Int)

  private def exchange(capacity: Int, seed: Long, deadline: Deadline): Unit =
    given Runtime = smallRuntime()
    val channels = Vector.fill(3)(Channel.unsafe[Item](capacity))
    val cancels, selected = AtomicInteger()

    final class Producer(id: Int):
      private val random = Random(seed + id)
      // The number of the next item for each channel.
      @volatile var sent: Vector[Int] = channels.map(_ => 0)
      private def item(channel: Int) = Item(id, channel, sent(channel))
      // The whole of it is one wait, whose result is noted in the mask.
      private val one = Task.uncancelable { poll =>
        Task
          .defer {
            val channel = random.nextInt(channels.size)
            if random.nextBoolean() then poll(channels(channel).send(item(channel))).as(channel)
            else
              val order = random.shuffle(channels.indices.toList)
              poll(Channel.select(order.map(i => channels(i).sendClause(item(i)))*)).map { result =>
                selected.incrementAndGet(): Unit
                result.value.channel
              }
          }
          .map(channel => sent = sent.updated(channel, sent(channel) + 1))
      }
      def run(): Unit =
        cancels.addAndGet(
          canceledAtRandom(deadline, Random(seed + 10 + id), mostNanos)(one.forever)
        ): Unit

    final class Consumer(id: Int):
      private val random = Random(seed + 20 + id)
      private val items = List.newBuilder[Item]
      def received: List[Item] = items.synchronized(items.result())
      private val one = Task.uncancelable { poll =>
        Task
          .defer {
            if random.nextBoolean() then poll(channels(random.nextInt(channels.size)).receive)
            else
              val order = random.shuffle(channels)
              poll(Channel.select(order.map(_.receiveClause)*)).map(_.value)
          }
          .map(item => items.synchronized(items.addOne(item)): Unit)
      }
      def run(): Unit =
        cancels.addAndGet(
          canceledAtRandom(deadline, Random(seed + 30 + id), mostNanos)(one.forever)
        ): Unit

    val producers = List.tabulate(2)(Producer(_))
    val consumers = List.tabulate(2)(Consumer(_))
    together(producers.map(p => () => p.run()) ++ consumers.map(c => () => c.run()))

    for channel <- channels do
      assertEquals((channel.receivers.size, channel.senders.size), (0, 0), "who has gone waits")
      channel.close.runSync(): Unit
    val parts = consumers.map(_.received) ++ channels.map(_.stream.toList.runSync())
    for producer <- producers.indices; channel <- channels.indices do
      def numbers(items: List[Item]) =
        items.filter(i => i.producer == producer && i.channel == channel).map(_.number)
      val clue = s"capacity $capacity, producer $producer, channel $channel"
      for part <- parts do assert(numbers(part).sorted == numbers(part), s"out of order: $clue")
      val all = numbers(parts.flatten).sorted
      val expected = List.range(0, producers(producer).sent(channel))
      val lost = expected.diff(all).take(5)
      val twice = all.diff(all.distinct).take(5)
      assert(all == expected, s"$clue: lost $lost, twice $twice, of ${expected.size}")
    assert(cancels.get > 0 && selected.get > 0, s"$cancels cancels, $selected selects")
    standstill()

  private def closing(capacity: Int, random: Random): Unit =
    given Runtime = smallRuntime()
    val channel = Channel.unsafe[Int](capacity)
    val sent, received = AtomicInteger()
    val send = Task.uncancelable { poll =>
      val one =
        if random.nextBoolean() then channel.send(1)
        else Channel.select(channel.sendClause(1))
      poll(one).map(_ => sent.incrementAndGet(): Unit)
    }
    val receive = channel.receive.map(_ => received.incrementAndGet(): Unit)
    val fibers = List.fill(2)(send.forever.start.runSync()) ++
      List.fill(2)(receive.forever.start.runSync())
    val until = System.nanoTime() + random.nextInt(200_000)
    while System.nanoTime() < until do Thread.onSpinWait()
    channel.close.runSync(): Unit
    for fiber <- fibers do
      fiber.join.runSync() match
        case Outcome.Failed(_: ChannelClosed) => ()
        case other => fail(s"ended with $other")
    assertEquals(received.get, sent.get, s"capacity $capacity")
