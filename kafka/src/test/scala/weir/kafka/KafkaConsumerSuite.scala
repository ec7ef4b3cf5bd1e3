package weir.kafka

import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicInteger
import org.apache.kafka.clients.producer.ProducerRecord
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.Task

/** Tests the reads and commits of a consumer group with one member. */
class KafkaConsumerSuite extends KafkaSuite:

  for protocol <- GroupProtocol.values do
    test(s"$protocol: records come in the order of their partition, and are committed once done"):
      val (topic, group) = (TestBroker.topic(4), TestBroker.name("group"))
      TestBroker.fill(topic, 1000, keys = 20)
      val records = KafkaConsumer(TestBroker.settings(protocol)).records(Set(topic), group)
      val read = records.evalTap(_.done).take(1000).toVector.runSync()
      for (partition, ofIt) <- read.groupBy(_.partition) do
        assertEquals(ofIt.map(_.offset), ofIt.indices.map(_.toLong).toVector, s"$partition")
      assertEquals(read.map(_.value.toInt).sorted, (0 until 1000).toVector)
      assertEquals(TestBroker.committedCount(group, topic), 1000L)
      val committed = TestBroker.committed(group).values
      assert(committed.forall(_.metadata.isEmpty))
      assert(committed.forall(_.leaderEpoch.isPresent), s"$committed")

  test("what is not done is read again, and what is done beyond it is not"):
    val (topic, group) = (TestBroker.topic(1), TestBroker.name("group"))
    TestBroker.fill(topic, 500, keys = 1)
    val consumer = KafkaConsumer(TestBroker.settings())
    def isDone(value: Int) = value % 7 != 3
    val first = consumer
      .records(Set(topic), group)
      .evalTap(r => Task.when(isDone(r.value.toInt))(r.done))
      .take(400)
      .toVector
      .runSync()
    assertEquals(first.map(_.value.toInt), (0 until 400).toVector)
    assertEquals(TestBroker.committedCount(group, topic), 3L)
    val left = (0 until 500).filter(value => value >= 400 || !isDone(value))
    val second = consumer.records(Set(topic), group).evalTap(_.done).take(left.size.toLong)
    assertEquals(second.map(_.value.toInt).toVector.runSync(), left.toVector)
    assertEquals(TestBroker.committedCount(group, topic), 500L)

  test("where the map of what is done is too long, a restart repeats what did not fit"):
    val (topic, group) = (TestBroker.topic(1), TestBroker.name("group"))
    TestBroker.fill(topic, 3000, keys = 1)
    // Every second record undone needs 375 bytes; there is room for 90.
    val settings = TestBroker.settings().copy(metadataLimitBytes = 128)
    val undone = KafkaConsumer(settings).records(Set(topic), group)
    undone.evalTap(r => Task.when(r.value.toInt % 2 == 1)(r.done)).take(3000).drain.runSync()
    val Vector(committed) = TestBroker.committed(group).values.toVector: @unchecked
    assertEquals(committed.offset, 0L)
    assert(committed.metadata.length > 100 && committed.metadata.length <= 128)
    val read = KafkaConsumer(settings).records(Set(topic), group).evalTap(_.done)
    val values = read.map(_.value.toInt).takeThrough(_ != 2999).toVector.runSync()
    val repeated = values.filter(_ % 2 == 1)
    assertEquals(values.filter(_ % 2 == 0), (0 until 3000 by 2).toVector)
    assert(repeated.nonEmpty && repeated.head > 600, s"${repeated.headOption}")
    assertEquals(repeated, (repeated.head until 3000 by 2).toVector)

  test("a broker that takes shorter metadata than the settings say is given shorter ones"):
    val (topic, group) = (TestBroker.topic(1), TestBroker.name("group"))
    TestBroker.fill(topic, 60_000, keys = 1)
    val settings = TestBroker.settings().copy(metadataLimitBytes = 8192)
    val random = scala.util.Random(1)
    val undone = KafkaConsumer(settings).records(Set(topic), group)
    undone.evalTap(r => Task.when(random.nextBoolean())(r.done)).take(60_000).drain.runSync()
    val Vector(committed) = TestBroker.committed(group).values.toVector: @unchecked
    assert(committed.metadata.length > 1000 && committed.metadata.length <= 4096)

  test("a stream that takes its time does not fall out of the group"):
    val (topic, group) = (TestBroker.topic(2), TestBroker.name("group"))
    TestBroker.fill(topic, 6000, keys = 10)
    val limit = 1000
    val settings = TestBroker
      .settings()
      .copy(
        bufferRecords = 200,
        revokeDeadline = 100.millis,
        properties = Map(
          "max.poll.interval.ms" -> limit.toString,
          "session.timeout.ms" -> "900",
          "heartbeat.interval.ms" -> "200"
        )
      )
    val assigned = AtomicInteger()
    val read = KafkaConsumer(settings)
      .partitions(Set(topic), group)
      .map { partition =>
        assigned.incrementAndGet()
        partition.records.zipWithIndex.evalMap { (record, index) =>
          // The first record takes several times what the group waits for a poll.
          Task.when(index == 0)(Task.sleep(Tier(3, 60) * limit.millis)).andThen(record.done)
        }
      }
      .parJoinUnbounded
      .take(6000)
    assertEquals(read.count.runSync(), 6000L)
    assertEquals(assigned.get, 2)

  test("a partition whose stream waits holds up no other"):
    val (topic, group) = (TestBroker.topic(2), TestBroker.name("group"))
    TestBroker.write((0 until 4000).map(n => ProducerRecord(topic, n % 2, "k", n.toString)))
    val settings = TestBroker.settings().copy(bufferRecords = 100)
    val read = KafkaConsumer(settings)
      .partitions(Set(topic), group)
      .map(partition =>
        if partition.topicPartition.partition == 0 then partition.records.evalMap(_ => Task.never)
        else partition.records.evalTap(_.done)
      )
      .parJoinUnbounded
      .take(2000)
    assertEquals(read.count.runSync(), 2000L)

  test("at most so many records are done and in no commit"):
    val (topic, group) = (TestBroker.topic(1), TestBroker.name("group"))
    val count = Tier(500, 2000)
    TestBroker.fill(topic, count, keys = 1)
    val settings =
      TestBroker.settings().copy(uncommittedLimit = 50, commitInterval = 10.seconds)
    val most = AtomicInteger()
    val read = KafkaConsumer(settings)
      .records(Set(topic), group)
      .zipWithIndex
      .evalTap { (record, index) =>
        // Asked now and then, since asking takes a while; first when 20 are done, before any commit
        // is due.
        Task
          .when(index % 97 == 20)(Task.delay {
            val uncommitted = index - TestBroker.committedCount(group, topic)
            most.accumulateAndGet(uncommitted.toInt, _.max(_)): Unit
          })
          .andThen(record.done)
      }
      .take(count)
    read.drain.runSync()
    assert(most.get >= 20 && most.get <= 50, s"${most.get}")

  test("records of a topic with transactions are committed up to its end"):
    val (topic, group) = (TestBroker.topic(1), TestBroker.name("group"))
    val copies = TestBroker.topic(1)
    TestBroker.fill(topic, 100, keys = 3)
    val once = ExactlyOnce(TestBroker.settings(), TestBroker.producerSettings, group)
    once
      .run(Set(topic), group, 4)(r => Task.pure(List(ProducerRecord(copies, r.key, r.value))))
      .scan(0)(_ + _)
      .takeThrough(_ < 100)
      .drain
      .runSync()
    val reader = TestBroker.name("group")
    KafkaConsumer(TestBroker.settings())
      .records(Set(copies), reader)
      .evalTap(_.done)
      .take(100)
      .drain
      .runSync()
    // 100 records, and the mark of the transaction, or of each of them.
    assert(TestBroker.committedCount(reader, copies) >= 100)

  test("records without an end are read while they come"):
    val (topic, group) = (TestBroker.topic(1), TestBroker.name("group"))
    val seen = ConcurrentLinkedQueue[String]()
    val read = KafkaConsumer(TestBroker.settings())
      .records(Set(topic), group)
      .evalTap(r => Task.delay(seen.add(r.value): Unit).andThen(r.done))
    during(read.drain):
      for n <- 1 to 5 do
        TestBroker.write(List(ProducerRecord(topic, "k", s"$n")))
        eventually(s"$n was read")(seen.asScala.toList.contains(s"$n"))
      eventually("it is committed")(TestBroker.committedCount(group, topic) == 5)
    assertEquals(seen.asScala.toList, List("1", "2", "3", "4", "5"))
