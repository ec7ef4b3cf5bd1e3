package weir.kafka

import org.apache.kafka.clients.producer.ProducerRecord
import scala.concurrent.duration.*
import weir.{Stream, Task}

class KafkaProducerSuite extends KafkaSuite:

  test("what was sent is in the topic when the task has its place"):
    val topic = TestBroker.topic(1)
    val places = KafkaProducer
      .resource(TestBroker.producerSettings)
      .use(producer =>
        Task.traverse(1 to 3)(n => producer.send(ProducerRecord(topic, s"k$n", s"$n")))
      )
      .runSync()
    assertEquals(places.map(_.offset).toList, List(0L, 1L, 2L))
    assertEquals(TestBroker.readAll(topic), Vector(("k1", "1"), ("k2", "2"), ("k3", "3")))

  test("a sink has many on their way, in order, and its elements come once they are written"):
    val topic = TestBroker.topic(1)
    val count = 5000
    val took = KafkaProducer
      .resource(TestBroker.producerSettings.copy(properties = Map("linger.ms" -> "20")))
      .use { producer =>
        Stream
          .range(0, count)
          .through(producer.sendEach(500)(n => ProducerRecord(topic, "k", n.toString)))
          .toVector
          .timed
      }
      .runSync()
    assertEquals(took._2, (0 until count).toVector)
    // One after the other they would take 20 ms each, 100 s in all.
    assert(took._1 < 50.seconds, s"${took._1}")
    assertEquals(TestBroker.readAll(topic).map(_._2.toInt), (0 until count).toVector)

  test("a record that is too large fails in its place"):
    val topic = TestBroker.topic(1)
    val large = "x" * 2_000_000
    val sent = KafkaProducer
      .resource(TestBroker.producerSettings)
      .use { producer =>
        Stream
          .emits(List("a", "b", large, "c"))
          .through(producer.sendEach(1)(text => ProducerRecord(topic, "k", text)))
          .attempt
          .toVector
      }
      .runSync()
    assertEquals(sent.take(2), Vector(Right("a"), Right("b")))
    assert(sent.lift(2).exists(_.isLeft) && sent.size == 3, s"${sent.map(_.map(_.length))}")
