package weir.bench.child.highload

import java.util.concurrent.ConcurrentLinkedQueue

import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import scala.util.Random

import weir.{Outcome, Task}

class StealingQueuesSuite extends munit.FunSuite:
  override def munitTimeout: Duration = 1.minute

  for
    producers <- List(1, 3)
    consumers <- List(1, 2, 5)
    capacity <- List(1, 8)
    batch <- List(1, 5)
  do
    test(s"each value once: $producers to $consumers, capacity $capacity, batches of $batch"):
      val count = 3000
      val queues = StealingQueues[Int](consumers, capacity, batch)
      def produce(own: Int) =
        Task.foreach((own until count by producers).grouped(batch).toList) { values =>
          queues.offerAll(values).andThen(if values.head % 7 == 0 then Task.cede else Task.unit)
        }
      def consume(own: Int, got: List[Int]): Task[List[Int]] = queues.take(own).flatMap {
        case Seq() => Task.pure(got)
        case taken if taken.head % 5 == 0 => Task.cede.andThen(consume(own, taken ++: got))
        case taken => consume(own, taken ++: got)
      }
      val all = Task.both(
        Task.parTraverse((0 until producers).toList)(produce).andThen(queues.close),
        Task.parTraverse((0 until consumers).toList)(consume(_, Nil))
      )
      val (_, got) = all.timeout(50.seconds).runSync()
      assertEquals(got.flatten.sorted.toList, (0 until count).toList)

  test("a consumer takes what is in the queue of one that does not take"):
    val queues = StealingQueues[Int](2, 4, 4)
    val all = Task.foreach(1 to 8)(value => queues.offerAll(List(value))).andThen(queues.close)
    all.runSync()
    val got = List.fill(5)(queues.take(0)).map(_.runSync().toList)
    assertEquals(got, List(List(1, 3, 5, 7), List(2, 4), List(6), List(8), List()))

  test("a batch makes room for all producers that wait for it"):
    val queues = StealingQueues[Int](1, 3, 3)
    queues.offerAll(List(1, 2, 3)).runSync()
    val blocked =
      Task.traverse(List(4, 5, 6))(value => queues.offerAll(List(value)).start).runSync()
    assertEquals(queues.take(0).runSync().toList, List(1, 2, 3))
    blocked.foreach(_.joinOrFail.timeout(50.seconds).runSync())
    assertEquals(queues.take(0).runSync().sorted.toList, List(4, 5, 6))

  test("a wait that is cancelled loses no value, and no wake-up"):
    for _ <- 1 to 300 do
      val queues = StealingQueues[Int](2, 1, 1)
      val cancelled = queues.take(0).start.runSync()
      val other = queues.take(1).start.runSync()
      Task.both(cancelled.cancel, queues.offerAll(List(1))).runSync(): Unit
      val first = cancelled.join.runSync()
      first match
        case Outcome.Succeeded(value) => assertEquals(value.toList, List(1))
        case _ => assertEquals(other.joinOrFail.timeout(50.seconds).runSync().toList, List(1))
      other.cancel.runSync()

  test("values survive consumers that are cancelled at random"):
    val count = 2000
    val queues = StealingQueues[Int](2, 4, 3)
    val got = ConcurrentLinkedQueue[Int]()
    val random = Random(1)
    // The task is kept under the mask, so that a cancel loses nothing.
    def consume(own: Int): Task[Unit] = Task
      .uncancelable(poll =>
        poll(queues.take(own)).map { taken =>
          taken.foreach(got.add)
          taken.isEmpty
        }
      )
      .flatMap(isEnd => if isEnd then Task.unit else consume(own))
    def cancelling: Task[Unit] = Task.defer {
      val own = random.nextInt(2)
      val victim = consume(own).start
        .flatMap(fiber => Task.cede.replicate(random.nextInt(20)).andThen(fiber.cancel))
      if got.size < count then victim.andThen(cancelling) else Task.unit
    }
    val produced = Task.foreach((0 until count).grouped(5).toList)(queues.offerAll)
    Task.both(produced, cancelling).timeout(50.seconds).runSync(): Unit
    assertEquals(got.asScala.toList.sorted, (0 until count).toList)
