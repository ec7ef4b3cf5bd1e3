package weir.kafka

import java.io.IOException
import java.net.ServerSocket
import java.nio.file.Files
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import org.apache.kafka.clients.admin.{
  Admin,
  AdminClientConfig,
  AlterConfigOp,
  ConfigEntry,
  NewTopic,
  OffsetSpec
}
import org.apache.kafka.clients.consumer.OffsetAndMetadata
import org.apache.kafka.clients.producer.{KafkaProducer as Client, ProducerConfig, ProducerRecord}
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.acl.{AccessControlEntry, AclBinding, AclOperation, AclPermissionType}
import org.apache.kafka.common.config.ConfigResource
import org.apache.kafka.common.resource.{PatternType, ResourcePattern, ResourceType}
import org.apache.kafka.common.serialization.{StringDeserializer, StringSerializer}
import scala.concurrent.duration.DurationInt
import scala.jdk.CollectionConverters.*
import scala.util.Try
import weir.kafka.broker.{BrokerSettings, KafkaBroker}

/** Returns the settings of brokers that have the jars of this build. */
def brokerSettings(properties: Map[String, String]): BrokerSettings =
  val more = sys.props.get("weir.broker.flags").toSeq.flatMap(_.split(" "))
  BrokerSettings(
    properties = properties,
    jvmFlags = BrokerSettings.usualFlags ++ more,
    classPath = sys.props.get("weir.broker.classpath")
  )

/** The broker that all suites of a test JVM share. It ends with the JVM, and leaves no file. */
object TestBroker:
  private val folder = Files.createTempDirectory("weir-kafka-test-")

  /** In front of the broker's second listener: what it says to its clients is this proxy's port. */
  val proxy = TcpProxy()
  private val (broker, proxied, sasl) = started(attempts = 3)

  proxy.forwardTo(proxied)
  sys.addShutdownHook {
    broker.close()
    broker.waitForExit(10.seconds): Unit
    folder.toFile.listFiles.foreach(_.delete())
    Files.deleteIfExists(folder): Unit
  }: Unit

  def address: String = broker.address
  def proxiedAddress: String = s"127.0.0.1:${proxy.port}"
  def saslAddress: String = s"127.0.0.1:$sasl"

  val admin: Admin = Admin.create(
    Map[String, AnyRef](AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG -> address).asJava
  )

  private val names = AtomicInteger()

  /** A name that no other test uses. */
  def name(what: String): String = s"$what-${names.incrementAndGet()}"

  def topic(partitions: Int = 4): String =
    val made = name("topic")
    admin.createTopics(java.util.List.of(NewTopic(made, partitions, 1: Short))).all.get(): Unit
    def hasLeaders = Try {
      admin.describeTopics(java.util.List.of(made)).allTopicNames.get.get(made).partitions.asScala
    }.toOption.exists(found => found.size == partitions && found.forall(_.leader != null))
    while !hasLeaders do Thread.sleep(5)
    // Their leaders serve them. A producer that begins earlier may hang: KAFKA-14359.
    val asked = (0 until partitions).map(TopicPartition(made, _) -> OffsetSpec.latest)
    admin.listOffsets(asked.toMap[TopicPartition, OffsetSpec].asJava).all.get(): Unit
    made

  private lazy val producer = Client[String, String](
    Map[String, AnyRef](
      ProducerConfig.BOOTSTRAP_SERVERS_CONFIG -> address,
      ProducerConfig.LINGER_MS_CONFIG -> "0"
    ).asJava,
    StringSerializer(),
    StringSerializer()
  )

  /** Writes them, by Kafka's own client, and waits for that. */
  def write(records: Iterable[ProducerRecord[String, String]]): Unit =
    val sent = records.map(producer.send(_)).toVector
    producer.flush()
    sent.foreach(_.get(30, TimeUnit.SECONDS))

  /** `count` records with the keys `k0` to `k<keys - 1>` in turns; the values are `0` to the last.
    */
  def fill(topic: String, count: Int, keys: Int): Unit =
    write((0 until count).map(n => ProducerRecord(topic, s"k${n % keys}", n.toString)))

  def committed(group: String): Map[TopicPartition, OffsetAndMetadata] =
    admin
      .listConsumerGroupOffsets(group)
      .partitionsToOffsetAndMetadata
      .get
      .asScala
      .toMap
      .filter(_._2 != null)

  /** The group gives the partitions of a silent member away after 900 ms: for those of the new
    * protocol, the broker says how long.
    */
  def shortenSession(group: String): Unit =
    def set(name: String, value: Int) =
      AlterConfigOp(ConfigEntry(s"consumer.$name.ms", value.toString), AlterConfigOp.OpType.SET)
    val changes: java.util.Collection[AlterConfigOp] =
      java.util.List.of(set("session.timeout", 900), set("heartbeat.interval", 200))
    val resource = ConfigResource(ConfigResource.Type.GROUP, group)
    admin.incrementalAlterConfigs(java.util.Map.of(resource, changes)).all.get(): Unit

  /** While `body` runs, the user must not read the topic. */
  def withoutReading[A](user: String, topic: String)(body: => A): A =
    val denied = AclBinding(
      ResourcePattern(ResourceType.TOPIC, topic, PatternType.LITERAL),
      AccessControlEntry(s"User:$user", "*", AclOperation.READ, AclPermissionType.DENY)
    )
    admin.createAcls(java.util.List.of(denied)).all.get(): Unit
    try body
    finally admin.deleteAcls(java.util.List.of(denied.toFilter)).all.get(): Unit

  def members(group: String): Int =
    admin.describeConsumerGroups(java.util.List.of(group)).all.get.get(group).members.size

  /** Returns the number of records of the topic before the committed offsets of the group. */
  def committedCount(group: String, topic: String): Long =
    committed(group).collect { case (tp, at) if tp.topic == topic => at.offset }.sum

  def settings(
      groupProtocol: GroupProtocol = GroupProtocol.Classic
  ): ConsumerSettings[String, String] =
    ConsumerSettings(
      address,
      () => StringDeserializer(),
      () => StringDeserializer(),
      groupProtocol,
      connectTimeout = 1.minute // the machine may be busy
    )

  def producerSettings: ProducerSettings[String, String] =
    ProducerSettings(
      address,
      () => StringSerializer(),
      () => StringSerializer(),
      connectTimeout = 1.minute
    )

  /** All records that are in the topic now, as one who reads committed ones sees them. */
  def readAll(topic: String): Vector[(String, String)] =
    withReader("read_uncommitted")(all => withReader("read_committed")(readTo(topic, all, _)))

  /** To the end of all records, not of those that are committed now: the transaction of a member
    * that was killed holds up what comes after it until the broker ends it.
    */
  private def readTo(topic: String, all: Reader, committed: Reader): Vector[(String, String)] =
    val partitions =
      all.partitionsFor(topic).asScala.map(p => TopicPartition(topic, p.partition)).asJava
    val ends = all.endOffsets(partitions).asScala
    committed.assign(partitions)
    committed.seekToBeginning(partitions)
    val found = Vector.newBuilder[(String, String)]
    while ends.exists((partition, end) => committed.position(partition) < end) do
      committed.poll(java.time.Duration.ofMillis(50)).forEach(r => found += ((r.key, r.value)))
    found.result()

  private type Reader = org.apache.kafka.clients.consumer.KafkaConsumer[String, String]

  private def withReader[A](isolation: String)(use: Reader => A): A =
    val settings =
      Map[String, AnyRef]("bootstrap.servers" -> address, "isolation.level" -> isolation)
    val reader = org.apache.kafka.clients.consumer.KafkaConsumer(
      settings.asJava,
      StringDeserializer(),
      StringDeserializer()
    )
    try use(reader)
    finally reader.close()

  /** A port that is free may be taken before the broker has it, also by the broker itself. */
  private def started(attempts: Int): (KafkaBroker, Int, Int) =
    val (proxied, sasl) = (freePort(), freePort())
    try (start(proxied, sasl), proxied, sasl)
    catch case _: IOException if attempts > 1 => started(attempts - 1)

  private def start(proxied: Int, sasl: Int): KafkaBroker = KafkaBroker.in(
    folder.resolve("broker"),
    brokerSettings(
      Map(
        "weir.temporary" -> "true",
        "weir.listeners" -> s"PROXIED://127.0.0.1:$proxied,SECRET://127.0.0.1:$sasl",
        "weir.advertised" -> s"PROXIED://127.0.0.1:${proxy.port},SECRET://127.0.0.1:$sasl",
        "listener.security.protocol.map" ->
          ("PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,PROXIED:PLAINTEXT,SECRET:SASL_PLAINTEXT"),
        "sasl.enabled.mechanisms" -> "PLAIN",
        "listener.name.secret.plain.sasl.jaas.config" ->
          ("org.apache.kafka.common.security.plain.PlainLoginModule required " +
            "user_weir=\"right\";"),
        "authorizer.class.name" -> "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "allow.everyone.if.no.acl.found" -> "true",
        "super.users" -> "User:ANONYMOUS",
        "group.min.session.timeout.ms" -> "500",
        "group.consumer.min.session.timeout.ms" -> "500",
        "group.consumer.session.timeout.ms" -> "4000",
        "group.consumer.min.heartbeat.interval.ms" -> "100",
        "group.consumer.heartbeat.interval.ms" -> "300",
        "group.share.min.session.timeout.ms" -> "500",
        "group.share.session.timeout.ms" -> "2000",
        "group.share.min.heartbeat.interval.ms" -> "100",
        "group.share.heartbeat.interval.ms" -> "300",
        "group.share.min.record.lock.duration.ms" -> "1000",
        "transaction.abort.timed.out.transaction.cleanup.interval.ms" -> "500"
      )
    )
  )

  private def freePort(): Int =
    val socket = ServerSocket(0)
    try socket.getLocalPort
    finally socket.close()
