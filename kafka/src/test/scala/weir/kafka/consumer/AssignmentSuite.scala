package weir.kafka.consumer

import java.util.{ArrayList, Optional}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import munit.FunSuite
import org.apache.kafka.clients.consumer.{ConsumerRecord, OffsetAndMetadata}
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.header.internals.RecordHeaders
import org.apache.kafka.common.record.TimestampType
import org.apache.kafka.common.serialization.StringDeserializer
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.kafka.Tier
import weir.{Stream, Task}

/** Tests the poll thread and the reader of an assignment at the same time. */
class AssignmentSuite extends FunSuite:
  private val partition = TopicPartition("topic", 0)

  private class QuietPoller extends Poller:
    def wake(): Unit = ()
    def unpark(): Unit = ()
    def isCurrent: Boolean = true
    def isEnding: Boolean = false

  private def assignmentWith(records: Int, limit: Int = 1000, poller: Poller = QuietPoller()) =
    val assignment = Assignment(partition, None, limit, poller)
    if records > 0 then assignment.deliver(recordsFrom(0, records)): Unit
    assignment

  private def recordsFrom(from: Long, count: Int, leaderEpoch: Int = 0) =
    val records = ArrayList[BytesRecord]()
    for offset <- from until from + count do
      records.add(recordOf(offset, bytes = 1, leaderEpoch)): Unit
    records

  private def recordOf(offset: Long, bytes: Int, leaderEpoch: Int = 0) = ConsumerRecord(
    "topic",
    0,
    offset,
    0L,
    TimestampType.CREATE_TIME,
    0,
    bytes,
    Array('k'.toByte),
    Array('v'.toByte),
    RecordHeaders(),
    Optional.of(Integer.valueOf(leaderEpoch))
  )

  /** Returns the number of records in flight when the poll thread has closed the assignment, after
    * a number of spins.
    */
  private def closedAfter(turns: Int, assignment: Assignment): Long =
    for _ <- 1 to turns do Thread.onSpinWait()
    assignment.close()
    assignment.inFlight

  test("no record is started once the poll thread has seen how many are in flight"):
    val random = java.util.SplittableRandom(Tier.seed("weir.kafka.seed"))
    for round <- 1 to Tier(5000, 200_000) do
      val assignment = assignmentWith(1000)
      val handed = AtomicInteger()
      val reader = Thread
        .ofVirtual()
        .start: () =>
          var count = 0
          while count < 1000 && assignment.tryStart() do count += 1
          handed.set(count)
      val seen = closedAfter(random.nextInt(300), assignment)
      reader.join()
      assert(handed.get <= seen, s"round $round: ${handed.get} handed out, $seen seen")
      assertEquals(assignment.inFlight, handed.get.toLong, s"round $round")

  test("a record that is held back begins and is waited for, or does not begin"):
    val random = java.util.SplittableRandom(Tier.seed("weir.kafka.seed"))
    for round <- 1 to Tier(5000, 200_000) do
      val assignment = assignmentWith(100)
      for offset <- 0 until 100 do
        assert(assignment.tryStart())
        assignment.holdBack(offset)
      assertEquals(assignment.inFlight, 0L)
      val begun = AtomicInteger()
      val worker = Thread
        .ofVirtual()
        .start: () =>
          var offset = 0
          while offset < 100 && assignment.begin(offset) do
            offset += 1
            begun.set(offset)
      val seen = closedAfter(random.nextInt(300), assignment)
      worker.join()
      assertEquals(begun.get.toLong, seen, s"round $round")
      for offset <- 0 until begun.get do
        // Done, or failed and held back for its next attempt
        if offset % 2 == 0 then assignment.done(offset) else assignment.holdBack(offset)
      assertEquals(assignment.inFlight, 0L, s"round $round")

  test("what is done at any time, or held back twice, counts once"):
    val assignment = assignmentWith(5)
    for offset <- 0 until 5 do
      assert(assignment.tryStart())
      assignment.holdBack(offset)
    assert(assignment.begin(0))
    assignment.done(0) // by the task itself, which fails then
    assignment.holdBack(0)
    assignment.done(1) // before its turn
    for offset <- 0 until 2 do assert(assignment.begin(offset))
    assert(assignment.begin(2))
    assignment.holdBack(3)
    for _ <- 1 to 2 do assert(assignment.begin(3))
    assertEquals(assignment.inFlight, 2L)

  test("a record that was done in a run, and is held back then, counts once"):
    val assignment = assignmentWith(5)
    for offset <- 0 until 4 do
      assert(assignment.tryStart())
      assignment.done(offset)
    assignment.holdBack(3)
    assignment.done(2)
    assertEquals((assignment.inFlight, assignment.notCommitted), (0L, 4L))

  test("records that several fibers have done count once each, and are committed only then"):
    val random = java.util.SplittableRandom(Tier.seed("weir.kafka.seed"))
    val count = 300
    for round <- 1 to Tier(300, 20_000) do
      val assignment = assignmentWith(count, limit = Vector(1, 40, 100_000)(round % 3))
      val isDone = java.util.concurrent.atomic.AtomicIntegerArray(count)
      val next, left = AtomicInteger()
      val fibers = 3
      left.set(fibers)
      val workers = Vector.fill(fibers) {
        val (most, twice) = (1 + random.nextInt(30), random.nextInt(4) == 0)
        Thread
          .ofVirtual()
          .start: () =>
            var from = next.getAndAdd(most)
            while from < count do
              for offset <- from until math.min(from + most, count) do
                isDone.set(offset, 1)
                assignment.done(offset)
                if twice then assignment.done(offset)
              from = next.getAndAdd(most)
            left.decrementAndGet(): Unit
      }
      def commit(): Unit = assignment.toCommit(4096).foreach { commit =>
        val end = commit.progress.offset.toInt
        assert((0 until end).forall(isDone.get(_) == 1), s"round $round: $end is committed")
        assignment.hasCommitted(commit)
      }
      while left.get > 0 do commit()
      workers.foreach(_.join())
      commit()
      assertEquals((assignment.prefixEnd, assignment.notCommitted), (count.toLong, 0L))
      assertEquals(assignment.inFlight, -count.toLong, s"round $round") // none was started

  test("the poll thread is woken at half of the limit, and not while more are uncommitted"):
    val woken = AtomicInteger()
    val poller = new QuietPoller:
      override def wake(): Unit = woken.incrementAndGet(): Unit
    val assignment = assignmentWith(100, limit = 20, poller)
    def done(offsets: Range) =
      for offset <- offsets do
        assert(assignment.tryStart())
        assignment.done(offset)
    done(0 until 9)
    assertEquals((woken.get, assignment.wantsCommit), (0, false))
    done(9 until 15)
    assertEquals((woken.get, assignment.wantsCommit), (1, true))
    val first = assignment.toCommit(4096).get
    done(15 until 20)
    assertEquals(woken.get, 1)
    assignment.hasCommitted(first) // it leaves 5
    assert(!assignment.wantsCommit)
    done(20 until 26)
    assertEquals((woken.get, assignment.wantsCommit), (2, true))

  test("a record that was handed out is in flight once it is started"):
    val queue = FairQueue[Chunk]()
    val assignment = assignmentWith(0)
    queue.offer(Chunk(assignment, assignment.deliver(recordsFrom(0, 10))))
    val decoding = Decoding("", StringDeserializer(), StringDeserializer(), isShared = false)
    val chunks = Chunks.failing(queue, decoding, startsThem = false)(fail("it cannot be decoded"))
    val read = Stream.fromSource(Task.delay(chunks)).take(5)
    val records = read.toVector.runSync()
    assertEquals((records.size, assignment.inFlight), (5, 0L))
    assert(assignment.tryStart())
    assertEquals(assignment.inFlight, 1L)
    assignment.close()
    assert(!assignment.tryStart())
    records.head.markDone()
    assertEquals(assignment.inFlight, 0L)

  test("a reader that wakes begins few records before it looks at the clock, and no chunk"):
    val isAsleep = AtomicBoolean()
    val poller = new QuietPoller:
      override def isCurrent: Boolean = !isAsleep.get
    val assignment = assignmentWith(0, limit = 10_000, poller)
    val queue = FairQueue[Chunk]()
    def offer(from: Long) =
      queue.offer(Chunk(assignment, assignment.deliver(recordsFrom(from, 1000))))
    val decoding = Decoding("", StringDeserializer(), StringDeserializer(), isShared = false)
    def chunks = Chunks.failing(queue, decoding)(fail("it cannot be decoded"))

    /** Returns the number of records that begin after the one after which it sleeps. */
    def countAsleep(sleepAfter: Int): Int =
      val begun = AtomicInteger()
      val cancel = Stream
        .fromSource(Task.delay(chunks))
        .evalTap(_ => Task.delay(if begun.incrementAndGet() == sleepAfter then isAsleep.set(true)))
        .drain
        .runAsync(_ => ())
      while !isAsleep.get do Thread.sleep(1)
      Thread.sleep(50) // it may begin more than it should
      val late = begun.get - sleepAfter
      cancel()
      isAsleep.set(false)
      late
    offer(0)
    val late = countAsleep(500)
    assert(late <= ClockLooks.most, s"$late began")
    offer(1000)
    offer(2000)
    assertEquals(countAsleep(1000), 0)

  test("of long records fewer may wait"):
    val assignment = assignmentWith(0)
    def deliver(bytes: Int, from: Long) =
      assignment.deliver(java.util.List.of(recordOf(from, bytes))): Unit
    // 200 bytes more are for the objects of a record.
    deliver(100, 0)
    assertEquals(assignment.mostBuffered(1000, 1_000_000), 1000L)
    deliver(9_800, 1)
    assertEquals(assignment.mostBuffered(1000, 1_000_000), 100L)
    deliver(10_000_000, 2)
    assertEquals(assignment.mostBuffered(1000, 1_000_000), 1L)

  test("a commit has the leader epoch of its offset"):
    val before = OffsetAndMetadata(10, Optional.of(Integer.valueOf(1)), "")
    val assignment = Assignment(partition, Some(before), 1000, QuietPoller())
    assignment.deliver(recordsFrom(10, 5, leaderEpoch = 1)): Unit
    assignment.deliver(recordsFrom(20, 5, leaderEpoch = 3)): Unit
    def commitAfter(done: Iterable[Long]) =
      done.foreach(assignment.done)
      val commit = assignment.toCommit(4096).get
      (commit.progress.offset, commit.leaderEpoch.get.intValue)
    assertEquals(commitAfter(Nil), (10L, 1))
    assertEquals(commitAfter(10L until 14), (14L, 1))
    assertEquals(commitAfter(List(14L)), (20L, 3))
    assertEquals(commitAfter(20L until 25), (25L, 3))
    // The marks of transactions, which another leader has written
    assignment.moveTo(OffsetAndMetadata(27, Optional.of(Integer.valueOf(4)), ""))
    assertEquals(commitAfter(Nil), (27L, 4))

  test("a reader that waits for a commit goes on after it, or ends with the assignment"):
    for closes <- List(false, true) do
      val assignment = assignmentWith(10, limit = 2)
      for offset <- 0 until 2 do
        assert(assignment.tryStart())
        assignment.done(offset)
      val commit = assignment.toCommit(4096).get
      var result = Option.empty[Boolean]
      val reader = Thread.ofPlatform().start(() => result = Some(assignment.tryStart()))
      awaitWait(reader)
      if closes then assignment.close() else assignment.hasCommitted(commit)
      reader.join()
      assertEquals(result, Some(!closes))

  test("two commits that end in the other order leave no room for more"):
    val assignment = assignmentWith(20, limit = 4)
    def finish(offsets: Range): Unit = offsets.foreach { offset =>
      assert(assignment.tryStart())
      assignment.done(offset)
    }
    finish(0 until 2)
    val first = assignment.toCommit(4096).get
    finish(2 until 4)
    val second = assignment.toCommit(4096).get
    assignment.hasCommitted(second)
    assignment.hasCommitted(first)
    finish(4 until 8)
    val reader = Thread.ofPlatform().start(() => assignment.tryStart(): Unit)
    awaitWait(reader)
    assignment.close()
    reader.join()

  test("offsets that go back are not taken for what is done"):
    val assignment = assignmentWith(10)
    assertEquals(assignment.deliver(recordsFrom(5, 10)), null)

  test("offsets before what an earlier owner has committed are not taken for what is done"):
    val map = DoneMap.encode(100, 200, at => if at < 105 then at else Long.MaxValue, 4096)
    val before = OffsetAndMetadata(100, map.text)
    assertEquals(
      Assignment(partition, Some(before), 1000, QuietPoller()).deliver(recordsFrom(0, 150)),
      null
    )
    val here =
      Assignment(partition, Some(before), 1000, QuietPoller()).deliver(recordsFrom(100, 150))
    assertEquals(
      here.asScala.map(_.offset).toVector,
      (100L until 105).toVector ++ (200L until 250)
    )

  test("a commit that changes nothing is not made again"):
    val assignment = assignmentWith(10)
    assert(assignment.tryStart())
    assignment.done(0)
    assignment.hasCommitted(assignment.toCommit(4096).get)
    assertEquals(assignment.toCommit(4096), None)

  /** Until the thread waits. */
  private def awaitWait(thread: Thread): Unit =
    val deadline = 30.seconds.fromNow
    while thread.getState != Thread.State.WAITING do
      assert(deadline.hasTimeLeft(), s"it does not wait, it is ${thread.getState}")
      Thread.sleep(1)
