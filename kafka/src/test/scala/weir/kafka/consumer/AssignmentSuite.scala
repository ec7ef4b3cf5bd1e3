package weir.kafka.consumer

import java.util.ArrayList
import java.util.concurrent.atomic.AtomicInteger
import munit.FunSuite
import org.apache.kafka.clients.consumer.ConsumerRecord
import org.apache.kafka.common.TopicPartition
import scala.concurrent.duration.*
import weir.kafka.Tier

/** What the poll thread and the reader of an assignment do at the same time. */
class AssignmentSuite extends FunSuite:
  private val partition = TopicPartition("topic", 0)

  private object Nobody extends Poller:
    def wake(): Unit = ()
    def commitSoon(): Unit = ()
    def unpark(): Unit = ()

  private def assignmentWith(records: Int, limit: Int = 1000, poller: Poller = Nobody) =
    val assignment = Assignment(partition, None, limit, poller)
    if records > 0 then assignment.deliver(recordsFrom(0, records), -1): Unit
    assignment

  private def recordsFrom(from: Long, count: Int) =
    val records = ArrayList[ConsumerRecord[String, String]]()
    for offset <- from until from + count do
      records.add(ConsumerRecord("topic", 0, offset, "k", "v")): Unit
    records

  test("no record is handed out once the poll thread has seen how many are in flight"):
    val random = java.util.SplittableRandom(Tier.seed("weir.kafka.seed"))
    for round <- 1 to Tier(5000, 200_000) do
      val assignment = assignmentWith(1000)
      val handed = AtomicInteger()
      val reader = Thread
        .ofVirtual()
        .start: () =>
          var count = 0
          while count < 1000 && assignment.tryHandOut() do count += 1
          handed.set(count)
      var spins = random.nextInt(300)
      while spins > 0 do
        Thread.onSpinWait()
        spins -= 1
      assignment.close()
      val seen = assignment.inFlight
      reader.join()
      assert(handed.get <= seen, s"round $round: ${handed.get} handed out, $seen seen")
      assertEquals(assignment.inFlight, handed.get.toLong, s"round $round")

  test("a commit is asked for at half of the limit, and again while one is under way"):
    val asked = AtomicInteger()
    val poller = new Poller:
      def wake(): Unit = ()
      def commitSoon(): Unit = asked.incrementAndGet(): Unit
      def unpark(): Unit = ()
    val assignment = assignmentWith(100, limit = 20, poller)
    def done(offsets: Range) =
      for offset <- offsets do
        assert(assignment.tryHandOut())
        assignment.done(offset)
    done(0 until 9)
    assertEquals(asked.get, 0)
    done(9 until 15)
    assertEquals(asked.get, 1)
    val first = assignment.toCommit(4096).get
    done(15 until 20)
    assertEquals(asked.get, 2)
    val second = assignment.toCommit(4096).get
    assignment.hasCommitted(first)
    done(20 until 28) // 13 are in no commit, and it has been asked for 5 of them
    assertEquals(asked.get, 3)
    assignment.hasCommitted(second)
    done(28 until 39)
    assertEquals(asked.get, 3) // the third has not begun

  test("of long records fewer may wait"):
    val assignment = assignmentWith(0)
    def deliver(bytes: Int, from: Long) =
      val records = ArrayList[ConsumerRecord[String, String]]()
      records.add(
        ConsumerRecord(
          "topic",
          0,
          from,
          0L,
          org.apache.kafka.common.record.TimestampType.CREATE_TIME,
          0,
          bytes,
          "k",
          "v",
          org.apache.kafka.common.header.internals.RecordHeaders(),
          java.util.Optional.empty()
        )
      )
      assignment.deliver(records, -1): Unit
    deliver(100, 0)
    assertEquals(assignment.mostBuffered(1000, 1_000_000), 1000L)
    deliver(10_000, 1)
    assertEquals(assignment.mostBuffered(1000, 1_000_000), 100L)
    deliver(10_000_000, 2)
    assertEquals(assignment.mostBuffered(1000, 1_000_000), 1L)

  test("a reader that waits for a commit goes on after it, or ends with the assignment"):
    for closes <- List(false, true) do
      val assignment = assignmentWith(10, limit = 2)
      for offset <- 0 until 2 do
        assert(assignment.tryHandOut())
        assignment.done(offset)
      val commit = assignment.toCommit(4096).get
      var result = Option.empty[Boolean]
      val reader = Thread.ofPlatform().start(() => result = Some(assignment.tryHandOut()))
      awaitWait(reader)
      if closes then assignment.close() else assignment.hasCommitted(commit)
      reader.join()
      assertEquals(result, Some(!closes))

  test("two commits that end in the other order leave no room for more"):
    val assignment = assignmentWith(20, limit = 4)
    def finish(offsets: Range): Unit = offsets.foreach { offset =>
      assert(assignment.tryHandOut())
      assignment.done(offset)
    }
    finish(0 until 2)
    val first = assignment.toCommit(4096).get
    finish(2 until 4)
    val second = assignment.toCommit(4096).get
    assignment.hasCommitted(second)
    assignment.hasCommitted(first)
    finish(4 until 8)
    val reader = Thread.ofPlatform().start(() => assignment.tryHandOut(): Unit)
    awaitWait(reader)
    assignment.close()
    reader.join()

  test("offsets that go back are not taken for what is done"):
    val assignment = assignmentWith(10)
    assertEquals(assignment.deliver(recordsFrom(5, 10), -1), null)

  test("a commit that changes nothing is not made again"):
    val assignment = assignmentWith(10)
    assert(assignment.tryHandOut())
    assignment.done(0)
    assignment.hasCommitted(assignment.toCommit(4096).get)
    assertEquals(assignment.toCommit(4096), None)

  /** Until the thread waits. */
  private def awaitWait(thread: Thread): Unit =
    val deadline = 30.seconds.fromNow
    while thread.getState != Thread.State.WAITING do
      assert(deadline.hasTimeLeft(), s"it does not wait, it is ${thread.getState}")
      Thread.sleep(1)
