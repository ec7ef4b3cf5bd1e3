package weir.kafka

import java.time.Instant
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicInteger
import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.kafka.common.TopicPartition
import scala.jdk.CollectionConverters.*
import weir.Task

/** Tests where a member begins, which partitions it reads, and what it is told of them. */
class StartAtSuite extends KafkaSuite:
  private val protocols =
    GroupProtocol.values.filter(protocol => protocol == GroupProtocol.Consumer || Tier.isLong)

  /** Two partitions with 100 records each; the value says the partition and the offset, and the
    * record at offset n was written n seconds after 1970.
    */
  private def filled(): String =
    val topic = TestBroker.topic(2)
    TestBroker.write(
      for partition <- 0 to 1; offset <- 0 to 99
      yield ProducerRecord(topic, partition, offset * 1000L, "k", s"$partition-$offset")
    )
    topic

  private def settings(startAt: StartAt, protocol: GroupProtocol = GroupProtocol.Consumer) =
    TestBroker.settings(protocol).copy(startAt = startAt)

  /** Reads `count` records, all of which are done, and returns the first offset of each partition.
    */
  private def firsts(
      settings: ConsumerSettings[String, String],
      topic: String,
      group: String,
      count: Int
  ): Map[Int, Long] =
    val read = KafkaConsumer(settings).records(Set(topic), group).evalTap(_.done).take(count)
    read.toVector.runSync().groupMapReduce(_.partition)(_.offset)(math.min)

  for protocol <- protocols do
    test(s"$protocol: a group without a commit begins at the position, one with a commit does not"):
      val (topic, group) = (filled(), TestBroker.name("group"))
      val at = Map(
        TopicPartition(topic, 0) -> Position.Offset(90),
        TopicPartition(topic, 1) -> Position.Time(Instant.ofEpochSecond(95))
      )
      val first = settings(StartAt.each(at), protocol)
      assertEquals(firsts(first, topic, group, 15), Map(0 -> 90L, 1 -> 95L))
      TestBroker.write((0 to 1).map(ProducerRecord(topic, _, "k", "new")))
      val again = settings(StartAt(Position.Earliest), protocol)
      assertEquals(firsts(again, topic, group, 2), Map(0 -> 100L, 1 -> 100L))

  test("a group that begins at the end does not skip what arrives before its next start"):
    val (topic, group) = (filled(), TestBroker.name("group"))
    val latest = settings(StartAt(Position.Latest))
    during(KafkaConsumer(latest).records(Set(topic), group).drain):
      eventually("the end is committed")(TestBroker.committedCount(group, topic) == 200)
    TestBroker.write((0 to 1).map(ProducerRecord(topic, _, "k", "new")))
    assertEquals(firsts(latest, topic, group, 2), Map(0 -> 100L, 1 -> 100L))

  test("always: each run begins at the position, and a partition that comes back at its commit"):
    val (topic, group) = (filled(), TestBroker.name("group"))
    val always = settings(StartAt(Position.Offset(60)).always)
    for _ <- 1 to 2 do assertEquals(firsts(always, topic, group, 80), Map(0 -> 60L, 1 -> 60L))
    val offsets = ConcurrentLinkedQueue[Long]()
    val read = KafkaConsumer(always)
      .records(Set(topic), group)
      .evalTap(r => Task.delay(offsets.add(r.offset): Unit).andThen(r.done))
    during(read.drain):
      eventually("all are read")(offsets.size == 80)
      val other = KafkaConsumer(settings(StartAt.committed)).records(Set(topic), group)
      during(other.drain)(eventually("there are two")(TestBroker.members(group) == 2))
      eventually("the other one has left")(TestBroker.members(group) == 1)
      TestBroker.write((0 to 1).map(ProducerRecord(topic, _, "k", "new")))
      eventually("the new ones are read")(offsets.asScala.count(_ == 100) == 2)
    assertEquals(offsets.size, 82)

  test("offsets that are kept elsewhere decide, whatever the group has committed"):
    val (topic, group) = (filled(), TestBroker.name("group"))
    assertEquals(firsts(settings(StartAt.committed), topic, group, 200).size, 2)
    val kept = StartAt.kept(partitions =>
      Task(
        partitions.map(partition => partition -> Position.Offset(50L + partition.partition)).toMap
      )
    )
    assertEquals(firsts(settings(kept), topic, group, 99), Map(0 -> 50L, 1 -> 51L))

  test("offsets that cannot be loaded fail the stream"):
    val (topic, group) = (filled(), TestBroker.name("group"))
    val broken = settings(StartAt.kept(_ => Task.fail(RuntimeException("no database"))))
    val error =
      intercept[RuntimeException](KafkaConsumer(broken).records(Set(topic), group).drain.runSync())
    assertEquals(error.getMessage, "no database")

  test("ExactlyOnce begins at the position too"):
    val (topic, results) = (filled(), TestBroker.topic(1))
    val id = TestBroker.name("start")
    ExactlyOnce(settings(StartAt(Position.Offset(95))), TestBroker.producerSettings, id)
      .run(Set(topic), TestBroker.name("group"), parallelism = 4)(r =>
        Task.pure(List(ProducerRecord(results, r.key, r.value)))
      )
      .scan(0)(_ + _)
      .takeThrough(_ < 10)
      .drain
      .runSync()
    val expected = for partition <- 0 to 1; offset <- 95 to 99 yield s"$partition-$offset"
    assertEquals(TestBroker.readAll(results).map(_._2).toSet, expected.toSet)

  for protocol <- protocols do
    test(s"$protocol: a pattern has the topics that match it, also those that come later"):
      val (prefix, group) = (TestBroker.name("pattern"), TestBroker.name("group"))
      def create(name: String): Unit =
        val topic = org.apache.kafka.clients.admin.NewTopic(name, 1, 1: Short)
        TestBroker.admin.createTopics(java.util.List.of(topic)).all.get(): Unit
        TestBroker.write(List(ProducerRecord(name, "k", name)))
      List(s"$prefix-1", s"other-$prefix-1").foreach(create)
      val refreshed =
        settings(StartAt.committed, protocol).copy(properties = Map("metadata.max.age.ms" -> "200"))
      val seen = ConcurrentLinkedQueue[String]()
      val read = KafkaConsumer(refreshed)
        .records(s"$prefix-.*".r, group)
        .evalTap(r => Task.delay(seen.add(r.value): Unit).andThen(r.done))
      during(read.drain):
        eventually("the first is read")(seen.contains(s"$prefix-1"))
        create(s"$prefix-2")
        eventually("the second is read")(seen.contains(s"$prefix-2"))
      assertEquals(seen.asScala.toList, List(s"$prefix-1", s"$prefix-2"))

  for protocol <- protocols do
    test(
      s"$protocol: a member is told of its partitions before it reads and after it has committed"
    ):
      val (topic, group) = (filled(), TestBroker.name("group"))
      val changes = ConcurrentLinkedQueue[(AssignmentChange, Int, Long)]()
      val read = AtomicInteger()
      val told = TestBroker
        .settings(protocol)
        .copy(onAssignmentChange =
          change =>
            Task(
              changes.add((change, read.get, TestBroker.committedCount(group, topic))): Unit
            )
        )
      val both = Set(0, 1).map(TopicPartition(topic, _))
      KafkaConsumer(told)
        .records(Set(topic), group)
        .evalTap(r => Task.delay(read.incrementAndGet()).andThen(r.done))
        .take(200)
        .drain
        .runSync()
      assertEquals(
        changes.asScala.toList,
        List((AssignmentChange.Assigned(both), 0, 0L), (AssignmentChange.Revoked(both), 200, 200L))
      )

  test("a task for a change that fails is the error of the stream"):
    val (topic, group) = (filled(), TestBroker.name("group"))
    val failing = TestBroker
      .settings()
      .copy(onAssignmentChange = _ => Task.fail(RuntimeException("no state")))
    val error =
      intercept[RuntimeException](KafkaConsumer(failing).records(Set(topic), group).drain.runSync())
    assertEquals(error.getMessage, "no state")

  for protocol <- protocols do
    test(s"$protocol: a task that fails for the revoke of the end fails a stream that has ended"):
      val (topic, group) = (filled(), TestBroker.name("group"))
      val failing = TestBroker
        .settings(protocol)
        .copy(onAssignmentChange = {
          case AssignmentChange.Revoked(_) => Task.fail(RuntimeException("not stored"))
          case _ => Task.unit
        })
      val read = KafkaConsumer(failing).records(Set(topic), group).evalTap(_.done).take(200)
      val error = intercept[RuntimeException](read.drain.runSync())
      assertEquals(error.getMessage, "not stored")
      assertEquals(TestBroker.committedCount(group, topic), 200L)

  for protocol <- protocols do
    test(s"$protocol: partitions without a group are read from their positions, and not committed"):
      val topic = filled()
      val from: Map[TopicPartition, Position] = Map(
        TopicPartition(topic, 0) -> Position.Offset(70),
        TopicPartition(topic, 1) -> Position.Earliest
      )
      val read = KafkaConsumer(TestBroker.settings(protocol)).recordsOf(from)
      val (first, second) = Task
        .both(
          read.take(130).toVector,
          read.parEvalMapByKey(4)(Task.pure).take(130).toVector
        )
        .runSync()
      for all <- List(first, second) do
        assertEquals(
          all.groupMap(_.partition)(_.offset),
          Map(0 -> (70L to 99L).toVector, 1 -> (0L to 99L).toVector)
        )

  test("a partition that does not exist is one clear error"):
    val topic = TestBroker.topic(2)
    val read = KafkaConsumer(TestBroker.settings())
      .recordsOf(Map(TopicPartition(topic, 2) -> Position.Latest))
    val error = intercept[KafkaFailure](read.drain.runSync())
    assert(error.getMessage.contains("has 2 partitions of the topic"), error.getMessage)
