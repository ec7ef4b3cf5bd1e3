package weir.kafka

import java.util.{List as JList, Map as JMap}
import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch, TimeUnit}
import java.util.concurrent.atomic.AtomicInteger
import org.apache.kafka.clients.admin.ListShareGroupOffsetsSpec
import org.apache.kafka.common.metrics.{KafkaMetric, MetricsReporter}
import org.apache.kafka.common.{KafkaException, TopicPartition}
import org.apache.kafka.common.serialization.{IntegerDeserializer, StringDeserializer}
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.{Schedule, Task}

/** Members of share groups, with a real broker. */
class ShareGroupSuite extends KafkaSuite:
  import ShareGroupSuite.*

  private def settings(batch: Int): ShareSettings[String, String] = ShareSettings(
    TestBroker.address,
    () => StringDeserializer(),
    () => StringDeserializer(),
    batchRecords = batch,
    connectTimeout = 1.minute
  )

  private def consumer(batch: Int = 10) = KafkaShareConsumer(settings(batch))

  /** A group that begins with the first records. */
  private def group(lock: FiniteDuration = 30.seconds): String =
    val name = TestBroker.name("share")
    val properties = Map(
      "share.auto.offset.reset" -> "earliest",
      "share.record.lock.duration.ms" -> lock.toMillis.toString
    )
    KafkaAdmin.resource(TestBroker.address).use(_.configureGroup(name, properties)).runSync()
    name

  /** Returns true if the broker knows of no record that is to be delivered, or to be settled. */
  private def isSettled(group: String, topic: String): Boolean =
    val asked = java.util.Map.of(group, ListShareGroupOffsetsSpec())
    val found = TestBroker.admin.listShareGroupOffsets(asked).partitionsToOffsetInfo(group).get
    Option(found.get(TopicPartition(topic, 0))).exists(_.lag == java.util.Optional.of(0L))

  private def awaitSettled(group: String, topic: String): Unit =
    eventually("all are settled")(isSettled(group, topic))

  private def filled(count: Int): String =
    val topic = TestBroker.topic(1)
    TestBroker.fill(topic, count, keys = 1)
    topic

  private def values(count: Int): List[String] = (0 until count).map(_.toString).toList

  test("two members share one partition, and all is settled"):
    val (topic, name, count) = (filled(200), group(), 200)
    val both = CountDownLatch(2)
    val (one, other) = (Seen(), Seen())
    def member(seen: Seen): Task[Unit] =
      val first = AtomicInteger()
      consumer()
        .records(Set(topic), name)
        .parEvalMapAccepted(4) { record =>
          Task.delay {
            seen.add(record)
            if first.getAndIncrement() == 0 then both.countDown()
            both.await(1, TimeUnit.MINUTES): Unit
          }
        }
        .drain
    during(Task.both(member(one), member(other))):
      awaitSettled(name, topic)
    assert(one.values.nonEmpty && other.values.nonEmpty)
    assertEquals((one.values ++ other.values).sortBy(_.toInt), values(count))

  test("a record whose task fails ends the stream, and is delivered again, the others are not"):
    val (topic, name) = (filled(20), group())
    val done = Seen()
    def member(failing: Boolean): Task[Unit] = consumer(batch = 20)
      .records(Set(topic), name)
      .parEvalMapAccepted(1) { record =>
        if failing && record.value == "7" then Task.fail(Failed())
        else Task.delay(done.add(record))
      }
      .drain
    val outcome = member(failing = true).attempt.runSync()
    assert(outcome.left.exists(_.isInstanceOf[Failed]), outcome)
    val before = done.values
    assert(!before.contains("7"))
    during(member(failing = false)):
      awaitSettled(name, topic)
    assertEquals(done.values.sortBy(_.toInt), values(20))
    // Kafka's client may have taken it once more by itself, before it was closed.
    assert(done.deliveries("7").forall(_ >= 2), done.deliveries("7"))

  test("a record that fails each time goes to the dead letters, and delays no other"):
    val (topic, name) = (filled(20), group())
    val dead = TestBroker.topic(1)
    val (done, tried) = (Seen(), AtomicInteger())
    KafkaProducer
      .resource(TestBroker.producerSettings)
      .use { producer =>
        val attempts =
          Attempts(3, Schedule.spaced(20.millis), Some(DeadLetters(producer, dead)))
        val member = consumer(batch = 20)
          .records(Set(topic), name)
          .parEvalMapAccepted(2, attempts) { record =>
            if record.value == "7" then
              Task.delay(tried.incrementAndGet()).andThen(Task.fail(Failed()))
            else Task.delay(done.add(record))
          }
          .drain
        Task.delay(during(member) {
          awaitSettled(name, topic)
        })
      }
      .runSync()
    assertEquals((tried.get, done.values.size), (3, 19))
    assertEquals(TestBroker.readAll(dead).map(_._2), Vector("7"))

  test("a record that cannot be decoded goes to the dead letters with its bytes"):
    val (topic, name, dead) = (filled(3), group(), TestBroker.topic(1))
    val numbers = ShareSettings(
      TestBroker.address,
      () => StringDeserializer(),
      () => IntegerDeserializer(), // of four bytes, and these have one
      connectTimeout = 1.minute
    )
    KafkaProducer
      .resource(TestBroker.producerSettings)
      .use { producer =>
        val attempts = Attempts(3, deadLetters = Some(DeadLetters(producer, dead)))
        val member = KafkaShareConsumer(numbers)
          .records(Set(topic), name)
          .parEvalMapAccepted(2, attempts)(record => Task.fail(Failed(s"${record.value} was read")))
          .drain
        Task.delay(during(member) {
          awaitSettled(name, topic)
        })
      }
      .runSync()
    assertEquals(TestBroker.readAll(dead).map(_._2).sorted, Vector("0", "1", "2"))

  test("a task that takes longer than the lock keeps its record"):
    val (topic, name) = (filled(3), group(lock = 1.second))
    val (one, other) = (Seen(), Seen())
    def member(seen: Seen): Task[Unit] = consumer()
      .records(Set(topic), name)
      .parEvalMapAccepted(4)(record =>
        Task
          .delay(seen.add(record))
          .andThen(Task.sleep(if record.value == "1" then 4.seconds else Duration.Zero))
      )
      .drain
    during(member(one)):
      eventually("the first member has them")(one.values.size == 3)
      during(member(other)):
        awaitSettled(name, topic)
    assertEquals((one.values.sorted, other.values), (values(3), Nil))

  test("the records of a member that is killed come to another one"):
    val (topic, name) = (filled(50), group(lock = 2.seconds))
    val workers = Workers("shared", GroupProtocol.Consumer, name, topic)
    try
      val worker = workers.start()
      eventually(s"it has begun. ${workers.failures}")(worker.hasDone)
      worker.kill()
      val seen = Seen()
      val member = consumer(batch = 50)
        .records(Set(topic), name)
        .parEvalMapAccepted(4)(record => Task.delay(seen.add(record)))
      during(member.drain):
        awaitSettled(name, topic)
      val done = workers.done.map(_.value.toString).toSet ++ seen.values
      assertEquals(done.toList.sortBy(_.toInt), values(50))
    finally workers.close()

  test("a cancel releases what is not settled at once, and loses nothing that is"):
    val (topic, name) = (filled(30), group(lock = 1.minute))
    val accepted = consumer(batch = 30)
      .records(Set(topic), name)
      .evalMap(record => record.accept.as(record.value))
      .take(10)
      .toVector
      .runSync()
    val start = System.nanoTime()
    val rest = consumer(batch = 30)
      .records(Set(topic), name)
      .evalMap(record => record.accept.as((record.value, record.deliveryCount)))
      .take(20)
      .toVector
      .runSync()
    val seconds = (System.nanoTime() - start) / 1_000_000_000
    assert(seconds < 40, s"$seconds s: the locks take a minute to end by themselves")
    assertEquals((accepted ++ rest.map(_._1)).sortBy(_.toInt).toList, values(30))
    assert(rest.forall(_._2 >= 2), rest)
    awaitSettled(name, topic)

  test("a record that was rejected is not delivered again, one that was released is"):
    val (topic, name) = (filled(2), group())
    val found = consumer()
      .records(Set(topic), name)
      .evalMap { record =>
        val settled =
          if record.value == "0" then record.reject
          else if record.deliveryCount < 3 then record.release.andThen(record.accept) // the first
          else record.accept
        settled.as((record.value, record.deliveryCount))
      }
      .take(4)
      .toVector
      .runSync()
    assertEquals(found.sorted, Vector(("0", 1), ("1", 1), ("1", 2), ("1", 3)))
    awaitSettled(name, topic)

  test("several clients of one stream are members each: a slow record holds up only its own"):
    val (topic, name) = (filled(40), group())
    val done = Seen()
    val slow = CountDownLatch(1)
    val member = KafkaShareConsumer(settings(batch = 5).copy(clients = 2))
      .records(Set(topic), name)
      .parEvalMapAccepted(4) { record =>
        Task.delay {
          if record.value == "0" then slow.await(1, TimeUnit.MINUTES): Unit
          done.add(record)
        }
      }
    during(member.drain):
      eventually("all of the other client are done")(done.values.size >= 35)
      slow.countDown()
      awaitSettled(name, topic)
    assertEquals(done.values.sortBy(_.toInt), values(40))

  test("if a client cannot be made, those made before are closed"):
    val reporter = Map("metric.reporters" -> classOf[ThirdFails].getName)
    val failing = settings(batch = 1).copy(clients = 3, properties = reporter)
    val records = KafkaShareConsumer(failing).records(Set(filled(1)), group())
    intercept[KafkaException](records.head.runSync())
    // The first is that of the client that looks for the topic.
    assertEquals((ThirdFails.made.get, ThirdFails.closed.get), (3, 2))

  test("a topic that does not exist is an error"):
    val records = consumer().records(Set("no-such-topic"), group())
    val failure = intercept[KafkaFailure](records.head.runSync())
    assert(failure.getMessage.contains("no topic 'no-such-topic'"), failure.getMessage)

object ShareGroupSuite:
  private final class Failed(message: String = "as planned") extends RuntimeException(message)

  /** Kafka's clients make one each. */
  final class ThirdFails extends MetricsReporter:
    if ThirdFails.made.incrementAndGet() == 3 then throw Failed()
    def init(metrics: JList[KafkaMetric]): Unit = ()
    def metricChange(metric: KafkaMetric): Unit = ()
    def metricRemoval(metric: KafkaMetric): Unit = ()
    def configure(properties: JMap[String, ?]): Unit = ()
    def close(): Unit = ThirdFails.closed.incrementAndGet(): Unit

  private object ThirdFails:
    val made, closed = AtomicInteger()

  /** The values that tasks have seen, with the deliveries. */
  private final class Seen:
    private val all = ConcurrentLinkedQueue[(String, Int)]()

    def add(record: SharedRecord[String, String]): Unit =
      all.add((record.value, record.deliveryCount)): Unit

    def values: List[String] = all.asScala.toList.map(_._1)
    def deliveries(value: String): List[Int] = all.asScala.toList.filter(_._1 == value).map(_._2)
