package weir.kafka.consumer

import java.time.Duration
import java.util.{Map as JMap, Set as JSet}
import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch, TimeUnit}
import java.util.concurrent.atomic.AtomicInteger
import munit.FunSuite
import org.apache.kafka.clients.consumer.{
  CloseOptions,
  CommitFailedException,
  ConsumerGroupMetadata,
  OffsetAndMetadata,
  OffsetCommitCallback,
  RetriableCommitFailedException
}
import org.apache.kafka.common.{KafkaException, TopicPartition}
import org.apache.kafka.common.errors.{
  GroupIdNotFoundException,
  TimeoutException,
  UnknownMemberIdException,
  WakeupException
}
import org.apache.kafka.common.serialization.StringDeserializer
import scala.jdk.CollectionConverters.*
import weir.kafka.{KafkaFailure, StartAt}
import weir.{Stream, Task}

/** Tests the order of the poll thread's calls, with a consumer that fails on request. */
class PollLoopSuite extends FunSuite:
  private val pollTime = Duration.ofMillis(100)

  private def options = PollOptions(
    subscription = Subscription.Topics(Set(PollingConsumer.topic)),
    group = "group",
    startAt = StartAt.committed,
    onAssignmentChange = _ => Task.unit,
    bufferRecords = 1000,
    bufferBytes = 1 << 20,
    fetchBytes = 1000,
    commits = true,
    commitInterval = Duration.ofHours(1),
    uncommittedLimit = 10,
    metadataLimitBytes = 4096,
    revokeDeadline = Duration.ofMinutes(1),
    sleepTime = Duration.ofSeconds(2),
    explain = identity,
    notAssigned = KafkaFailure.notAssigned("nowhere", "group", _),
    reopen = () => throw AssertionError("another client was made")
  )

  private def running[A](
      consumer: PollingConsumer,
      options: PollOptions = options,
      target: ChunkTarget = MergedTarget()
  )(body: PollLoop => A): A =
    val loop = PollLoop(consumer, options, target)
    loop.start()
    try body(loop)
    finally loop.stop()

  /** Reads `count` records of one partition, each of them done at once. Fails where it stops. */
  private def readAll(target: MergedTarget, count: Int): Unit =
    val read = AtomicInteger()
    val reader = Thread
      .ofVirtual()
      .start: () =>
        while read.get < count do
          val chunk = target.queue.take()
          chunk.records.forEach: record =>
            if chunk.assignment.tryStart() then
              chunk.assignment.done(record.offset)
              read.incrementAndGet(): Unit
    assert(reader.join(Duration.ofSeconds(20)), s"the reader waits after ${read.get} of $count")

  private def eventually(what: => String)(condition: => Boolean): Unit =
    val deadline = System.nanoTime() + 20_000_000_000L
    while !condition do
      assert(System.nanoTime() - deadline < 0, what)
      Thread.sleep(1)

  for (how, ends) <- List("fails for a moment" -> false, "is ended by a wake-up" -> true) do
    test(s"a commit that $how is made again, though the interval is long"):
      val consumer = new PollingConsumer(1, 40):
        private var isFirst = true
        override def commitAsync(
            offsets: JMap[TopicPartition, OffsetAndMetadata],
            callback: OffsetCommitCallback
        ): Unit =
          if !isFirst then super.commitAsync(offsets, callback)
          else
            isFirst = false
            if ends then throw WakeupException()
            endLater(offsets, callback, RetriableCommitFailedException("not now"))
      val target = MergedTarget()
      running(consumer, target = target)(_ => readAll(target, 40))

  test("while a commit is under way, polls are short"):
    val consumer = PollingConsumer(1, 200)
    val target = MergedTarget()
    running(consumer, target = target)(_ => readAll(target, 200))
    val under = consumer.polls.asScala.collect { case (time, true) => time }
    assert(under.size >= 10 && under.forall(_.compareTo(pollTime) < 0), s"$under")

  test("a broker that stalls is sent what is done meanwhile, each thing once"):
    val sent = ConcurrentLinkedQueue[Long]()
    val consumer = new PollingConsumer(1, 3):
      override def commitAsync(
          offsets: JMap[TopicPartition, OffsetAndMetadata],
          callback: OffsetCommitCallback
      ): Unit = sent.add(offsets.get(all.head).offset): Unit
    val target = MergedTarget()
    running(consumer, options.copy(commitInterval = Duration.ofMillis(1)), target): _ =>
      val assignment = target.queue.take().assignment
      for offset <- 0 to 2 do
        assert(assignment.tryStart())
        assignment.done(offset)
        eventually(s"$offset is not committed")(sent.contains(offset + 1L))
      val before = consumer.polls.size
      eventually("it does not poll")(consumer.polls.size > before + 1200)
      val found = sent.asScala.toVector // before the commit of the stop
      assertEquals(found.distinct, found)
      assertEquals(found.lastOption, Some(3L))

  test("what transactions commit has no limit"):
    val target = MergedTarget()
    running(PollingConsumer(1, 40), options.copy(commits = false), target)(_ => readAll(target, 40))

  test("a wake-up that ends another call ends the poll after it"):
    var loop: PollLoop | Null = null
    var before = 0
    val consumer = new PollingConsumer(1, 20):
      override def commitAsync(
          offsets: JMap[TopicPartition, OffsetAndMetadata],
          callback: OffsetCommitCallback
      ): Unit =
        if before == 0 then
          loop.wake()
          before = polls.size
          woken.acquire() // as the search for a coordinator would
        super.commitAsync(offsets, callback)
    val target = MergedTarget()
    running(consumer, target = target): running =>
      loop = running
      readAll(target, 20)
    assertEquals(consumer.polls.asScala.toVector(before)._1, Duration.ZERO)

  test("a log that is shorter than what was committed is read from its beginning"):
    val map =
      DoneMap.encode(100, 200, at => if at < 105 then math.max(at, 100) else Long.MaxValue, 99)
    val consumer = new PollingConsumer(1, 150):
      override def committed(
          partitions: JSet[TopicPartition],
          timeout: Duration
      ): JMap[TopicPartition, OffsetAndMetadata] =
        JMap.of(all.head, OffsetAndMetadata(100, map.text))

      /** Kafka's client finds out that the log is shorter. */
      override def seek(partition: TopicPartition, to: OffsetAndMetadata): Unit = seek(partition, 0)
    val target = MergedTarget()
    running(consumer, target = target)(_ => readAll(target, 150))

  test("with transactions a partition begins at what is committed, once that is stable"):
    val isStable = CountDownLatch(1)
    val consumer = new PollingConsumer(1, 40):
      override def committed(
          partitions: JSet[TopicPartition],
          timeout: Duration
      ): JMap[TopicPartition, OffsetAndMetadata] =
        if isStable.getCount > 0 then throw TimeoutException("a transaction is open")
        JMap.of(all.head, OffsetAndMetadata(30))
    val target = MergedTarget()
    running(consumer, options.copy(commits = false), target): _ =>
      eventually("it does not poll")(consumer.polls.size >= 5)
      assertEquals(consumer.paused, consumer.assignment)
      isStable.countDown()
      val offsets = target.queue.take().records.asScala.map(_.offset).toVector
      assertEquals(offsets, (30L until 40).toVector)

  test("during a revoke the group's new generation is known"):
    @volatile var generation = 1
    val consumer = new PollingConsumer(1, 1):
      @annotation.nowarn("cat=deprecation") // there is no other way to make one
      override def groupMetadata(): ConsumerGroupMetadata =
        ConsumerGroupMetadata("group", generation, "member", java.util.Optional.empty)
    val target = MergedTarget()
    running(consumer, options.copy(commits = false), target): loop =>
      val assignment = target.queue.take().assignment
      assert(assignment.tryStart())
      consumer.schedulePollTask: () =>
        generation = 2
        consumer.rebalance(java.util.List.of())
      eventually("no revoke has begun")(assignment.isClosed)
      assertEquals(loop.groupMetadata.generationId, 2)
      assert(assignment.isOwned, "the revoke does not wait")
      assignment.done(0)
      eventually("the revoke does not end")(!assignment.isOwned)

  test("the commit of a revoke is tried again until its deadline"):
    val offsetsCommitted = ConcurrentLinkedQueue[Long]()
    val consumer = new PollingConsumer(1, 1):
      private var tries = 0
      override def commitSync(
          offsets: JMap[TopicPartition, OffsetAndMetadata],
          timeout: Duration
      ): Unit =
        tries += 1
        if tries < 5 then throw TimeoutException("no answer")
        offsetsCommitted.add(offsets.get(all.head).offset): Unit
    val target = MergedTarget()
    running(consumer, target = target): _ =>
      val assignment = target.queue.take().assignment
      assert(assignment.tryStart())
      assignment.done(0)
      consumer.schedulePollTask(() => consumer.rebalance(java.util.List.of()))
      eventually("the revoke does not end")(!assignment.isOwned)
    assertEquals(offsetsCommitted.asScala.toVector, Vector(1L))

  for inFlight <- List(false, true) do
    test(s"a stop during a revoke does not wait for its deadline, in flight: $inFlight"):
      val isAsked = CountDownLatch(1)
      val consumer = new PollingConsumer(2, 1):
        override def commitSync(
            offsets: JMap[TopicPartition, OffsetAndMetadata],
            timeout: Duration
        ): Unit =
          isAsked.countDown()
          Thread.sleep(math.min(timeout.toMillis, 100)) // what wakes it up came before
          throw TimeoutException("no answer")
        override def close(options: CloseOptions): Unit =
          rebalance(java.util.List.of()) // leaving the group revokes
          super.close(options)
      val target = MergedTarget()
      val begun = running(consumer, options.copy(commitInterval = Duration.ofMillis(1)), target):
        _ =>
          val assignments = Vector.fill(2)(target.queue.take().assignment)
          for assignment <- assignments do assert(assignment.tryStart())
          consumer.schedulePollTask: () =>
            // In the poll that revokes: otherwise the interval's commit may have been made before.
            assignments.head.done(0)
            if !inFlight then assignments.last.done(0)
            consumer.rebalance(java.util.List.of(assignments.last.partition))
          isAsked.await()
          System.nanoTime()
      val took = Duration.ofNanos(System.nanoTime() - begun)
      assert(took.toSeconds < 20, s"$took") // three for all commits together

  test("a partition begins once it is known what was committed, and the others go on meanwhile"):
    val map = DoneMap.encode(0, 30, at => if at < 1 then at else Long.MaxValue, 99)
    val isRead = CountDownLatch(1)
    val consumer = new PollingConsumer(1, 40):
      override def committed(
          partitions: JSet[TopicPartition],
          timeout: Duration
      ): JMap[TopicPartition, OffsetAndMetadata] =
        if isRead.getCount > 0 then throw TimeoutException("no answer")
        JMap.of(all.head, OffsetAndMetadata(0, map.text))
    val target = MergedTarget()
    running(consumer, target = target): _ =>
      eventually("it does not poll")(consumer.polls.size >= 5)
      assertEquals(consumer.paused, consumer.assignment)
      isRead.countDown()
      val offsets = target.queue.take().records.asScala.map(_.offset).toVector
      assertEquals(offsets, 0L +: (30L until 40).toVector)
      assert(consumer.paused.isEmpty)

  test("a log that was cut is read again from what is undone"):
    val commits = ConcurrentLinkedQueue[(Long, String)]()
    val consumer = new PollingConsumer(1, 10):
      override def commitAsync(
          offsets: JMap[TopicPartition, OffsetAndMetadata],
          callback: OffsetCommitCallback
      ): Unit =
        val commit = offsets.get(all.head)
        commits.add((commit.offset, commit.metadata))
        super.commitAsync(offsets, callback)
    val target = MergedTarget()
    def offsetsOf(chunk: Chunk) = chunk.records.asScala.map(_.offset).toVector
    running(consumer, options.copy(commitInterval = Duration.ofMillis(1)), target): _ =>
      val first = target.queue.take()
      for offset <- List(0, 1, 3) do
        assert(first.assignment.tryStart())
        first.assignment.done(offset)
      eventually("no map is committed")(commits.asScala.exists((at, map) => at == 2 && map != ""))
      consumer.schedulePollTask: () =>
        // The client goes to where the logs differ, and reads what is there now.
        consumer.seek(consumer.all.head, 7)
        consumer.add(7 until 9)
      eventually("the old assignment stays")(first.assignment.isClosed)
      // Should the partition go now, the map that was committed says nothing of what comes.
      eventually("the map stays committed")(commits.asScala.lastOption.contains((2L, "")))
      consumer.schedulePollTask(() => consumer.add(2 until 9))
      val second = target.queue.take()
      assertEquals(offsetsOf(second), (2L until 9).toVector)
      val undone = (2 until 9).map(_.toLong)
      for _ <- undone do assert(second.assignment.tryStart())
      undone.foreach(second.assignment.done)
      eventually("what was read again is not committed"):
        commits.asScala.lastOption.contains((9L, ""))

  for error <- List(UnknownMemberIdException("gone"), TimeoutException("no answer")) do
    test(s"a poll that fails for a moment is made again: ${error.getClass.getSimpleName}"):
      val consumer = PollingConsumer(1, 20)
      consumer.schedulePollTask(() => throw error)
      consumer.schedulePollTask(() => consumer.add(20 until 40))
      val target = MergedTarget()
      running(consumer, target = target)(_ => readAll(target, 40))

  test("after the brokers have forgotten the group, another client joins it"):
    val (first, second) = (PollingConsumer(1, 20), PollingConsumer(1, 30))
    first.schedulePollTask(() => throw GroupIdNotFoundException("gone"))
    val target = MergedTarget()
    val soon = options.copy(reopen = () => second, joinTime = Duration.ofMillis(300))
    running(first, soon, target): _ =>
      val lost = target.queue.take().assignment
      eventually("its partitions stay")(!lost.isOwned)
      assert(!first.closed, "it joins at once")
      readAll(target, 30)
      assert(first.closed)

  test("a member that has not joined fails if there is no such group"):
    val consumer = new PollingConsumer(1, 20):
      @annotation.nowarn("cat=deprecation") // there is no other way to make one
      override def groupMetadata(): ConsumerGroupMetadata =
        ConsumerGroupMetadata("group", -1, "", java.util.Optional.empty)
    consumer.schedulePollTask(() => throw GroupIdNotFoundException("of another kind"))
    val target = MergedTarget()
    running(consumer, target = target): loop =>
      eventually("it goes on")(loop.isEnding)
      readAll(target, 20)
      assertEquals(
        intercept[GroupIdNotFoundException](target.queue.take()).getMessage,
        "of another kind"
      )

  test("after an error of a poll, what was polled before it is handed out and committed"):
    val offsetsCommitted = ConcurrentLinkedQueue[Long]()
    val consumer = new PollingConsumer(1, 20):
      override def commitSync(
          offsets: JMap[TopicPartition, OffsetAndMetadata],
          timeout: Duration
      ): Unit = offsetsCommitted.add(offsets.get(all.head).offset): Unit
    val isRefused = CountDownLatch(2)
    def refuse(): Unit =
      consumer.schedulePollTask: () =>
        isRefused.countDown()
        refuse()
        throw KafkaException("no longer allowed")
    refuse()
    val target = MergedTarget()
    running(consumer, target = target): loop =>
      isRefused.await()
      assert(loop.isEnding)
      readAll(target, 20)
      assertEquals(
        intercept[KafkaException](target.queue.take()).getMessage,
        "no longer allowed"
      )
      assert(!consumer.closed)
    assertEquals(offsetsCommitted.asScala.lastOption, Some(20L))

  test("after a sleep nothing begins until the group has taken a commit"):
    val (isAsleep, isAwake, isMember) = (CountDownLatch(1), CountDownLatch(1), CountDownLatch(1))
    val tries = AtomicInteger()
    val consumer = new PollingConsumer(1, 20):
      override def commitSync(
          offsets: JMap[TopicPartition, OffsetAndMetadata],
          timeout: Duration
      ): Unit =
        tries.incrementAndGet()
        if isMember.getCount > 0 then throw CommitFailedException()
    val target = MergedTarget()
    running(consumer, options.copy(sleepTime = Duration.ofMillis(300)), target): loop =>
      val assignment = target.queue.take().assignment
      assert(assignment.tryStart())
      assignment.holdBack(0)
      consumer.schedulePollTask: () =>
        isAsleep.countDown()
        isAwake.await()
      isAsleep.await()
      eventually("it is not asleep")(!loop.isCurrent)
      val begun = ConcurrentLinkedQueue[String]()
      val starting = Thread
        .ofVirtual()
        .start: () =>
          if assignment.tryStart() then begun.add("next"): Unit
      val beginning = Thread
        .ofVirtual()
        .start: () =>
          if assignment.begin(0) then begun.add("held back"): Unit
      isAwake.countDown()
      eventually("the group is not asked")(tries.get >= 3)
      assertEquals(begun.asScala.toList, Nil)
      isMember.countDown()
      starting.join()
      beginning.join()
      assertEquals(begun.asScala.toSet, Set("next", "held back"))

  test("a callback that takes its time is no sleep"):
    val isAsked = CountDownLatch(1)
    val consumer = new PollingConsumer(2, 20):
      override def commitSync(
          offsets: JMap[TopicPartition, OffsetAndMetadata],
          timeout: Duration
      ): Unit =
        isAsked.countDown()
        Thread.sleep(500)
    val target = MergedTarget()
    val quick = options.copy(sleepTime = Duration.ofMillis(300))
    running(consumer, quick, target): loop =>
      val Vector(stays, goes) = Vector.fill(2)(target.queue.take().assignment): @unchecked
      consumer.schedulePollTask: () =>
        consumer.rebalance(java.util.List.of(stays.partition))
      isAsked.await()
      assert(loop.isCurrent)
      eventually("the revoke does not end")(!goes.isOwned)
      assert(stays.tryStart())

  test("an error of the consumer is that of the streams of the partitions"):
    val isClosed = CountDownLatch(1)
    val consumer = new PollingConsumer(1, 1):
      override def close(options: CloseOptions): Unit =
        rebalance(java.util.List.of()) // leaving the group revokes
        super.close(options)
        isClosed.countDown()
    consumer.schedulePollTask(() => throw KafkaException("broken"))
    val decoding = Decoding("", StringDeserializer(), StringDeserializer(), isShared = true)
    val target = PartitionStreams(decoding)
    running(consumer, target = target): _ =>
      val read = Stream.fromSource(Task.delay(target)).take(1).evalMap(_.records.drain).drain
      assertEquals(intercept[KafkaException](read.runSync()).getMessage, "broken")
    isClosed.await()

  test("a stop while it is asked what was committed waits for no answer"):
    val isAsked = CountDownLatch(1)
    val consumer = new PollingConsumer(1, 1):
      override def committed(
          partitions: JSet[TopicPartition],
          timeout: Duration
      ): JMap[TopicPartition, OffsetAndMetadata] =
        isAsked.countDown()
        if woken.tryAcquire(timeout.toNanos, TimeUnit.NANOSECONDS) then throw WakeupException()
        throw TimeoutException("no answer")
    val begun = running(consumer): _ =>
      isAsked.await()
      System.nanoTime()
    val took = Duration.ofNanos(System.nanoTime() - begun)
    assert(took.toMillis < 3000, s"$took")

  test("long polls are handed out in pieces, those of the partitions in turns"):
    val target = MergedTarget()
    running(PollingConsumer(2, 1200), options.copy(bufferRecords = 10_000), target): _ =>
      val chunks = Vector.fill(6)(target.queue.take())
      val pieces = chunks.map: chunk =>
        (chunk.assignment.partition.partition, chunk.records.get(0).offset, chunk.records.size)
      assertEquals(
        pieces.map(_.tail),
        Vector(0L -> 500, 0L -> 500, 500L -> 500, 500L -> 500) ++
          Vector(1000L -> 200, 1000L -> 200)
      )
      for turn <- pieces.grouped(2) do assertEquals(turn.map(_.head).toSet, Set(0, 1))

  test("the partitions share the bytes that may wait"):
    // Two fetches are the client's.
    // 200 bytes for each of the 30 records of a partition: 6,000 of it, 24,000 of four.
    for (partitions, isPaused) <- List(1 -> false, 4 -> true) do
      val consumer = PollingConsumer(partitions, 30)
      val target = MergedTarget()
      running(consumer, options.copy(bufferBytes = 9000), target): loop =>
        for _ <- 1 to partitions do target.queue.take(): Unit
        val before = consumer.polls.size
        loop.wake()
        eventually("it does not poll")(consumer.polls.size >= before + 2)
        assertEquals(consumer.paused.asScala.toSet, if isPaused then consumer.all.toSet else Set())
