package weir.kafka

import java.nio.charset.StandardCharsets.UTF_8
import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedQueue}
import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import org.apache.kafka.clients.consumer.KafkaConsumer as Client
import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.kafka.common.serialization.{ByteArrayDeserializer, StringDeserializer}
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.{Schedule, Task}

/** `parEvalMapByKey`: keys in order, poison keys, attempts and dead letters. */
class KeyedRecordsSuite extends KafkaSuite:
  private def consumer = KafkaConsumer(TestBroker.settings())
  private val soon = Schedule.spaced(1.milli)

  test("keys are in order, one at a time, and as many run as may"):
    val (topic, group) = (TestBroker.topic(4), TestBroker.name("group"))
    TestBroker.fill(topic, 2000, keys = 50)
    val (running, most) = (AtomicInteger(), AtomicInteger())
    val busy = ConcurrentHashMap[String, AtomicBoolean]()
    val ended = ConcurrentLinkedQueue[(String, Int)]()
    consumer
      .records(Set(topic), group)
      .parEvalMapByKey(16) { record =>
        val isBusy = busy.computeIfAbsent(record.key, _ => AtomicBoolean())
        for
          _ <- Task.delay(assert(isBusy.compareAndSet(false, true), "two of one key"))
          _ <- Task.delay(most.accumulateAndGet(running.incrementAndGet(), _.max(_)): Unit)
          _ <- Task.sleep((record.offset % 4).millis)
        yield
          running.decrementAndGet()
          ended.add((record.key, record.value.toInt))
          isBusy.set(false)
      }
      .take(2000)
      .drain
      .runSync()
    assertEquals(most.get, 16)
    for (key, values) <- ended.asScala.toVector.groupMap(_._1)(_._2) do
      assertEquals(values, values.sorted, key)
    assertEquals(TestBroker.committedCount(group, topic), 2000L)

  test("keys that are arrays of bytes are compared by what is in them"):
    val (topic, group) = (TestBroker.topic(1), TestBroker.name("group"))
    TestBroker.fill(topic, 200, keys = 2)
    val settings =
      ConsumerSettings(
        TestBroker.address,
        () => ByteArrayDeserializer(),
        () => StringDeserializer()
      )
    val running = AtomicInteger()
    KafkaConsumer(settings)
      .records(Set(topic), group)
      .parEvalMapByKey(8) { _ =>
        Task
          .delay(assert(running.incrementAndGet() <= 2, "two keys, and more than two run"))
          .andThen(Task.sleep(1.milli))
          .map(_ => running.decrementAndGet())
      }
      .take(200)
      .drain
      .runSync()

  test("one poison key for ever: the others go on, are committed, and are not repeated"):
    val (topic, group) = (TestBroker.topic(1), TestBroker.name("group"))
    TestBroker.fill(topic, 5000, keys = 100)
    val forever = Attempts(Int.MaxValue, soon)
    val others = consumer
      .records(Set(topic), group)
      .parEvalMapByKey(4, attempts = forever) { record =>
        if record.key == "k3" then Task.fail(RuntimeException("poison"))
        else Task.pure(record.value.toInt)
      }
      .take(4950)
      .toVector
      .runSync()
    assertEquals(others.sorted, (0 until 5000).filter(_ % 100 != 3).toVector)
    val Vector(committed) = TestBroker.committed(group).values.toVector: @unchecked
    assertEquals(committed.offset, 3L)
    val left = consumer.records(Set(topic), group).evalTap(_.done).take(50).toVector.runSync()
    assertEquals(left.map(_.value.toInt), (3 until 5000 by 100).toVector)

  test("more poison keys than may run at a time hold up nobody while they wait"):
    val (topic, group) = (TestBroker.topic(1), TestBroker.name("group"))
    TestBroker.fill(topic, 300, keys = 30)
    val rarely = Attempts(Int.MaxValue, Schedule.spaced(1.hour))
    val others = consumer
      .records(Set(topic), group)
      .parEvalMapByKey(2, attempts = rarely) { record =>
        Task.raiseWhen(record.value.toInt % 30 < 10)(RuntimeException("poison"))
      }
      .take(200)
    assertEquals(others.count.runSync(), 200L)

  test("a record that fails too often is a dead letter, with its error in the headers"):
    val (topic, group) = (TestBroker.topic(1), TestBroker.name("group"))
    val dead = TestBroker.topic(1)
    TestBroker.fill(topic, 100, keys = 10)
    val work = KafkaProducer.resource(TestBroker.producerSettings).use { producer =>
      val attempts = Attempts(3, soon, Some(DeadLetters(producer, dead)))
      consumer
        .records(Set(topic), group)
        .parEvalMapByKey(4, attempts = attempts) { record =>
          Task.raiseWhen(record.key == "k7")(IllegalStateException(s"no ${record.value}"))
        }
        .drain
    }
    during(work):
      eventually("all is committed")(TestBroker.committedCount(group, topic) == 100)
    val reader = Client[String, String](
      Map[String, AnyRef](
        "bootstrap.servers" -> TestBroker.address,
        "group.id" -> TestBroker.name("group"),
        "auto.offset.reset" -> "earliest"
      ).asJava,
      StringDeserializer(),
      StringDeserializer()
    )
    try
      reader.subscribe(java.util.List.of(dead))
      var letters = Vector.empty[org.apache.kafka.clients.consumer.ConsumerRecord[String, String]]
      eventually("the dead letters are there"):
        letters ++= reader.poll(java.time.Duration.ofMillis(50)).asScala
        letters.size == 10
      val first = letters.head
      def header(name: String) = String(first.headers.lastHeader(s"weir.dead.$name").value, UTF_8)
      assertEquals((first.key, first.value), ("k7", "7"))
      assertEquals(
        List("topic", "partition", "offset", "attempts").map(header),
        List(topic, "0", "7", "3")
      )
      assertEquals(header("error.class"), "java.lang.IllegalStateException")
      assertEquals(header("error.message"), "no 7")
      assert(header("error.trace").contains("KeyedRecordsSuite"), header("error.trace"))
    finally reader.close()

  test("without dead letters the last error ends the stream, and the record is not committed"):
    val (topic, group) = (TestBroker.topic(1), TestBroker.name("group"))
    TestBroker.fill(topic, 20, keys = 1)
    val tries = AtomicInteger()
    val error = intercept[IllegalStateException](
      consumer
        .records(Set(topic), group)
        .parEvalMapByKey(4, attempts = Attempts(2, soon)) { record =>
          if record.value == "5" then
            tries.incrementAndGet()
            Task.fail(IllegalStateException("five"))
          else Task.unit
        }
        .drain
        .runSync()
    )
    assertEquals((error.getMessage, tries.get), ("five", 2))
    assertEquals(TestBroker.committedCount(group, topic), 5L)

  test("records without a key are in no order, and so hold up nobody"):
    val (topic, group) = (TestBroker.topic(1), TestBroker.name("group"))
    TestBroker.write((0 until 8).map(n => ProducerRecord(topic, null: String, n.toString)))
    val all = java.util.concurrent.CountDownLatch(8)
    consumer
      .records(Set(topic), group)
      .parEvalMapByKey(8)(_ => Task.delay { all.countDown(); all.await() })
      .take(8)
      .drain
      .runSync()
