package weir.kafka.testkit

import java.util.concurrent.ConcurrentLinkedQueue
import munit.FunSuite
import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.errors.RecordTooLargeException
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.*
import weir.kafka.*
import weir.testkit.TestRuntime

/** Tests programs on brokers in memory, in virtual time, as users do. */
class TestKafkaSuite extends FunSuite:
  private val group = "billing"

  private def testKafka(name: String)(test: TestKafka => Task[Any]): Unit =
    this.test(name)(TestRuntime.run(TestKafka.resource.use(test)): Unit)

  /** A topic with `count` records of `keys` keys; the values are the numbers from 0 on. */
  private def filled(kafka: TestKafka, partitions: Int, count: Int, keys: Int = 10): Task[Unit] =
    kafka
      .createTopic("orders", partitions)
      .andThen(kafka.write("orders", (0 until count).map(n => (s"k${n % keys}", s"$n"))*))

  private def records(kafka: TestKafka) =
    KafkaConsumer(kafka.consumerSettings).records(Set("orders"), group)

  private def until(condition: Task[Boolean]): Task[Unit] =
    condition.flatMap(is =>
      if is then Task.unit else Task.sleep(10.millis).andThen(until(condition))
    )

  private def committedCount(kafka: TestKafka): Task[Long] =
    kafka.committed(group).map(_.values.sum)

  testKafka("records are read, committed, and not read again"): kafka =>
    for
      _ <- filled(kafka, partitions = 3, count = 100)
      read <- records(kafka).take(60).evalTap(_.done).map(_.value).toVector
      left <- records(kafka).take(40).evalTap(_.done).map(_.value).toVector
      committed <- committedCount(kafka)
    yield
      assertEquals((read ++ left).map(_.toInt).sorted, (0 until 100).toVector)
      assertEquals(committed, 100L)

  testKafka("a topic that does not exist is a failure that says so"): kafka =>
    records(kafka).drain.attempt.map { result =>
      assert(result.left.exists(_.getMessage.contains("has no topic 'orders'")), result)
    }

  testKafka("a record that is tried again after five minutes takes these in virtual time"): kafka =>
    val attempts = Attempts[Nothing](3, backOff = Schedule.spaced(5.minutes))
    for
      _ <- filled(kafka, partitions = 1, count = 1)
      tries <- Ref.of(0)
      start <- Task.monotonic
      _ <- records(kafka)
        .parEvalMapByKey(1, attempts = attempts)(_ =>
          tries
            .updateAndGet(_ + 1)
            .flatMap(n => Task.when(n < 3)(Task.fail(RuntimeException("no"))))
        )
        .take(1)
        .drain
      end <- Task.monotonic
    yield assert(end - start >= 10.minutes && end - start < 11.minutes, end - start)

  testKafka("rebalances repeat nothing, and keep the order of each key"): kafka =>
    val done = ConcurrentLinkedQueue[(String, Int)]()
    val member = records(kafka)
      .parEvalMapByKey(4)(r =>
        Task.sleep(20.millis).map(_ => done.add((r.key, r.value.toInt)): Unit)
      )
      .drain
    for
      _ <- filled(kafka, partitions = 4, count = 400)
      members <- Task.parTraverse(Vector(1, 2, 3))(_ => member.start)
      _ <- Stream.fixedRate(200.millis).evalMap(_ => kafka.rebalance(group)).take(5).drain
      _ <- until(committedCount(kafka).map(_ == 400))
      _ <- Task.parTraverse(members)(_.cancel)
    yield
      val all = done.asScala.toVector
      assertEquals(all.map(_._2).sorted, (0 until 400).toVector)
      for (key, values) <- all.groupMap(_._1)(_._2) do assertEquals(values, values.sorted, key)

  testKafka("a member that the group gives up goes on with what it gets then"): kafka =>
    val done = ConcurrentLinkedQueue[Int]()
    for
      _ <- filled(kafka, partitions = 2, count = 100)
      work <- records(kafka)
        .parEvalMapByKey(2)(r => Task.sleep(50.millis).map(_ => done.add(r.value.toInt): Unit))
        .drain
        .start
      _ <- until(Task(done.size > 20))
      _ <- kafka.expire(group, 0)
      _ <- until(committedCount(kafka).map(_ == 100))
      _ <- work.cancel
    yield
      val all = done.asScala.toVector
      assertEquals(all.distinct.sorted, (0 until 100).toVector)
      // In flight, and done since the last commit.
      assert(all.size - 100 <= 2 + 2 * 3, s"${all.size - 100} twice")

  testKafka("the group waits for a member that is cut off as long as its session"): kafka =>
    val changes = ConcurrentLinkedQueue[(AssignmentChange, FiniteDuration)]()
    def reader(who: AssignmentChange => Task[Any]) =
      KafkaConsumer(kafka.consumerSettings.copy(onAssignmentChange = who))
        .records(Set("orders"), group)
        .evalTap(_.done)
        .drain
    val told: AssignmentChange => Task[Any] =
      change => Task.monotonic.map(now => changes.add((change, now)): Unit)
    for
      _ <- filled(kafka, partitions = 2, count = 10)
      first <- reader(_ => Task.unit).start
      _ <- until(kafka.members(group).map(_.map(_.size) == Vector(2)))
      second <- reader(told).start
      _ <- until(kafka.members(group).map(_.map(_.size) == Vector(1, 1)))
      cut <- Task.monotonic
      mend <- kafka.cutOff(group, 0)
      _ <- until(Task(changes.size == 2))
      _ <- mend
      _ <- until(kafka.members(group).map(_.map(_.size) == Vector(1, 1)))
      _ <- Task.both(first.cancel, second.cancel)
    yield
      val waited = changes.asScala.toVector(1)._2 - cut
      assert(waited >= 45.seconds && waited < 46.seconds, waited)

  testKafka("a poll that fails is an error in its place"): kafka =>
    val done = ConcurrentLinkedQueue[Int]()
    for
      _ <- filled(kafka, partitions = 1, count = 10)
      work <- records(kafka)
        .parEvalMapByKey(1)(r => Task.sleep(1.second).map(_ => done.add(r.value.toInt): Unit))
        .drain
        .start
      _ <- until(Task(done.size == 2))
      _ <- kafka.failPoll(group, 0, IllegalStateException("no more"))
      outcome <- work.join
    yield
      assertEquals(done.asScala.toVector, (0 until 10).toVector)
      assert(outcome.toString.contains("no more"), outcome)

  testKafka("exactly once: results and offsets of a group that changes"): kafka =>
    def member(n: Int) =
      ExactlyOnce(kafka.consumerSettings, kafka.producerSettings, s"pricing-$n")
        .run(Set("orders"), group, parallelism = 4)(r =>
          Task.sleep(10.millis).as(List(ProducerRecord("prices", r.key, r.value)))
        )
        .drain
    for
      _ <- filled(kafka, partitions = 2, count = 200)
      _ <- kafka.createTopic("prices")
      members <- Task.parTraverse(Vector(1, 2))(member(_).start)
      _ <- Task.sleep(100.millis)
      _ <- kafka.expire(group, 1)
      _ <- until(committedCount(kafka).map(_ == 200))
      _ <- Task.parTraverse(members)(_.cancel)
      prices <- kafka.records("prices")
    yield assertEquals(prices.map(_.value.toInt).sorted, (0 until 200).toVector)

  testKafka("a send fails as asked, and the next one does not"): kafka =>
    KafkaProducer.resource(kafka.producerSettings).use { producer =>
      for
        _ <- kafka.createTopic("orders")
        _ <- kafka.failSends(RecordTooLargeException("too long"))
        failed <- producer.send(ProducerRecord("orders", "a", "1")).attempt
        sent <- producer.send(ProducerRecord("orders", "a", "2"))
        all <- kafka.records("orders")
      yield
        assert(failed.left.exists(_.isInstanceOf[KafkaFailure]), failed)
        assertEquals(sent.offset, 0L)
        assertEquals(all.map(_.value), Vector("2"))
    }

  testKafka("records without a group begin at a time"): kafka =>
    def write(n: Int) =
      kafka.write("orders", "k" -> s"$n").andThen(Task.sleep(1.hour))
    for
      _ <- kafka.createTopic("orders")
      _ <- Task.traverse((0 until 4).toVector)(write)
      half = Position.Time(java.time.Instant.ofEpochSecond(90 * 60))
      read <- KafkaConsumer(kafka.consumerSettings)
        .recordsOf(Map(TopicPartition("orders", 0) -> half))
        .take(2)
        .map(_.value)
        .toVector
    yield assertEquals(read, Vector("2", "3"))
