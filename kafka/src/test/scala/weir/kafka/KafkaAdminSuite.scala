package weir.kafka

import java.time.Instant
import java.util.concurrent.TimeUnit.NANOSECONDS
import org.apache.kafka.clients.producer.{KafkaProducer as Client, ProducerRecord}
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.serialization.StringSerializer
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import scala.util.Using
import weir.Task

/** Tests the requests for topics, offsets and groups. */
class KafkaAdminSuite extends KafkaSuite:
  private def withAdmin[A](use: KafkaAdmin => Task[A]): A =
    KafkaAdmin.resource(TestBroker.address, timeout = 1.minute).use(use).runSync()

  test("a topic is created once, is found, and is deleted"):
    val name = TestBroker.name("made")
    withAdmin { admin =>
      for
        first <- admin.createTopic(name, 3, properties = Map("cleanup.policy" -> "compact"))
        again <- admin.createTopic(name, 5)
        partitions <- admin.partitions(Set(name))
        topics <- admin.topics
        ends <- admin.endOffsets(Set(name))
        _ <- admin.deleteTopic(name)
      yield
        assertEquals((first, again), (true, false))
        assertEquals(partitions, Set(0, 1, 2).map(TopicPartition(name, _)))
        assert(topics.contains(name))
        assertEquals(ends, partitions.map(_ -> 0L).toMap)
    }
    eventually("it is deleted")(!withAdmin(_.topics).contains(name))

  test("offsets are found by position"):
    val topic = TestBroker.topic(1)
    val partition = TopicPartition(topic, 0)
    TestBroker.write((0 until 10).map(n => ProducerRecord(topic, 0, n * 1000L, "k", s"$n")))
    def offset(at: Position) = withAdmin(_.offsets(Map(partition -> at)))
    for (at, expected) <- List(
        Position.Earliest -> 0L,
        Position.Latest -> 10L,
        Position.Offset(4) -> 4L,
        Position.Time(Instant.ofEpochMilli(4500)) -> 5L,
        Position.Time(Instant.ofEpochMilli(9001)) -> 10L
      )
    do assertEquals(offset(at), Map(partition -> expected), s"$at")

  test("the lag of a group counts what is done beyond its offset, and offsets can be set"):
    val (topic, group) = (TestBroker.topic(1), TestBroker.name("group"))
    val partition = TopicPartition(topic, 0)
    TestBroker.fill(topic, 100, keys = 1)
    val consumer = KafkaConsumer(TestBroker.settings(GroupProtocol.Consumer))
    val read = consumer.records(Set(topic), group).take(50)
    read.evalTap(r => Task.when(r.offset % 10 != 3)(r.done)).drain.runSync()
    withAdmin { admin =>
      for
        groups <- admin.groups
        members <- admin.describe(group)
        committed <- admin.committed(group)
        lag <- admin.lag(group)
        _ <- admin.commit(group, Map(partition -> 90L))
      yield
        assert(groups.contains(group))
        assertEquals(members.members.size, 0)
        assertEquals(committed, Map(partition -> 3L))
        assertEquals(lag, Map(partition -> 55L))
    }
    assertEquals(withAdmin(_.lag(group)), Map(partition -> 10L))
    val rest = consumer.records(Set(topic), group).take(10).map(_.offset).toVector.runSync()
    assertEquals(rest, (90L until 100L).toVector)

  test("an open transaction that its coordinator knows does not hang; abort ends one"):
    val topic = TestBroker.topic(1)
    val partition = TopicPartition(topic, 0)
    val properties = Map[String, AnyRef](
      "bootstrap.servers" -> TestBroker.address,
      "transactional.id" -> TestBroker.name("open")
    )
    Using.resource(Client(properties.asJava, StringSerializer(), StringSerializer())): producer =>
      producer.initTransactions()
      producer.beginTransaction()
      producer.send(ProducerRecord(topic, "k", "v")).get(): Unit
      withAdmin { admin =>
        for
          hanging <- admin.hangingTransactions(Set(topic))
          found <- admin.openTransactions(Set(partition))
          _ <- Task.traverse(found)(admin.abort)
          left <- admin.openTransactions(Set(partition))
        yield
          assertEquals(hanging, Vector.empty)
          assertEquals(found.map(_.startOffset), Vector(0L))
          assertEquals(left, Vector.empty)
      }

  test("a topic that does not exist, and a broker that is not there, are clear errors"):
    val missing = intercept[KafkaFailure](withAdmin(_.partitions(Set("no-such-topic"))))
    assert(missing.getMessage.contains("has no topic 'no-such-topic'"), missing.getMessage)
    val begun = System.nanoTime()
    val nobody = intercept[KafkaFailure](
      KafkaAdmin.resource("127.0.0.1:1", timeout = 1.second).use(_.topics).runSync()
    )
    assert(nobody.getMessage.contains("did not answer in time"), nobody.getMessage)
    val seconds = NANOSECONDS.toSeconds(System.nanoTime() - begun)
    assert(seconds < 60, s"$seconds")
