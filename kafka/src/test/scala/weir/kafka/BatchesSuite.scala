package weir.kafka

import java.util.concurrent.ConcurrentLinkedQueue
import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.kafka.common.TopicPartition
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.{Deferred, Stream, Task}

/** Tests the operators that take several records at a time, and the one that commits first. */
class BatchesSuite extends KafkaSuite:
  private def records(topic: String, group: String): Stream[CommittableRecord[String, String]] =
    KafkaConsumer(TestBroker.settings(GroupProtocol.Consumer)).records(Set(topic), group)

  test("atMostOnce emits what is committed, and the next run none of it"):
    val (topic, group) = (TestBroker.topic(1), TestBroker.name("group"))
    TestBroker.fill(topic, 1000, keys = 10)
    val first = records(topic, group)
      .atMostOnce(50)
      .evalTap(r =>
        Task.when(r.offset % 49 == 0)(
          Task(assert(TestBroker.committedCount(group, topic) > r.offset, s"${r.offset}"))
        )
      )
      .take(120)
      .map(_.offset)
      .toVector
      .runSync()
    assertEquals(first, (0L until 120L).toVector)
    val committed = TestBroker.committedCount(group, topic)
    assert(committed >= 120 && committed <= 120 + 100, s"$committed")
    val second = records(topic, group).atMostOnce().take(1000 - committed).map(_.offset)
    assertEquals(second.toVector.runSync(), (committed until 1000L).toVector)

  test("atMostOnce without a group emits all"):
    val topic = TestBroker.topic(1)
    TestBroker.fill(topic, 10, keys = 1)
    val read = KafkaConsumer(TestBroker.settings())
      .recordsOf(Map(TopicPartition(topic, 0) -> Position.Earliest))
      .atMostOnce()
    assertEquals(read.take(10).count.runSync(), 10L)

  test("a batch is done once its task has succeeded"):
    val (topic, group) = (TestBroker.topic(1), TestBroker.name("group"))
    TestBroker.fill(topic, 1000, keys = 10)
    val batches = ConcurrentLinkedQueue[Vector[Long]]()
    val failing = records(topic, group).evalMapBatched(100, 10.seconds) { batch =>
      if batch.exists(_.offset == 450) then Task.fail(RuntimeException("no room"))
      else Task.delay(batches.add(batch.map(_.offset)): Unit)
    }
    assertEquals(intercept[RuntimeException](failing.drain.runSync()).getMessage, "no room")
    assertEquals(batches.asScala.map(_.size).toVector, Vector.fill(4)(100))
    assertEquals(TestBroker.committedCount(group, topic), 400L)
    val rest = records(topic, group).evalMapBatched(600, 10.seconds)(b => Task.pure(b.size)).take(1)
    assertEquals(rest.toVector.runSync(), Vector(600))
    assertEquals(TestBroker.committedCount(group, topic), 1000L)

  test("a task gets the records of its key that wait, in their order"):
    val (topic, group) = (TestBroker.topic(2), TestBroker.name("group"))
    val count = 1000
    TestBroker.write(
      (0 until count).map(n => ProducerRecord(topic, n % 2, s"k${n % 4}", n.toString))
    )
    val allWait = Deferred.unsafe[Unit]
    val batches = ConcurrentLinkedQueue[(Option[String], Vector[Int])]()
    val read = records(topic, group).zipWithIndex
      .evalTap((_, index) => Task.when(index == count - 1L)(allWait.complete(())))
      .map(_._1)
      .parEvalMapByKeyBatched(4, size = 100) { batch =>
        allWait.get.andThen(
          Task.delay(batches.add((Option(batch.head.key), batch.map(_.value.toInt))): Unit)
        )
      }
    during(read.drain)(
      eventually("all are committed")(TestBroker.committedCount(group, topic) == count)
    )
    val all = batches.asScala.toVector
    for (key, ofIt) <- all.groupMap(_._1)(_._2) do
      assertEquals(ofIt.flatten, (0 until count).filter(n => key.contains(s"k${n % 4}")).toVector)
    assert(all.forall(_._2.size <= 100), s"${all.map(_._2.size)}")
    assert(all.size <= 20, s"${all.size} batches") // the first of each key has those that had come

  test("records without a key are on their own"):
    val (topic, group) = (TestBroker.topic(1), TestBroker.name("group"))
    TestBroker.write((0 until 20).map(n => ProducerRecord[String, String](topic, n.toString)))
    val sizes = records(topic, group).parEvalMapByKeyBatched(4)(batch => Task.pure(batch.size))
    assertEquals(sizes.take(20).toVector.runSync(), Vector.fill(20)(1))
