package weir.kafka

import java.util.concurrent.ConcurrentLinkedQueue
import org.apache.kafka.clients.producer.ProducerRecord
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.Task

/** Tests revokes during the batches of `ExactlyOnce`. */
class ExactlyOnceSuite extends KafkaSuite:

  for protocol <- GroupProtocol.values do
    test(s"$protocol: a revoke waits for a piece of a batch, and what that did is not repeated"):
      val (topic, group, results) =
        (TestBroker.topic(2), TestBroker.name("group"), TestBroker.topic(1))
      val batch = 4000 // each is of both partitions, and takes 40 seconds
      TestBroker.fill(topic, 2 * batch, keys = 40)
      val reading = TestBroker
        .settings(protocol)
        .copy(
          revokeDeadline = 1.minute,
          // Small fetches, so that the partitions take turns.
          properties = Map("max.partition.fetch.bytes" -> "2000") ++
            Option.when(protocol == GroupProtocol.Classic)("heartbeat.interval.ms" -> "300")
        )
      def member(id: String, begun: ConcurrentLinkedQueue[Int]) =
        ExactlyOnce(reading, TestBroker.producerSettings, id, batch, batchTime = 1.second)
          .run(Set(topic), group, parallelism = 2) { record =>
            begun.add(record.value.toInt): Unit
            Task.sleep(20.millis).as(List(ProducerRecord(results, record.key, record.value)))
          }
          .drain
      val (first, second) = (ConcurrentLinkedQueue[Int](), ConcurrentLinkedQueue[Int]())
      during(member(s"$group-1", first)):
        eventually("the first has begun")(first.size >= 20)
        during(member(s"$group-2", second)):
          eventually("the second has begun", 30.seconds)(second.size >= 20)
          assert(first.size < batch / 3, s"${first.size}: the rest of the batch came first")
          assertEquals(first.asScala.toSet & second.asScala.toSet, Set.empty[Int])
