package weir.kafka

import java.io.{ByteArrayOutputStream, DataInputStream, DataOutputStream}
import java.util.concurrent.{CompletableFuture, ConcurrentLinkedQueue, CountDownLatch, TimeUnit}
import java.net.{InetAddress, ServerSocket, Socket}
import org.apache.kafka.clients.consumer.KafkaConsumer as Client
import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.kafka.common.errors.RecordTooLargeException
import org.apache.kafka.common.serialization.{IntegerDeserializer, StringDeserializer}
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.{Deferred, Outcome, Schedule, Task}

/** Each mistake is one clear error, within ten seconds. */
class BadInputSuite extends KafkaSuite:

  private def failure(
      settings: ConsumerSettings[?, ?] = TestBroker.settings(),
      topic: String = "",
      group: String = TestBroker.name("group")
  ): String =
    val asked = if topic.isEmpty then TestBroker.topic(1) else topic
    val start = System.nanoTime()
    val error =
      intercept[KafkaFailure](KafkaConsumer(settings).records(Set(asked), group).drain.runSync())
    val took = (System.nanoTime() - start).nanos
    assert(took < 10.seconds, s"$took")
    error.getMessage

  test("a broker that is not there"):
    val message = failure(
      TestBroker
        .settings()
        .copy(brokers = "127.0.0.1:1", connectTimeout = Tier(1.second, 8.seconds))
    )
    assert(message.startsWith("Kafka at 127.0.0.1:1 did not answer in time"), message)

  test("an address that cannot be"):
    val message = failure(TestBroker.settings().copy(brokers = "no-such-host.invalid:9092"))
    assert(message.contains("no-such-host.invalid"), message)

  test("a topic that is not there"):
    val message = failure(topic = "no-such-topic")
    assert(message.contains("has no topic 'no-such-topic'"), message)

  test("a name that no topic can have"):
    val message = failure(topic = "no topic")
    assert(message.contains("no topic"), message)

  private def saslSettings(password: String) = TestBroker
    .settings()
    .copy(
      brokers = TestBroker.saslAddress,
      properties = Map(
        "security.protocol" -> "SASL_PLAINTEXT",
        "sasl.mechanism" -> "PLAIN",
        "sasl.jaas.config" ->
          ("org.apache.kafka.common.security.plain.PlainLoginModule required " +
            s"username=\"weir\" password=\"$password\";")
      )
    )

  test("wrong credentials"):
    val message = failure(saslSettings("wrong"))
    assert(message.contains("refused the credentials"), message)
    val topic = TestBroker.topic(1)
    TestBroker.fill(topic, 1, keys = 1)
    val read = KafkaConsumer(saslSettings("right")).records(Set(topic), TestBroker.name("group"))
    assertEquals(read.take(1).count.runSync(), 1L)

  test("a right that is taken away for a moment is a refusal, after which a run may begin again"):
    val (topic, group) = (TestBroker.topic(2), TestBroker.name("group"))
    TestBroker.fill(topic, 20, keys = 20)
    val refusals = ConcurrentLinkedQueue[KafkaFailure]()
    val work = KafkaConsumer(saslSettings("right"))
      .records(Set(topic), group)
      .parEvalMapByKey(4)(_ => Task.unit)
      .drain
      .retryWhen(Schedule.spaced(50.millis)) {
        case failure: KafkaFailure => failure.isRefusal && refusals.add(failure)
        case _ => false
      }
    during(work):
      eventually("all is committed")(TestBroker.committedCount(group, topic) == 20)
      TestBroker.withoutReading("weir", topic):
        eventually("nothing is refused")(!refusals.isEmpty)
        TestBroker.fill(topic, 20, keys = 20)
      eventually("the rest is committed")(TestBroker.committedCount(group, topic) == 40)
    val message = refusals.peek.getMessage
    assert(message.contains(s"does not allow the group '$group' to use '$topic'"), message)

  test("a stream that ends fails if the broker refuses to commit what is done"):
    val (topic, group) = (TestBroker.topic(1), TestBroker.name("group"))
    TestBroker.fill(topic, 20, keys = 20)
    val (stop, mayEnd) = (Deferred.unsafe[Unit], Deferred.unsafe[Unit])
    val hasBegun = CountDownLatch(4)
    val work = KafkaConsumer(saslSettings("right").copy(commitInterval = 1.hour))
      .records(Set(topic), group)
      .interruptWhen(stop.get)
      .parEvalMapByKey(4)(_ => Task.delay(hasBegun.countDown()).andThen(mayEnd.get))
      .drain
    val ended = CompletableFuture[Outcome[Unit]]()
    work.runAsync(outcome => ended.complete(outcome): Unit): Unit
    hasBegun.await()
    stop.complete(()).runSync(): Unit
    TestBroker.withoutReading("weir", topic):
      def another =
        KafkaConsumer(saslSettings("right")).records(Set(topic), TestBroker.name("group"))
      eventually("the right is taken away")(another.take(1).drain.attempt.runSync().isLeft)
      mayEnd.complete(()).runSync(): Unit
      ended.get(1, TimeUnit.MINUTES) match
        case Outcome.Failed(failure: KafkaFailure) => assert(failure.isRefusal, failure.getMessage)
        case other => fail(s"$other, with ${TestBroker.committedCount(group, topic)} committed")

  test("a broker that speaks another security protocol"):
    val settings = TestBroker
      .settings()
      .copy(
        connectTimeout = Tier(1.second, 8.seconds),
        properties = Map("security.protocol" -> "SSL")
      )
    val message = failure(settings)
    assert(message.contains("security.protocol") || message.contains("ssl"), message)

  test("a group whose members assign partitions in another way"):
    val (topic, group) = (TestBroker.topic(1), TestBroker.name("group"))
    val other = Client[String, String](
      Map[String, AnyRef](
        "bootstrap.servers" -> TestBroker.address,
        "group.id" -> group,
        "partition.assignment.strategy" -> classOf[OddAssignor].getName
      ).asJava,
      StringDeserializer(),
      StringDeserializer()
    )
    try
      other.subscribe(java.util.List.of(topic))
      eventually("the other one is a member"):
        other.poll(java.time.Duration.ofMillis(10))
        !other.assignment.isEmpty
      val message = failure(TestBroker.settings(), topic, group)
      assert(message.contains(s"refused the group '$group'"), message)
    finally other.close()

  for protocol <- GroupProtocol.values do
    test(s"$protocol: a group of a program that is no consumer"):
      val (topic, group) = (TestBroker.topic(1), TestBroker.name("group"))
      val other = joinAs("connect", group)
      try
        val message = failure(TestBroker.settings(protocol), topic, group)
        assert(message.contains(s"refused the group '$group'"), message)
      finally other.close()

  /** A member of the group that is of this protocol type, as long as the connection is open. */
  private def joinAs(protocolType: String, group: String): Socket =
    val body = ByteArrayOutputStream()
    val out = DataOutputStream(body)
    out.writeShort(11) // JoinGroup
    out.writeShort(2)
    out.writeInt(1)
    def text(value: String): Unit =
      out.writeShort(value.length)
      out.writeBytes(value)
    text("other")
    text(group)
    out.writeInt(30_000) // session timeout
    out.writeInt(60_000) // rebalance timeout
    text("")
    text(protocolType)
    out.writeInt(1)
    text("sessioned")
    out.writeInt(0) // no metadata
    val Array(host, port) = TestBroker.address.split(':'): @unchecked
    val socket = Socket(host, port.toInt)
    val request = DataOutputStream(socket.getOutputStream)
    request.writeInt(body.size)
    request.write(body.toByteArray)
    request.flush()
    val answer = DataInputStream(socket.getInputStream)
    val _ = (answer.readInt(), answer.readInt(), answer.readInt())
    assertEquals(answer.readShort().toInt, 0, "the other member was refused")
    socket

  test("a record that the deserializer does not understand"):
    val topic = TestBroker.topic(1)
    TestBroker.fill(topic, 1, keys = 1)
    val settings =
      ConsumerSettings(TestBroker.address, () => StringDeserializer(), () => IntegerDeserializer())
    val message = failure(settings, topic)
    assert(message.contains(s"$topic-0 at offset 0"), message)

  test("a topic to write to that is not there"):
    val error = intercept[KafkaFailure](
      KafkaProducer
        .resource(TestBroker.producerSettings.copy(connectTimeout = 1.second))
        .use(_.send(ProducerRecord("no-such-topic", "k", "v")))
        .runSync()
    )
    assert(error.getMessage.contains("has no topic 'no-such-topic'"), error.getMessage)

  private def exactlyOnce(writing: ProducerSettings[String, String])(
      record: ProducerRecord[String, String]
  ): Task[Any] =
    val (topic, name) = (TestBroker.topic(1), TestBroker.name("group"))
    TestBroker.fill(topic, 1, keys = 1)
    ExactlyOnce(TestBroker.settings(), writing, name)
      .run(Set(topic), name, parallelism = 1)(_ => Task.pure(List(record)))
      .head

  test("a topic or a partition to write to in a transaction that is not there"):
    val writing = TestBroker.producerSettings.copy(connectTimeout = 1.second)
    val topic = TestBroker.topic(2)
    for (record, expected) <- List(
        ProducerRecord("no-such-topic", "k", "v") -> "has no topic 'no-such-topic'",
        ProducerRecord(topic, 2, "k", "v") -> s"has 2 partitions of the topic '$topic'"
      )
    do
      val error = intercept[KafkaFailure](exactlyOnce(writing)(record).runSync())
      assert(error.getMessage.contains(expected), error.getMessage)

  /** It takes connections, and never answers. */
  private def withSilentPort[A](body: String => A): A =
    val server = ServerSocket(0, 50, InetAddress.getLoopbackAddress)
    try body(s"127.0.0.1:${server.getLocalPort}")
    finally server.close()

  for what <- List("a producer", "a consumer", "a transaction") do
    test(s"a port that takes connections and is silent: $what"):
      val limit = Tier(1.second, 8.seconds)
      withSilentPort: address =>
        val writing = TestBroker.producerSettings.copy(brokers = address, connectTimeout = limit)
        val reading = TestBroker.settings().copy(brokers = address, connectTimeout = limit)
        val record = ProducerRecord("topic", "k", "v")
        val start = System.nanoTime()
        val error = intercept[KafkaFailure](what match
          case "a producer" => KafkaProducer.resource(writing).use(_.send(record)).runSync()
          case "a consumer" => KafkaConsumer(reading).records(Set("topic"), "group").head.runSync()
          case _ => exactlyOnce(writing)(record).runSync())
        val took = (System.nanoTime() - start).nanos
        assert(took < 10.seconds, s"$took")
        assert(error.getMessage.startsWith(s"Kafka at $address did not answer in time"), s"$error")

  test("a record that is too long is one, also in a transaction"):
    val writing = TestBroker.producerSettings.copy(properties = Map("max.request.size" -> "5000"))
    val record = ProducerRecord(TestBroker.topic(1), "k", "v" * 10_000)
    for work <- List(
        KafkaProducer.resource(writing).use(_.send(record)),
        exactlyOnce(writing)(record)
      )
    do
      val error = intercept[KafkaFailure](work.runSync())
      assert(error.getMessage.contains("max.request.size of the producer"), error.getMessage)
      assert(error.getCause.isInstanceOf[RecordTooLargeException], s"${error.getCause}")

  test("a group that has committed nothing, without a place to begin"):
    val settings = TestBroker.settings().copy(properties = Map("auto.offset.reset" -> "none"))
    val topic = TestBroker.topic(1)
    val message = failure(settings, topic)
    assert(message.contains(s"for $topic-0, and auto.offset.reset is none"), message)

  test("settings that contradict each other are refused before anything is opened"):
    val late = intercept[IllegalArgumentException](
      TestBroker.settings().copy(properties = Map("max.poll.interval.ms" -> "5000"))
    )
    assert(late.getMessage.contains("the revokeDeadline was 10 seconds"), late.getMessage)
    val own = intercept[IllegalArgumentException](
      TestBroker.settings().copy(properties = Map("enable.auto.commit" -> "true"))
    )
    assert(own.getMessage.contains("enable.auto.commit"), own.getMessage)

/** A way to assign partitions that no other program knows. */
final class OddAssignor extends org.apache.kafka.clients.consumer.RangeAssignor:
  override def name: String = "odd"
