package weir.cli.compare

import scala.concurrent.duration.*

import weir.{Outcome, Task}
import weir.cli.Tier
import weir.cli.compare.way.StealingQueues

class StealingQueuesSuite extends munit.FunSuite:
  override def munitTimeout: Duration = 1.minute

  for
    producers <- List(1, 3)
    consumers <- List(1, 2, 5)
    capacity <- List(1, 8)
  do
    test(s"each value once: $producers producers, $consumers consumers, capacity $capacity"):
      val count = Tier(3000, 1_000_000)
      val queues = StealingQueues[Int](consumers, capacity)
      def produce(own: Int) =
        Task.foreach(own until count by producers) { value =>
          queues.offer(value).andThen(if value % 7 == 0 then Task.cede else Task.unit)
        }
      def consume(own: Int, got: List[Int]): Task[List[Int]] = queues.take(own).flatMap {
        case Some(value) if value % 5 == 0 => Task.cede.andThen(consume(own, value :: got))
        case Some(value) => consume(own, value :: got)
        case None => Task.pure(got)
      }
      val all = Task.both(
        Task.parTraverse((0 until producers).toList)(produce).andThen(queues.close),
        Task.parTraverse((0 until consumers).toList)(consume(_, Nil))
      )
      val (_, got) = all.timeout(50.seconds).runSync()
      assertEquals(got.flatten.sorted.toList, (0 until count).toList)

  test("a consumer takes what is in the queue of one that does not take"):
    val queues = StealingQueues[Int](2, 4)
    val all = Task.foreach(1 to 6)(queues.offer).andThen(queues.close)
    all.runSync()
    val got = List.fill(7)(queues.take(0)).map(_.runSync())
    assertEquals(got.flatten.sorted, (1 to 6).toList)
    assertEquals(got.last, None)

  test("a wait that is cancelled loses no value, and no wake-up"):
    for _ <- 1 to Tier(300, 100_000) do
      val queues = StealingQueues[Int](2, 1)
      val cancelled = queues.take(0).start.runSync()
      val other = queues.take(1).start.runSync()
      Task.both(cancelled.cancel, queues.offer(1)).runSync(): Unit
      val first = cancelled.join.runSync()
      first match
        case Outcome.Succeeded(value) => assertEquals(value, Some(1))
        case _ => assertEquals(other.join.timeout(50.seconds).runSync(), Outcome.Succeeded(Some(1)))
      other.cancel.runSync()
