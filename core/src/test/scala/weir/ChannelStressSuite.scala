package weir

import java.util.concurrent.atomic.AtomicInteger
import scala.util.Random

/** Channels that are closed while fibers wait at them: all waits must end. `PrimitiveStressSuite`
  * tests waits that are cancelled.
  */
class ChannelStressSuite extends StressTests:

  for capacity <- List(0, 1, 16) do
    stress(s"closed at a random point, what was sent is received, capacity $capacity") {
      (seed, deadline) =>
        val random = Random(seed)
        // One for all rounds: the idle workers of each would stay until the JVM ends.
        given WeirRuntime = smallRuntime()
        while deadline.hasTimeLeft() do closing(capacity, random)
    }

  private def closing(capacity: Int, random: Random)(using WeirRuntime): Unit =
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
