package weir.kafka

import java.util.concurrent.ConcurrentLinkedQueue
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.Task

/** Tests retry topics. */
class DelayedRecordsSuite extends KafkaSuite:
  test("what has failed goes to the retry topic, and is tried again no sooner than the delay"):
    val (topic, retry) = (TestBroker.topic(2), TestBroker.topic(2))
    val group = TestBroker.name("group")
    TestBroker.fill(topic, 20, keys = 5)
    val delay = 500.millis
    val early = ConcurrentLinkedQueue[Long]()
    val retried = ConcurrentLinkedQueue[Int]()
    val consumer = KafkaConsumer(TestBroker.settings(GroupProtocol.Consumer))
    KafkaProducer
      .resource(TestBroker.producerSettings)
      .use { producer =>
        val attempts = Attempts(1, deadLetters = Some(DeadLetters(producer, retry)))
        val first = consumer
          .records(Set(topic), group)
          .parEvalMapByKey(8, attempts = attempts)(record =>
            if record.value.toInt % 2 == 1 then Task.fail(RuntimeException("not now"))
            else Task.unit
          )
        val later = consumer
          .records(Set(retry), TestBroker.name("group"))
          .delayed(delay)
          .parEvalMapByKey(8) { record =>
            Task.delay {
              val left = record.timestamp + delay.toMillis - System.currentTimeMillis()
              if left > 0 then early.add(left): Unit
              retried.add(record.value.toInt)
            }
          }
        Task.race(first.drain, later.take(10).drain)
      }
      .runSync(): Unit
    assertEquals(retried.asScala.toVector.sorted, (1 until 20 by 2).toVector)
    assertEquals(early.asScala.toVector, Vector())
