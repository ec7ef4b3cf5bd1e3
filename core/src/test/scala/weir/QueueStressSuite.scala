package weir

import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import scala.util.Random

/** Producers and consumers that are cancelled at random points, again and again, and started anew. */
class QueueStressSuite extends StreamTests:
  private val time = Integer.getInteger("weir.stress.seconds", 5).intValue.seconds
  private val seed = Long.unbox(java.lang.Long.getLong("weir.stress.seed", System.nanoTime()))

  override def limit: FiniteDuration = 10.seconds + time

  for capacity <- List(1, 2, 16) do
    test(s"cancelled at random points, items in = items out, in order, capacity $capacity"):
      println(s"QueueStressSuite: -Dweir.stress.seed=$seed")
      try stress(capacity, (time / 3).fromNow)
      catch
        case e: munit.FailException =>
          fail(s"-Dweir.stress.seed=$seed: ${e.getMessage}", e)

  private case class Item(producer: Int, number: Int)

  private def stress(capacity: Int, deadline: Deadline): Unit =
    given runtime: Runtime = smallRuntime()
    val queue = Queue.unsafe[Item](capacity)
    val cancels = AtomicInteger()

    /** Runs `task` for a random while and cancels it, until the deadline. */
    def interrupted(task: Task[Any], random: Random): Unit =
      while deadline.hasTimeLeft() do
        val fiber = task.start.runSync()
        val until = System.nanoTime() + random.nextInt(30_000)
        while System.nanoTime() < until do Thread.onSpinWait()
        fiber.cancel.runSync()
        if fiber.join.runSync() == Outcome.Canceled then cancels.incrementAndGet(): Unit

    final class Producer(id: Int):
      @volatile var sent = 0
      private val one = Task.uncancelable(poll =>
        Task
          .defer(poll(queue.offer(Item(id, sent))))
          .map(_ => sent += 1)
      )
      def run(): Unit = interrupted(one.forever, Random(seed + id))

    final class Consumer(id: Int):
      private val items = List.newBuilder[Item]
      def received: List[Item] = items.synchronized(items.result())
      private val one = Task.uncancelable(poll =>
        poll(queue.take).map(item => items.synchronized(items.addOne(item)))
      )
      def run(): Unit = interrupted(one.forever, Random(seed + 100 + id))

    val producers = List.tabulate(2)(Producer(_))
    val consumers = List.tabulate(2)(Consumer(_))
    val threads = (producers.map(p => () => p.run()) ++ consumers.map(c => () => c.run()))
      .map(run => Thread.ofPlatform().daemon().start(() => run()))
    threads.foreach(_.join())

    val rest = Iterator.continually(queue.tryTake.runSync()).takeWhile(_.isDefined).flatten.toList
    val parts = consumers.map(_.received) :+ rest
    for part <- parts; producer <- producers.indices do
      val numbers = part.filter(_.producer == producer).map(_.number)
      assert(numbers.sorted == numbers, s"out of order, capacity $capacity, producer $producer")
    for (producer, id) <- producers.zipWithIndex do
      val numbers = parts.flatten.filter(_.producer == id).map(_.number).sorted
      val lost = (0 until producer.sent).diff(numbers).take(5)
      val twice = numbers.diff(numbers.distinct).take(5)
      assert(
        numbers == List.range(0, producer.sent),
        s"capacity $capacity, producer $id: lost $lost, twice $twice, ${producer.sent} sent"
      )
    assert(cancels.get > 0 && producers.forall(_.sent > 0), "nothing was tried")
    standstill()
