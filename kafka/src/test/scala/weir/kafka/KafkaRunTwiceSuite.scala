package weir.kafka

import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.kafka.common.serialization.StringDeserializer
import scala.concurrent.duration.*
import weir.{Stream, Task}

/** Streams and pipes of Kafka, run again and beside another run. */
class KafkaRunTwiceSuite extends KafkaSuite:
  private def consumer = KafkaConsumer(TestBroker.settings(GroupProtocol.Consumer))

  /** One run after the other, then two side by side. */
  private def fourTimes[A](description: Task[A]): List[A] =
    val first = description.runSync()
    val second = description.runSync()
    val (third, fourth) = Task.both(description, description).runSync()
    List(first, second, third, fourth)

  test("each run of a consumer is a member of the group of its own"):
    val topic = TestBroker.topic(1)
    TestBroker.fill(topic, 3, keys = 1)
    // The next run gets what a run has taken but has not called done.
    val records = consumer.records(Set(topic), TestBroker.name("group")).map(_.value)
    assertEquals(fourTimes(records.head).toSet.size, 1)
    val partitions = consumer
      .partitions(Set(topic), TestBroker.name("group"))
      .flatMap(_.records.map(_.value))
    assertEquals(fourTimes(partitions.head).toSet.size, 1)

  test("each run of a member of a share group is a member of its own"):
    val topic = TestBroker.topic(1)
    val group = TestBroker.name("share")
    KafkaAdmin
      .resource(TestBroker.address)
      .use(_.configureGroup(group, Map("share.auto.offset.reset" -> "earliest")))
      .runSync()
    TestBroker.fill(topic, 12, keys = 1)
    val settings = ShareSettings(
      TestBroker.address,
      () => StringDeserializer(),
      () => StringDeserializer(),
      batchRecords = 3,
      connectTimeout = 1.minute
    )
    val records = KafkaShareConsumer(settings).records(Set(topic), group)
    val found = fourTimes(records.evalMap(record => record.accept.as(record.value)).take(3).toList)
    assertEquals(found.flatten.sortBy(_.toInt), (0 until 12).map(_.toString).toList)

  test("each run of a sink sends, and so does a pipe over another stream"):
    val topic = TestBroker.topic(1)
    val numbers = Stream(1, 2)
    def record(n: Int) = ProducerRecord(topic, "k", n.toString)
    KafkaProducer
      .resource(TestBroker.producerSettings)
      .use { producer =>
        val each = numbers.through(producer.sendEach(2)(record))
        val all = numbers.map(record).through(producer.sendAll(2))
        Task.delay {
          assertEquals(fourTimes(each.toList), List.fill(4)(List(1, 2)))
          assertEquals(fourTimes(all.count), List.fill(4)(2L))
        }
      }
      .runSync()
    assertEquals(
      TestBroker.readAll(topic).map(_._2.toInt).sorted,
      Vector.fill(8)(1) ++ Vector.fill(8)(2)
    )

  test("the next run of ExactlyOnce goes on where the one before has ended"):
    val (topic, results) = (TestBroker.topic(1), TestBroker.topic(1))
    val id = TestBroker.name("twice")
    val run =
      ExactlyOnce(TestBroker.settings(GroupProtocol.Consumer), TestBroker.producerSettings, id)
        .run(Set(topic), TestBroker.name("group"), parallelism = 2)(record =>
          Task(List(ProducerRecord(results, record.key, record.value)))
        )
    var consumed = 0
    for round <- 1 to 2 do
      TestBroker.fill(topic, 3, keys = 1)
      while consumed < 3 * round do consumed += run.head.runSync().getOrElse(fail("it has ended"))
    assertEquals(consumed, 6)
    assertEquals(TestBroker.readAll(results).size, 6)
