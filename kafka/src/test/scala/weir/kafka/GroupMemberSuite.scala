package weir.kafka

import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch}
import java.util.concurrent.atomic.AtomicInteger
import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.kafka.common.TopicPartition
import scala.concurrent.Await
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.{Deferred, Task, WeirRuntime}

/** Tests a member that is looked at and steered while it reads. */
class GroupMemberSuite extends KafkaSuite:
  private val protocols =
    GroupProtocol.values.filter(protocol => protocol == GroupProtocol.Consumer || Tier.isLong)

  /** A topic with records of one key each in each partition; the values are the offsets. */
  private def filled(partitions: Int, each: Int): String =
    val topic = TestBroker.topic(partitions)
    TestBroker.write(
      for partition <- 0 until partitions; offset <- 0 until each
      yield ProducerRecord(topic, partition, s"k$offset", offset.toString)
    )
    topic

  private def member(
      topic: String,
      group: String,
      settings: ConsumerSettings[String, String] = TestBroker.settings(GroupProtocol.Consumer)
  ): GroupMember[String, String] = KafkaConsumer(settings).member(Set(topic), group).runSync()

  for protocol <- protocols do
    test(s"$protocol: a stop ends the stream once what is in flight is done and committed"):
      val (topic, group) = (filled(2, 50), TestBroker.name("group"))
      val reader = member(topic, group, TestBroker.settings(protocol))
      val hasBegun = CountDownLatch(8)
      val mayEnd = Deferred.unsafe[Unit]
      val done = ConcurrentLinkedQueue[(Int, Long)]()
      val work = reader.records
        .parEvalMapByKey(8) { r =>
          Task
            .delay(hasBegun.countDown())
            .andThen(mayEnd.get)
            .andThen(Task.delay(done.add((r.partition, r.offset)): Unit))
        }
        .count
      val ended = work.toFuture()
      hasBegun.await()
      reader.stop.runSync()
      mayEnd.complete(()).runSync(): Unit
      val count = Await.result(ended, 1.minute)
      assert(count >= 8 && count == done.size, s"$count of ${done.size}")
      val others = KafkaConsumer(TestBroker.settings(protocol)).records(Set(topic), group)
      val left = others.take(100 - count).map(r => (r.partition, r.offset)).toVector.runSync()
      assertEquals((done.asScala ++ left).toSet.size, 100)

  test("a member that is watched has figures, until that ends"):
    val (topic, group) = (filled(2, 50), TestBroker.name("group"))
    val reader = member(topic, group)
    val work = reader.records
      .parEvalMapByKey(100)(r => if r.offset < 20 then Task.unit else Task.never)
      .drain
    def figures = WeirRuntime.default.metrics
      .filter(_.name.startsWith("weir.kafka."))
      .flatMap(metric => metric.points.map(point => (metric.name, point.attributes, point.value)))
      .filter(_._2.contains("name" -> group))
      .toSet
    val expected =
      for
        partition <- Set("0", "1")
        (name, value) <- Set("lag" -> 30.0, "in_flight" -> 30.0, "uncommitted" -> 0.0)
      yield
        val attributes = Vector("name" -> group, "topic" -> topic, "partition" -> partition)
        (s"weir.kafka.$name", attributes, value)
    Task
      .race(
        work,
        reader
          .watched(1.second)
          .use(_ => Task(eventually(s"$figures")(figures == expected)))
          .andThen(Task(assertEquals(figures, Set.empty)))
      )
      .runSync(): Unit

  test("a stop ends the streams of partitions too, and one before the beginning all at once"):
    val (topic, group) = (filled(2, 10), TestBroker.name("group"))
    val reader = member(topic, group)
    val read = AtomicInteger()
    val work = reader.partitions
      .map(_.records.evalTap(r => Task.delay(read.incrementAndGet()).andThen(r.done)))
      .parJoinUnbounded
      .evalTap(_ => Task.when(read.get == 20)(reader.stop))
    assertEquals(work.count.runSync(), 20L)
    assertEquals(TestBroker.committedCount(group, topic), 20L)
    val late = member(topic, group)
    late.stop.runSync()
    assertEquals(late.records.count.runSync(), 0L)

  test("a stop does not wait longer for what is in flight than the deadline of a revoke"):
    val (topic, group) = (filled(1, 5), TestBroker.name("group"))
    val settings = TestBroker.settings(GroupProtocol.Consumer).copy(revokeDeadline = 300.millis)
    val reader = member(topic, group, settings)
    // Nothing is ever done.
    val read = reader.records.evalTap(r => Task.when(r.offset == 4)(reader.stop))
    assertEquals(read.count.runSync(), 5L)

  test("a cancel under stopOnCancel waits for what is in flight"):
    val (topic, group) = (filled(1, 50), TestBroker.name("group"))
    val reader = member(topic, group)
    val hasBegun = CountDownLatch(4)
    val (begun, done) = (AtomicInteger(), AtomicInteger())
    val work = reader.records.parEvalMapByKey(4) { _ =>
      Task
        .delay {
          begun.incrementAndGet()
          hasBegun.countDown()
        }
        .andThen(Task.sleep(300.millis))
        .andThen(Task.delay(done.incrementAndGet()))
    }
    during(reader.stopOnCancel(work.drain))(hasBegun.await())
    assertEquals(done.get, begun.get)
    val read = KafkaConsumer(TestBroker.settings(GroupProtocol.Consumer)).records(Set(topic), group)
    val left = read.take(50L - done.get).map(_.offset).toVector.runSync()
    assertEquals(left, (done.get.toLong until 50L).toVector)

  for protocol <- protocols do
    test(s"$protocol: the lag is counted from what is done"):
      val (topic, group) = (filled(1, 100), TestBroker.name("group"))
      val settings = TestBroker.settings(protocol).copy(commitInterval = 1.hour)
      val partition = TopicPartition(topic, 0)
      def isDone(offset: Long) = offset % 10 != 3
      val ends = Deferred.unsafe[Unit]
      val reader = member(topic, group, settings)
      assertEquals(reader.progress.runSync(), Map.empty)
      val held = reader.records
        .evalMap { r =>
          Task.when(isDone(r.offset))(r.done).andThen(Task.when(r.offset == 49)(ends.get))
        }
      during(held.drain):
        def now = reader.progress.runSync()
        eventually(s"50 are handed out: $now"):
          now == Map(partition -> PartitionProgress(Some(55), inFlight = 5, uncommitted = 45))
        assertEquals(reader.position(partition).runSync(), 3L)
        assert(reader.metrics.runSync().keys.exists(_.name == "records-lag-max"))
        TestBroker.write(List(ProducerRecord(topic, 0, "k", "100")))
        assertEquals(now(partition).lag, Some(56L))
        ends.complete(()).runSync(): Unit
        eventually(s"all are handed out: $now")(now(partition).inFlight == 10)
        assertEquals(now(partition).lag, Some(10L))
      assertEquals(reader.assigned.runSync(), Set.empty)
      // The map of the commit counts: nothing has been read, or only what is not done.
      val again = member(topic, group, settings)
      during(again.records.evalMap(_ => Task.never).drain):
        def lag = again.progress.runSync().get(partition).flatMap(_.lag)
        eventually(s"the map counts: $lag")(lag.contains(10L))

  test("a paused partition hands out nothing until it is resumed, and the others go on"):
    val (topic, group) = (TestBroker.topic(2), TestBroker.name("group"))
    val both = Vector(0, 1).map(TopicPartition(topic, _))
    val reader = member(topic, group)
    val read = ConcurrentLinkedQueue[(Int, String)]()
    def write(values: String*) =
      TestBroker.write(for v <- values; p <- 0 to 1 yield ProducerRecord(topic, p, "k", v))
    def readFrom(partition: Int) = read.asScala.toVector.collect { case (`partition`, v) => v }
    val work =
      reader.records.evalTap(r => Task.delay(read.add((r.partition, r.value))).andThen(r.done))
    during(work.drain):
      write("a")
      eventually("both are read")(read.size == 2)
      reader.pause(Set(both(0))).runSync()
      write("b", "c")
      eventually("the other is read")(readFrom(1) == Vector("a", "b", "c"))
      assertEquals(readFrom(0), Vector("a"))
      reader.resume(Set(both(0))).runSync()
      eventually("it is read")(readFrom(0) == Vector("a", "b", "c"))

  test("a seek goes on elsewhere, is committed, and keeps a pause"):
    val (topic, group) = (filled(1, 100), TestBroker.name("group"))
    val partition = TopicPartition(topic, 0)
    val reader = member(topic, group)
    val read = ConcurrentLinkedQueue[Long]()
    val work = reader.records.evalTap(r => Task.delay(read.add(r.offset): Unit).andThen(r.done))
    def offsets = read.asScala.toVector
    during(work.drain):
      eventually("all are read")(read.size == 100)
      reader.pause(Set(partition)).runSync()
      reader.seek(partition, Position.Offset(95)).runSync()
      assertEquals(reader.position(partition).runSync(), 95L)
      eventually("it is committed")(TestBroker.committedCount(group, topic) == 95)
      assertEquals(read.size, 100)
      reader.resume(Set(partition)).runSync()
      eventually("the end is read again")(offsets.drop(100) == (95L to 99L).toVector)
      reader.seek(partition, Position.Earliest).runSync()
      eventually("all are read again")(read.size == 205)
    assertEquals(offsets.drop(105), (0L to 99L).toVector)

  test("a seek begins another stream of the partition"):
    val (topic, group) = (filled(1, 20), TestBroker.name("group"))
    val partition = TopicPartition(topic, 0)
    val reader = member(topic, group)
    val read = reader.partitions.zipWithIndex.map { (assigned, index) =>
      assigned.records
        .evalTap(r =>
          r.done.andThen(
            Task.when(index == 0 && r.offset == 4)(reader.seek(partition, Position.Offset(18)))
          )
        )
        .map(r => (index, r.offset))
    }.parJoinUnbounded
    assertEquals(
      read.takeThrough(_ != (1L, 19L)).toVector.runSync(),
      (0 to 4).map(n => (0L, n.toLong)).toVector ++ Vector((1L, 18L), (1L, 19L))
    )

  test("what a member does not have, and a second run, are clear errors"):
    val (topic, group) = (filled(1, 1), TestBroker.name("group"))
    val reader = member(topic, group)
    val partition = TopicPartition(topic, 0)
    def message(task: Task[Any]) = intercept[Exception](task.runSync()).getMessage
    val before = message(reader.seek(partition, Position.Earliest))
    assert(before.contains(s"does not have the partitions $partition"), before)
    assertEquals(reader.records.take(1).count.runSync(), 1L)
    val again = message(reader.records.drain)
    assert(again.contains("A member reads once"), again)
    val after = message(reader.pause(Set(partition)))
    assert(after.contains(s"does not have the partitions $partition"), after)
