package weir.kafka

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Map as JMap
import java.util.concurrent.{ConcurrentHashMap, ConcurrentLinkedQueue, CountDownLatch}
import org.apache.kafka.clients.admin.RecordsToDelete
import org.apache.kafka.clients.consumer.{
  ConsumerInterceptor,
  ConsumerRecords,
  OffsetAndMetadata,
  OffsetOutOfRangeException
}
import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.errors.SerializationException
import org.apache.kafka.common.serialization.{Deserializer, StringDeserializer}
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.Task

/** Errors of polls and of deserializers: what was delivered before them is done and committed. */
class PlacedErrorsSuite extends KafkaSuite:

  /** Reads everything but `bad`. */
  private object Picky extends Deserializer[String]:
    def deserialize(topic: String, bytes: Array[Byte]): String = String(bytes, UTF_8) match
      case "bad" => throw SerializationException("this one is bad")
      case text => text

  private def settings(protocol: GroupProtocol) = ConsumerSettings(
    TestBroker.address,
    () => StringDeserializer(),
    () => Picky,
    protocol,
    connectTimeout = 1.minute
  )

  /** Fills two partitions with 100 records each, with different keys. The first one has a record in
    * place of 75 that cannot be decoded.
    */
  private def fillWithBad(topic: String): Unit = TestBroker.write(
    for n <- 0 until 100; partition <- 0 to 1
    yield ProducerRecord(
      topic,
      partition,
      s"k$n",
      if partition == 0 && n == 75 then "bad" else s"$partition-$n"
    )
  )

  for protocol <- GroupProtocol.values do
    test(s"$protocol: a record that cannot be decoded fails the stream once all before it is done"):
      val (topic, group) = (TestBroker.topic(2), TestBroker.name("group"))
      fillWithBad(topic)
      val done = ConcurrentLinkedQueue[String]()
      val work = KafkaConsumer(settings(protocol))
        .records(Set(topic), group)
        .parEvalMapByKey(8)(record => Task.sleep(20.millis).map(_ => done.add(record.value): Unit))
        .drain
      for round <- 1 to 3 do
        val error = intercept[KafkaFailure](work.runSync())
        assert(error.getMessage.contains(s"$topic-0 at offset 75"), error.getMessage)
        val (first, second) = done.asScala.toVector.partition(_.startsWith("0-"))
        assertEquals(first.toSet, (0 until 75).map(n => s"0-$n").toSet, s"round $round")
        // None of those in flight is repeated.
        assertEquals(first.size, 75, s"round $round")
        assertEquals(second.size, second.distinct.size, s"round $round")
        val committed = TestBroker.committed(group).map((tp, at) => (tp.partition, at.offset))
        assertEquals(committed.get(0), Some(75L), s"round $round")
        assertEquals(committed.getOrElse(1, 0L), second.size.toLong, s"round $round")

  test("of the stream of a partition it is the end, and what came before is committed"):
    val (topic, group) = (TestBroker.topic(2), TestBroker.name("group"))
    fillWithBad(topic)
    val read = KafkaConsumer(settings(GroupProtocol.Consumer))
      .partitions(Set(topic), group)
      .filter(_.topicPartition.partition == 0)
      .take(1)
      .flatMap(_.records.evalTap(_.done))
      .attempt
      .toVector
      .runSync()
    assertEquals(read.size, 76)
    assert(read.last.left.exists(_.getMessage.contains("offset 75")), s"${read.last}")
    assertEquals(TestBroker.committed(group)(TopicPartition(topic, 0)).offset, 75L)

  test("recordsAttempted has it as a value with its bytes, and it can be done"):
    val (topic, group) = (TestBroker.topic(2), TestBroker.name("group"))
    fillWithBad(topic)
    val read = KafkaConsumer(settings(GroupProtocol.Consumer))
      .recordsAttempted(Set(topic), group)
      .evalMap {
        case bad: UndecodableRecord => bad.done.as(Left(bad))
        case record: CommittableRecord[String, String] @unchecked =>
          record.done.as(Right(record.value))
      }
      .take(200)
      .toVector
      .runSync()
    val Vector(bad) = read.collect { case Left(bad) => bad }: @unchecked
    assertEquals((bad.record.topic, bad.record.offset), (topic, 75L))
    assertEquals(String(bad.record.value, UTF_8), "bad")
    assert(bad.error.getCause.isInstanceOf[SerializationException], s"${bad.error.getCause}")
    assertEquals(TestBroker.committedCount(group, topic), 200L)

  test("with Attempts it is a dead letter with the bytes that it had"):
    val (topic, group, dead) = (TestBroker.topic(2), TestBroker.name("group"), TestBroker.topic(1))
    fillWithBad(topic)
    val work = KafkaProducer.resource(TestBroker.producerSettings).use { producer =>
      KafkaConsumer(settings(GroupProtocol.Consumer))
        .recordsAttempted(Set(topic), group)
        .parEvalMapByKey(
          4,
          attempts = Attempts(1, deadLetters = Some(DeadLetters(producer, dead)))
        )(record => Task.raiseWhen(record.value == "1-3")(IllegalStateException("three")))
        .drain
    }
    during(work):
      eventually("all is committed")(TestBroker.committedCount(group, topic) == 200)
    assertEquals(TestBroker.readAll(dead).toSet, Set(("k75", "bad"), ("k3", "1-3")))

  test("without dead letters it fails recordsAttempted too, once the others are done"):
    val (topic, group) = (TestBroker.topic(2), TestBroker.name("group"))
    fillWithBad(topic)
    val done = ConcurrentLinkedQueue[String]()
    val error = intercept[KafkaFailure](
      KafkaConsumer(settings(GroupProtocol.Consumer))
        .recordsAttempted(Set(topic), group)
        .parEvalMapByKey(8)(record => Task.sleep(5.millis).map(_ => done.add(record.value): Unit))
        .drain
        .runSync()
    )
    assert(error.getMessage.contains(s"$topic-0 at offset 75"), error.getMessage)
    assertEquals(done.asScala.count(_.startsWith("0-")), 75)
    assertEquals(TestBroker.committedCount(group, topic), done.size.toLong)

  for protocol <- GroupProtocol.values do
    test(s"$protocol: an error of a poll comes after all that was polled before it is done"):
      val (topic, group) = (TestBroker.topic(1), TestBroker.name("group"))
      val partition = TopicPartition(topic, 0)
      // Each in a batch of its own, so that small fetches bring few.
      for n <- 0 until 100 do TestBroker.write(List(ProducerRecord(topic, 0, s"k$n", s"$n")))
      TestBroker.admin
        .alterConsumerGroupOffsets(group, java.util.Map.of(partition, OffsetAndMetadata(0)))
        .all
        .get(): Unit
      val buffered = 20
      val small = TestBroker
        .settings(protocol)
        .copy(
          bufferRecords = buffered,
          properties = Map(
            "auto.offset.reset" -> "none",
            "interceptor.classes" -> classOf[PolledCount].getName,
            "max.poll.records" -> "5",
            "max.partition.fetch.bytes" -> "200"
          )
        )
      val (hasBegun, isGone) = (CountDownLatch(2), CountDownLatch(1))
      val done = ConcurrentLinkedQueue[Long]()
      val work = KafkaConsumer(small)
        .records(Set(topic), group)
        .parEvalMapByKey(2, buffer = 0) { record =>
          Task.delay {
            hasBegun.countDown()
            isGone.await()
            done.add(record.offset): Unit
          }
        }
        .drain
      val ended = java.util.concurrent.CompletableFuture[weir.Outcome[Unit]]()
      val cancel = work.runAsync(outcome => ended.complete(outcome): Unit)
      try
        hasBegun.await()
        eventually("as many are polled as may wait")(PolledCount.of(group) >= buffered)
        val all = java.util.Map.of(partition, RecordsToDelete.beforeOffset(100))
        TestBroker.admin.deleteRecords(all).all.get(): Unit
        isGone.countDown()
        ended.get(60, java.util.concurrent.TimeUnit.SECONDS) match
          case weir.Outcome.Failed(error) =>
            assert(error.getMessage.contains(s"at offset "), s"$error")
            assert(error.getCause.isInstanceOf[OffsetOutOfRangeException], s"$error")
          case other => fail(s"$other")
      finally cancel()
      assert(done.size >= buffered, s"only ${done.size} were done")
      assertEquals(done.asScala.toVector.sorted, (0L until done.size).toVector)
      assertEquals(TestBroker.committedCount(group, topic), done.size.toLong)

/** Counts what the members of a group have polled. */
final class PolledCount extends ConsumerInterceptor[Any, Any]:
  private var group = ""
  def configure(properties: JMap[String, ?]): Unit = group = properties.get("group.id").toString
  def onConsume(records: ConsumerRecords[Any, Any]): ConsumerRecords[Any, Any] =
    PolledCount.counts.merge(group, records.count, _ + _): Unit
    records
  def onCommit(offsets: JMap[TopicPartition, OffsetAndMetadata]): Unit = ()
  def close(): Unit = ()

private object PolledCount:
  private val counts = ConcurrentHashMap[String, Int]()
  def of(group: String): Int = counts.getOrDefault(group, 0)
