package weir.kafka

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Map as JMap
import java.util.concurrent.ConcurrentLinkedQueue
import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.kafka.common.config.ConfigException
import org.apache.kafka.common.serialization.{Deserializer, Serializer, StringSerializer}
import scala.jdk.CollectionConverters.*
import weir.Task

/** Serializers and deserializers that have to be configured, and are closed, as those of schema
  * registries.
  */
class SerdesSuite extends KafkaSuite:

  /** The state that those of a registry have: a client, from the configuration to the close. */
  private trait Registered:
    protected var url = Option.empty[String]

    protected def connect(properties: JMap[String, ?]): Unit =
      val found = Option(properties.get("schema.registry.url"))
      url = Some(found.getOrElse(throw ConfigException("schema.registry.url is missing")).toString)

    protected def connected: String =
      url.getOrElse(throw IllegalStateException("It is not configured, or closed."))

  private final class Decoder extends Deserializer[String], Registered:
    override def configure(properties: JMap[String, ?], isKey: Boolean): Unit = connect(properties)
    def deserialize(topic: String, bytes: Array[Byte]): String =
      s"${String(bytes, UTF_8)} by $connected"
    override def close(): Unit = url = None

  private final class Encoder extends Serializer[String], Registered:
    override def configure(properties: JMap[String, ?], isKey: Boolean): Unit = connect(properties)
    def serialize(topic: String, text: String): Array[Byte] = s"$text of $connected".getBytes(UTF_8)
    override def close(): Unit = url = None

  private val registry = Map("schema.registry.url" -> "here")

  private def reading = ConsumerSettings(
    TestBroker.address,
    () => Decoder(),
    () => Decoder(),
    GroupProtocol.Consumer,
    properties = registry
  )

  private def writing = ProducerSettings(
    TestBroker.address,
    () => StringSerializer(),
    () => Encoder(),
    properties = registry
  )

  test("settings are used again and again, one after the other and side by side"):
    val topic = TestBroker.topic(2)
    val send = KafkaProducer.resource(writing).use { producer =>
      Task.traverse(0 to 1)(n => producer.send(ProducerRecord(topic, n, "k", n.toString)))
    }
    for _ <- 1 to 2 do send.runSync(): Unit
    Task.both(send, send).runSync(): Unit
    val settings = reading
    def read(group: String) = KafkaConsumer(settings)
      .records(Set(topic), group)
      .take(8)
      .map(record => s"${record.key}: ${record.value}")
      .toList
    val groups = List.fill(4)(TestBroker.name("group"))
    val first = groups.take(2).map(read(_).runSync())
    val (third, fourth) = Task.both(read(groups(2)), read(groups(3))).runSync()
    for all <- third :: fourth :: first do
      assertEquals(
        all.toSet,
        Set("k by here: 0 of here by here", "k by here: 1 of here by here")
      )

  test("a partition's stream and a transaction decode and encode with configured ones"):
    val (topic, results) = (TestBroker.topic(1), TestBroker.topic(1))
    TestBroker.fill(topic, 1, keys = 1)
    for _ <- 1 to 2 do
      val read = KafkaConsumer(reading)
        .partitions(Set(topic), TestBroker.name("group"))
        .flatMap(_.records.map(_.value))
      assertEquals(read.head.runSync(), Some("0 by here"))
      ExactlyOnce(reading, writing, TestBroker.name("id"))
        .run(Set(topic), TestBroker.name("group"), parallelism = 1)(record =>
          Task(List(ProducerRecord(results, record.key, record.value)))
        )
        .head
        .runSync(): Unit
    assertEquals(
      TestBroker.readAll(results),
      Vector.fill(2)(("k0 by here", "0 by here of here"))
    )

  test("properties that are missing are one clear error, and what was made is closed"):
    val made = ConcurrentLinkedQueue[String]()
    final class Closing extends Deserializer[String]:
      override def configure(properties: JMap[String, ?], isKey: Boolean): Unit =
        if !isKey then throw ConfigException("schema.registry.url is missing")
      def deserialize(topic: String, bytes: Array[Byte]): String = ""
      override def close(): Unit = made.add("closed"): Unit
    val settings = ConsumerSettings(TestBroker.address, () => Closing(), () => Closing())
    val read = KafkaConsumer(settings).records(Set(TestBroker.topic(1)), TestBroker.name("group"))
    val error = intercept[KafkaFailure](read.drain.runSync())
    assert(error.getMessage.contains("schema.registry.url is missing"), error.getMessage)
    assertEquals(made.asScala.toList, List("closed", "closed"))
    val send = KafkaProducer.resource(writing.copy(properties = Map.empty)).use(_ => Task.unit)
    val refused = intercept[KafkaFailure](send.runSync())
    assert(refused.getMessage.contains("schema.registry.url is missing"), refused.getMessage)
