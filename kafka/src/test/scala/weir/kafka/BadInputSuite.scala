package weir.kafka

import java.io.{ByteArrayOutputStream, DataInputStream, DataOutputStream}
import java.net.Socket
import org.apache.kafka.clients.consumer.KafkaConsumer as Client
import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.kafka.common.serialization.{IntegerDeserializer, StringDeserializer}
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*

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

  test("wrong credentials"):
    def settings(password: String) = TestBroker
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
    val message = failure(settings("wrong"))
    assert(message.contains("refused the credentials"), message)
    val topic = TestBroker.topic(1)
    TestBroker.fill(topic, 1, keys = 1)
    val read = KafkaConsumer(settings("right")).records(Set(topic), TestBroker.name("group"))
    assertEquals(read.take(1).count.runSync(), 1L)

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
    assert(error.getMessage.contains("no-such-topic"), error.getMessage)

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
