package weir.kafka

import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger, AtomicReference}
import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.kafka.common.TopicPartition
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.{Schedule, Task}

/** Tests a member of a group when others come, go, or cannot be reached. */
class RebalanceSuite extends KafkaSuite:
  private val seed = Tier.seed("weir.kafka.seed")

  /** Looks again and again at what a group has committed, and fails if an offset ever goes back. */
  private final class CommitWatch(group: String):
    private val isOver = AtomicBoolean()
    private val wentBack = AtomicReference[String]()
    private val thread = Thread
      .ofVirtual()
      .start: () =>
        var before = Map.empty[TopicPartition, Long]
        while !isOver.get do
          val now = TestBroker.committed(group).map((partition, at) => (partition, at.offset))
          for (partition, offset) <- now; earlier <- before.get(partition) if offset < earlier do
            wentBack.compareAndSet(null, s"$partition: from $earlier to $offset"): Unit
          before ++= now
          Thread.sleep(2)

    def end(): Unit =
      isOver.set(true)
      thread.join()
      assertEquals(wentBack.get, null)

  for protocol <- GroupProtocol.values do
    test(s"$protocol: a revoke waits for what is in flight, so that nothing is done twice"):
      val (topic, group) = (TestBroker.topic(4), TestBroker.name("group"))
      val count = 400
      TestBroker.fill(topic, count, keys = 40)
      val done = ConcurrentLinkedQueue[Int]()
      def member = KafkaConsumer(WorkerProgram.settings(TestBroker.address, protocol))
        .records(Set(topic), group)
        .parEvalMapByKey(8)(record =>
          Task.sleep(20.millis).map(_ => done.add(record.value.toInt): Unit)
        )
        .drain
      during(member):
        eventually("the first has begun")(!done.isEmpty)
        during(member):
          eventually("all is committed")(TestBroker.committedCount(group, topic) == count)
      assertEquals(done.asScala.toVector.sorted, (0 until count).toVector)

  for (what, fails) <- List("their key" -> false, "their next attempt" -> true) do
    test(s"a revoke does not wait for records that wait for $what"):
      val (topic, group) = (TestBroker.topic(2), TestBroker.name("group"))
      val count = 2000
      TestBroker.write((0 until count).map(n => ProducerRecord(topic, n % 2, "k", n.toString)))
      val settings = WorkerProgram.settings(TestBroker.address, GroupProtocol.Consumer)
      val rarely = Attempts(Int.MaxValue, Schedule.spaced(1.hour))
      val hasBegun = CountDownLatch(2)
      val (done, others) = (ConcurrentLinkedQueue[Int](), ConcurrentLinkedQueue[Int]())
      // One key in each partition: all of one would take 20 seconds.
      val first = KafkaConsumer(settings.copy(revokeDeadline = 3.minutes))
        .records(Set(topic), group)
        .parEvalMapByKey(8, attempts = if fails then rarely else Attempts.once) { record =>
          hasBegun.countDown()
          if fails then Task.fail(RuntimeException("poison"))
          else Task.sleep(20.millis).map(_ => done.add(record.value.toInt): Unit)
        }
      val other = KafkaConsumer(settings)
        .records(Set(topic), group)
        .parEvalMapByKey(8)(record => Task.delay(others.add(record.value.toInt): Unit))
      during(first.drain):
        hasBegun.await()
        during(other.drain):
          eventually(s"the other one has half of a partition", 1.minute)(others.size >= 500)
      val all = (done.asScala ++ others.asScala).toVector
      assertEquals(all.diff(all.distinct), Vector())

  test("a revoke waits no longer than its deadline, and commits what is done by then"):
    val (topic, group) = (TestBroker.topic(2), TestBroker.name("group"))
    TestBroker.write((0 until 20).map(n => ProducerRecord(topic, n % 2, "k", n.toString)))
    val settings = WorkerProgram.settings(TestBroker.address, GroupProtocol.Classic)
    val stuck = CountDownLatch(2)
    // It never ends with the sixth record of a partition.
    val first = KafkaConsumer(settings.copy(revokeDeadline = 300.millis))
      .records(Set(topic), group)
      .parEvalMapByKey(8) { record =>
        if record.offset < 5 then Task.unit
        else Task.delay(stuck.countDown()).andThen(Task.never)
      }
    val second = ConcurrentLinkedQueue[(Int, Long)]()
    during(first.drain):
      stuck.await()
      eventually("the first five are committed")(TestBroker.committedCount(group, topic) == 10)
      val other = KafkaConsumer(settings)
        .records(Set(topic), group)
        .parEvalMapByKey(8)(r => Task.delay(second.add((r.partition, r.offset)): Unit))
      during(other.drain):
        eventually("the other one has the rest of a partition")(second.size == 5)
    assertEquals(second.asScala.map(_._2).toVector, (5L until 10L).toVector)

  for protocol <- GroupProtocol.values if protocol == GroupProtocol.Consumer || Tier.isLong do
    test(s"$protocol: rebalances again and again: nothing is lost, and no commit goes back"):
      val (topic, group) = (TestBroker.topic(6), TestBroker.name("group"))
      val count = Tier(4000, 60_000)
      val keys = 60
      TestBroker.fill(topic, count, keys)
      val done = ConcurrentLinkedQueue[(String, Int)]()
      val rebalances = AtomicInteger()
      val random = java.util.SplittableRandom(seed)
      def member = KafkaConsumer(WorkerProgram.settings(TestBroker.address, protocol))
        .records(Set(topic), group)
        .parEvalMapByKey(WorkerProgram.parallelism) { record =>
          Task
            .sleep((record.offset % 6).millis)
            .map(_ => done.add((record.key, record.value.toInt)): Unit)
        }
        .drain
      val watch = CommitWatch(group)
      def isOver = TestBroker.committedCount(group, topic) == count
      during(member):
        while !isOver do
          rebalances.incrementAndGet()
          during(member)(Thread.sleep(random.nextLong(300, 1300)))
      watch.end()
      val all = done.asScala.toVector
      assertEquals(all.map(_._2).distinct.sorted, (0 until count).toVector, s"seed $seed")
      for (key, values) <- all.groupMap(_._1)(_._2) do
        assertEquals(values.distinct, values.distinct.sorted, s"$key, seed $seed")
      // A revoke waits, so only what a member that ends had in flight is done again.
      val most = rebalances.get * WorkerProgram.parallelism
      assert(all.size - count <= most, s"${all.size - count} done twice, of at most $most")

  test("a member that the network cuts off commits nothing of what it has lost"):
    val (topic, group) = (TestBroker.topic(2), TestBroker.name("group"))
    val count = 600
    TestBroker.fill(topic, count, keys = 20)
    val watch = CommitWatch(group)
    def member(brokers: String, done: ConcurrentLinkedQueue[Int]) =
      val settings = WorkerProgram.settings(brokers, GroupProtocol.Classic)
      val quick = settings.properties ++
        Map("session.timeout.ms" -> "1500", "reconnect.backoff.max.ms" -> "100")
      KafkaConsumer(settings.copy(properties = quick))
        .records(Set(topic), group)
        .parEvalMapByKey(4)(record =>
          Task.sleep(5.millis).map(_ => done.add(record.value.toInt): Unit)
        )
        .drain
    val (cutOff, other) = (ConcurrentLinkedQueue[Int](), ConcurrentLinkedQueue[Int]())
    during(member(TestBroker.proxiedAddress, cutOff)):
      eventually("it has begun")(cutOff.size > 50)
      TestBroker.proxy.cut()
      try
        during(member(TestBroker.address, other)):
          eventually("the other one has taken over")(other.size > 100)
          TestBroker.proxy.mend()
          eventually("all is committed")(TestBroker.committedCount(group, topic) == count)
      finally TestBroker.proxy.mend()
    watch.end()
    val all = cutOff.asScala.toSet ++ other.asScala
    assertEquals(all.toVector.sorted, (0 until count).toVector)

  for protocol <- GroupProtocol.values do
    test(s"$protocol: a member that is cut off when it gets partitions comes back"):
      val (topic, group) = (TestBroker.topic(2), TestBroker.name("group"))
      TestBroker.fill(topic, 20, keys = 20)
      if protocol == GroupProtocol.Consumer then TestBroker.shortenSession(group)
      val settings = WorkerProgram.settings(TestBroker.proxiedAddress, protocol)
      val quick = settings.properties ++
        Option.when(protocol == GroupProtocol.Classic)("session.timeout.ms" -> "900")
      val member = KafkaConsumer(settings.copy(properties = quick))
        .records(Set(topic), group)
        .parEvalMapByKey(4)(_ => Task.unit)
        .drain
      TestBroker.proxy.holding(TcpProxy.offsetFetch): gate =>
        during(member):
          gate.awaitRequest()
          eventually("it has lost its partitions")(TestBroker.members(group) == 0)
          gate.open()
          eventually("all is committed")(TestBroker.committedCount(group, topic) == 20)

  for protocol <- GroupProtocol.values do
    test(s"$protocol: a member whose group is deleted while it is cut off joins again"):
      val (topic, group) = (TestBroker.topic(2), TestBroker.name("group"))
      val count = 200
      TestBroker.fill(topic, count, keys = 20)
      if protocol == GroupProtocol.Consumer then TestBroker.shortenSession(group)
      val session =
        if protocol == GroupProtocol.Consumer then Map.empty
        else Map("session.timeout.ms" -> "900", "heartbeat.interval.ms" -> "200")
      val settings = TestBroker
        .settings(protocol)
        .copy(
          brokers = TestBroker.proxiedAddress,
          properties = Map("reconnect.backoff.max.ms" -> "100") ++ session
        )
      val member = KafkaConsumer(settings)
        .records(Set(topic), group)
        .parEvalMapByKey(4)(_ => Task.sleep(5.millis))
        .drain
      try
        during(member):
          eventually("it has begun")(TestBroker.committedCount(group, topic) > 20)
          TestBroker.proxy.cut()
          eventually("it is out of the group")(TestBroker.members(group) == 0)
          // With its offsets, so all is read again.
          TestBroker.admin.deleteConsumerGroups(java.util.List.of(group)).all.get(): Unit
          TestBroker.proxy.mend()
          eventually("all is committed")(TestBroker.committedCount(group, topic) == count)
      finally TestBroker.proxy.mend()

  test("a network that is cut again and again loses nothing"):
    val (topic, group) = (TestBroker.topic(2), TestBroker.name("group"))
    val count = Tier(600, 10_000)
    TestBroker.fill(topic, count, keys = 20)
    val done = ConcurrentLinkedQueue[Int]()
    val settings = WorkerProgram.settings(TestBroker.proxiedAddress, GroupProtocol.Consumer)
    val member =
      KafkaConsumer(settings.copy(properties = Map("reconnect.backoff.max.ms" -> "100")))
        .records(Set(topic), group)
        .parEvalMapByKey(4)(record =>
          Task.sleep(3.millis).map(_ => done.add(record.value.toInt): Unit)
        )
        .drain
    val random = java.util.SplittableRandom(seed)
    try
      during(member):
        while TestBroker.committedCount(group, topic) < count do
          Thread.sleep(random.nextLong(100, 400))
          TestBroker.proxy.cut()
          Thread.sleep(random.nextLong(50))
          TestBroker.proxy.mend()
          Thread.sleep(random.nextLong(300, 600))
    finally TestBroker.proxy.mend()
    assertEquals(done.asScala.toVector.distinct.sorted, (0 until count).toVector, s"seed $seed")
