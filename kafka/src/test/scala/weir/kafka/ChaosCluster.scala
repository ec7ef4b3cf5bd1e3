package weir.kafka

import java.io.IOException
import java.net.ServerSocket
import java.nio.file.Files
import java.util.Comparator
import java.util.concurrent.{CompletableFuture, ConcurrentHashMap, Executor, ThreadLocalRandom}
import org.apache.kafka.clients.admin.{
  Admin,
  ListConsumerGroupOffsetsOptions,
  NewPartitions,
  NewTopic,
  OffsetSpec
}
import org.apache.kafka.common.{TopicPartition, Uuid}
import org.apache.kafka.common.serialization.StringDeserializer
import org.apache.kafka.clients.consumer.KafkaConsumer as Client
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import scala.util.{Try, Using}
import weir.Task
import weir.kafka.broker.KafkaBroker

/** Brokers of a cluster that are stopped, killed, and started again with their data.
  *
  * @param members
  *   the number of members of groups. Each has a listener of its own at each broker, and a proxy in
  *   front of it, so that it can be cut off alone.
  * @param loadBytes
  *   the number of bytes after which a broker that loads groups sees that it does not lead them any
  *   more. With Kafka's own 5 MB it may see it too late, and break the groups: see
  *   `DeadMemberProgram`
  */
final class ChaosCluster(size: Int, members: Int, loadBytes: Int = 32768) extends AutoCloseable:
  import ChaosCluster.*

  private val folder = Files.createTempDirectory("weir-kafka-chaos-")
  private val id = Uuid.randomUuid().toString
  private val nodes = Vector.tabulate(size)(Node(_))
  try together(nodes)(_.start())
  catch
    case error: Throwable =>
      nodes.foreach(_.end())
      throw error

  /** The addresses that nothing cuts off. */
  val address: String = nodes.map(_.address).mkString(",")

  /** The addresses for a member. */
  def addressOf(member: Int): String =
    nodes.map(node => s"127.0.0.1:${node.proxies(member).port}").mkString(",")

  val admin: Admin = Admin.create(Map[String, AnyRef]("bootstrap.servers" -> address).asJava)

  def topic(name: String, partitions: Int): Unit =
    admin.createTopics(java.util.List.of(NewTopic(name, partitions, size.toShort))).all.get(): Unit
    awaitLeaders(name, partitions)

  def grow(topic: String, partitions: Int): Unit =
    val more = java.util.Map.of(topic, NewPartitions.increaseTo(partitions))
    admin.createPartitions(more).all.get(): Unit
    awaitLeaders(topic, partitions)

  /** A producer that begins earlier may hang: KAFKA-14359. */
  private def awaitLeaders(topic: String, partitions: Int): Unit =
    val asked = (0 until partitions).map(TopicPartition(topic, _) -> OffsetSpec.latest).toMap
    while Try(admin.listOffsets(asked.asJava).all.get()).isFailure do Thread.sleep(50)

  /** Returns the number of records before the committed offsets; none if the brokers do not say. */
  def committedCount(group: String, topic: String): Option[Long] = Try {
    val offsets = admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata.get
    offsets.asScala.collect { case (at, offset) if at.topic == topic => offset.offset }.sum
  }.toOption

  /** Returns the client ids of the members; none if the brokers do not say. */
  def membersOf(group: String): Option[Vector[String]] = Try {
    val described = admin.describeConsumerGroups(java.util.List.of(group)).all.get.get(group)
    described.members.asScala.iterator.map(_.clientId).toVector.sorted
  }.toOption

  /** Shuts one broker after the other down, in order, and starts it again. */
  def restart(): Unit = nodes.foreach(_.restart())

  /** Aborts the transactions that hang in the partitions of these topics, and returns them. */
  def abortHanging(topics: Set[String]): Vector[HangingTransaction] =
    KafkaAdmin
      .resource(address, timeout = 1.minute)
      .use(admin =>
        admin
          .hangingTransactions(topics)
          .flatMap(hanging => Task.traverse(hanging)(admin.abort).as(hanging))
      )
      .runSync()

  /** Describes what a group is stuck at: its members, offsets and the open transactions. */
  def state(group: String, topic: String): String =
    def tried(name: String)(body: => Any): String =
      s"$name: ${Try(body).fold(_.toString, _.toString)}"
    val partitions = admin.describeTopics(java.util.List.of(topic)).allTopicNames.get.get(topic)
    val asked = partitions.partitions.asScala
      .map(at => TopicPartition(topic, at.partition) -> OffsetSpec.latest)
      .toMap
    Seq(
      tried("group")(admin.describeConsumerGroups(java.util.List.of(group)).all.get),
      tried("committed")(admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata.get),
      tried("committed and stable") {
        val stable = ListConsumerGroupOffsetsOptions().requireStable(true).timeoutMs(5000)
        admin.listConsumerGroupOffsets(group, stable).partitionsToOffsetAndMetadata.get
      },
      tried("ends")(admin.listOffsets(asked.asJava).all.get),
      tried("transactions") {
        val all = admin.listTransactions().all.get.asScala.map(_.transactionalId)
        admin.describeTransactions(all.asJavaCollection).all.get.asScala.mkString("\n  ")
      }
    ).mkString("\n")

  /** Returns all committed records of the topic, whose partitions do not grow. */
  def readAll(topic: String): Vector[(String, String)] =
    val properties =
      Map[String, AnyRef]("bootstrap.servers" -> address, "isolation.level" -> "read_committed")
    Using.resource(Client(properties.asJava, StringDeserializer(), StringDeserializer())): reader =>
      val partitions =
        reader.partitionsFor(topic).asScala.map(at => TopicPartition(topic, at.partition))
      val asked = partitions.map(_ -> OffsetSpec.latest).toMap
      // Of all records: those of a transaction that nobody ends are waited for.
      val ends = admin.listOffsets(asked.asJava).all.get.asScala
      reader.assign(partitions.asJava)
      reader.seekToBeginning(partitions.asJava)
      val found = Vector.newBuilder[(String, String)]
      while ends.exists((at, end) => reader.position(at) < end.offset) do
        reader.poll(java.time.Duration.ofMillis(50)).forEach(r => found += ((r.key, r.value)))
      found.result()

  /** Kills a broker, and starts it again. */
  def kill(broker: Int, away: FiniteDuration): Unit =
    nodes(broker).kill()
    Thread.sleep(away.toMillis)
    nodes(broker).start()

  /** Has a broker stand still. */
  def stop(broker: Int, time: FiniteDuration): Unit =
    nodes(broker).signal("STOP")
    try Thread.sleep(time.toMillis)
    finally nodes(broker).signal("CONT")

  /** Ends the connections of a member. */
  def cut(member: Int, time: FiniteDuration): Unit =
    val proxies = nodes.map(_.proxies(member))
    proxies.foreach(_.cut())
    try Thread.sleep(time.toMillis)
    finally proxies.foreach(_.mend())

  /** Holds what a member sends, and lets it pass later. */
  def hold(member: Int, time: FiniteDuration): Unit =
    def holding(proxies: List[TcpProxy]): Unit = proxies match
      case first :: others => first.holding(TcpProxy.anyKey)(_ => holding(others))
      case Nil => Thread.sleep(time.toMillis)
    holding(nodes.map(_.proxies(member)).toList)

  def close(): Unit =
    admin.close(java.time.Duration.ZERO)
    nodes.foreach(_.end())
    Using.resource(Files.walk(folder))(
      _.sorted(Comparator.reverseOrder()).forEach(path => Files.deleteIfExists(path): Unit)
    )

  private final class Node(index: Int):
    private val port = freePort()
    val controllerPort: Int = freePort()
    private val memberPorts = Vector.fill(members)(freePort())
    val proxies: Vector[TcpProxy] = memberPorts.map { port =>
      val proxy = TcpProxy()
      proxy.forwardTo(port)
      proxy
    }
    private var broker: KafkaBroker | Null = null

    def address: String = s"127.0.0.1:$port"

    /** Another program may have one of its ports for a moment. */
    def start(): Unit =
      val deadline = 2.minutes.fromNow
      while broker == null do
        try broker = started()
        catch case _: IOException if deadline.hasTimeLeft() => Thread.sleep(500)

    private def started(): KafkaBroker = KafkaBroker.in(
      folder.resolve(s"broker-$index"),
      brokerSettings(properties(index))
    )

    def kill(): Unit =
      val running = broker.nn
      ProcessHandle.of(running.pid).ifPresent { process =>
        process.destroyForcibly()
        process.onExit.join(): Unit
      }
      running.close()
      broker = null

    def restart(): Unit =
      val running = broker.nn
      running.close()
      if running.waitForExit(1.minute) then broker = null else kill()
      start()

    def signal(name: String): Unit =
      ProcessBuilder("kill", s"-$name", broker.nn.pid.toString).start().waitFor(): Unit

    def end(): Unit =
      proxies.foreach(_.close())
      if broker != null then kill()

    def listeners(ofMembers: Vector[Int]): String =
      (s"PLAINTEXT://$address" +: ofMembers.zipWithIndex.map((port, member) =>
        s"MEMBER$member://127.0.0.1:$port"
      )).mkString(",")

    def bound: String = s"${listeners(memberPorts)},CONTROLLER://127.0.0.1:$controllerPort"
    def advertised: String = listeners(proxies.map(_.port))

  private def properties(index: Int): Map[String, String] =
    val voters = nodes.zipWithIndex.map((node, n) => s"${n + 1}@127.0.0.1:${node.controllerPort}")
    val names = "PLAINTEXT" +: "CONTROLLER" +: Vector.tabulate(members)(n => s"MEMBER$n")
    val enough = math.min(size, 2).toString
    quick ++ Map(
      "weir.cluster" -> id,
      "node.id" -> (index + 1).toString,
      "controller.quorum.voters" -> voters.mkString(","),
      "listeners" -> nodes(index).bound,
      "advertised.listeners" -> nodes(index).advertised,
      "listener.security.protocol.map" -> names.map(name => s"$name:PLAINTEXT").mkString(","),
      "offsets.topic.replication.factor" -> size.toString,
      "offsets.load.buffer.size" -> loadBytes.toString,
      "transaction.state.log.replication.factor" -> size.toString,
      "transaction.state.log.min.isr" -> enough,
      "min.insync.replicas" -> enough
    )

private object ChaosCluster:
  /** The cluster sees within seconds that a member or a broker is away. */
  val quick: Map[String, String] = Map(
    "group.min.session.timeout.ms" -> "500",
    "group.consumer.min.session.timeout.ms" -> "500",
    "group.consumer.session.timeout.ms" -> "4000",
    "group.consumer.min.heartbeat.interval.ms" -> "100",
    "group.consumer.heartbeat.interval.ms" -> "300",
    "transaction.abort.timed.out.transaction.cleanup.interval.ms" -> "500",
    "broker.session.timeout.ms" -> "3000",
    "broker.heartbeat.interval.ms" -> "500",
    "replica.lag.time.max.ms" -> "3000"
  )

  /** On a thread each: a node does not start before most of the others do. */
  private def together[A](all: Seq[A])(body: A => Unit): Unit =
    val threads: Executor = code => Thread.ofPlatform().start(code): Unit
    all.map(one => CompletableFuture.runAsync(() => body(one), threads)).foreach(_.join())

  private val used = ConcurrentHashMap.newKeySet[Int]()

  /** Below those that systems give to outgoing connections: so nobody gets it while its broker is
    * away.
    */
  private def freePort(): Int =
    Iterator
      .continually(ThreadLocalRandom.current().nextInt(20000, 32000))
      .filter(used.add)
      .find(port => Try(ServerSocket(port).close()).isSuccess)
      .get
