package weir.kafka

import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.atomic.AtomicInteger
import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.kafka.common.errors.SerializationException
import org.apache.kafka.common.serialization.StringDeserializer
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.{Schedule, Task}

/** Tests `ExactlyOnce` when partitions are revoked, brokers go away, and records fail. */
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

  for
    protocol <- GroupProtocol.values
    (transactionMillis, what) <- List(30_000 -> "as they like", 1000 -> "as ends a transaction")
    // The outage takes its time, so the short tier has each protocol and each time once.
    if Tier.isLong || (protocol == GroupProtocol.Classic) == (transactionMillis == 30_000)
  do
    test(s"$protocol: brokers may be away for longer than connectTimeout, and as long $what"):
      val (topic, group, results) =
        (TestBroker.topic(2), TestBroker.name("group"), TestBroker.topic(1))
      val count = 400
      TestBroker.fill(topic, count, keys = 40)
      val connectTimeout = 2.seconds
      val writing = TestBroker.producerSettings.copy(
        brokers = TestBroker.proxiedAddress,
        connectTimeout = connectTimeout,
        properties = Map(
          "transaction.timeout.ms" -> transactionMillis.toString,
          "reconnect.backoff.max.ms" -> "100"
        )
      )
      val begun = AtomicInteger()
      val work = ExactlyOnce(TestBroker.settings(protocol), writing, group, batchRecords = 20)
        .run(Set(topic), group, parallelism = 2) { record =>
          begun.incrementAndGet()
          Task.sleep(2.millis).as(List(ProducerRecord(results, record.key, record.value)))
        }
        .drain
      try
        during(work):
          eventually("some are consumed")(TestBroker.committedCount(group, topic) >= 20)
          TestBroker.proxy.cut()
          Thread.sleep(2 * connectTimeout.toMillis) // the outage that is tested
          TestBroker.proxy.mend()
          eventually("all is consumed")(TestBroker.committedCount(group, topic) == count)
      finally TestBroker.proxy.mend()
      val written = TestBroker.readAll(results)
      assertEquals(written.map(_._2.toInt).sorted, (0 until count).toVector)
      for (key, values) <- written.groupMap(_._1)(_._2.toInt) do
        assertEquals(values, values.sorted, key)

  for protocol <- GroupProtocol.values do
    test(
      s"$protocol: what fails too often, or cannot be decoded, is a dead letter beside the results"
    ):
      val (topic, group) = (TestBroker.topic(2), TestBroker.name("group"))
      val (results, dead) = (TestBroker.topic(1), TestBroker.topic(1))
      TestBroker.fill(topic, 100, keys = 10)
      val reading = ConsumerSettings(
        TestBroker.address,
        () => StringDeserializer(),
        () =>
          (_: String, bytes: Array[Byte]) =>
            val text = String(bytes, UTF_8)
            if text == "25" then throw SerializationException("not 25") else text
        ,
        protocol,
        connectTimeout = 1.minute
      )
      val attempts = Attempts(3, Schedule.spaced(1.milli), Some(dead))
      val tries = AtomicInteger()
      val work = ExactlyOnce(reading, TestBroker.producerSettings, group)
        .run(Set(topic), group, parallelism = 4, attempts) { record =>
          if record.value == "7" then
            tries.incrementAndGet()
            Task.fail(IllegalStateException("seven"))
          else Task.pure(List(ProducerRecord(results, record.key, record.value)))
        }
        .drain
      during(work):
        eventually("all is consumed")(TestBroker.committedCount(group, topic) >= 100)
      assertEquals(tries.get, 3)
      assertEquals(TestBroker.readAll(dead).toSet, Set(("k7", "7"), ("k5", "25")))
      assertEquals(
        TestBroker.readAll(results).map(_._2.toInt).sorted,
        (0 until 100).filter(n => n != 7 && n != 25).toVector
      )

  test("without dead letters the last error fails it, and what came in order before is consumed"):
    val (topic, group, results) =
      (TestBroker.topic(1), TestBroker.name("group"), TestBroker.topic(1))
    TestBroker.fill(topic, 100, keys = 10)
    val tries = AtomicInteger()
    val work = ExactlyOnce(TestBroker.settings(), TestBroker.producerSettings, group)
      .run(Set(topic), group, parallelism = 1, Attempts(2, Schedule.spaced(1.milli))) { record =>
        if record.value == "50" then
          tries.incrementAndGet()
          Task.fail(IllegalStateException("fifty"))
        else Task.pure(List(ProducerRecord(results, record.key, record.value)))
      }
      .drain
    assertEquals(intercept[IllegalStateException](work.runSync()).getMessage, "fifty")
    assertEquals(tries.get, 2)
    val consumed = TestBroker.committedCount(group, topic)
    assert(consumed > 0 && consumed <= 50, s"$consumed")
    assertEquals(TestBroker.readAll(results).size.toLong, consumed)

  test("a revoke does not wait for a record that waits for its next attempt"):
    val (topic, group, results) =
      (TestBroker.topic(2), TestBroker.name("group"), TestBroker.topic(1))
    TestBroker.write((0 until 20).map(n => ProducerRecord(topic, n % 2, s"k$n", n.toString)))
    val (failed, others) = (AtomicInteger(), ConcurrentLinkedQueue[Int]())
    val reading = TestBroker.settings(GroupProtocol.Consumer).copy(revokeDeadline = 3.minutes)
    def member(id: String)(value: Int => Task[Unit]) =
      ExactlyOnce(reading, TestBroker.producerSettings, s"$group-$id")
        .run(Set(topic), group, 4, Attempts(Int.MaxValue, Schedule.spaced(100.millis))) { record =>
          value(record.value.toInt).as(List(ProducerRecord(results, record.key, record.value)))
        }
        .drain
    val poisoned = member("1") { _ =>
      failed.incrementAndGet()
      Task.fail(IllegalStateException("poison"))
    }
    during(poisoned):
      eventually("it has begun")(failed.get >= 4)
      during(member("2")(n => Task.delay(others.add(n): Unit))):
        eventually("the other one has a partition", 1.minute)(others.size == 10)
