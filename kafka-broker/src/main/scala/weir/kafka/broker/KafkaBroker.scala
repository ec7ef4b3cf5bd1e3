package weir.kafka.broker

import java.io.{File, IOException}
import java.lang.ProcessBuilder.Redirect
import java.net.{InetAddress, InetSocketAddress, ServerSocket, Socket, SocketTimeoutException}
import java.nio.channels.{FileChannel, OverlappingFileLockException}
import java.nio.file.{Files, Path, StandardOpenOption}
import java.util.UUID
import scala.concurrent.duration.*
import scala.util.Try
import weir.{Resource, Task}

/** A Kafka broker in a separate JVM, to which this process is attached. It ends when no process is
  * attached any more, even if that was killed. So several processes can share one.
  *
  * {{{
  * KafkaBroker.resource(BrokerSettings(topics = Map("orders" -> 4))).use { broker =>
  *   val settings =
  *     ConsumerSettings(broker.address, () => StringDeserializer(), () => StringDeserializer())
  *   KafkaConsumer(settings).records(Set("orders"), "billing").take(3).toVector
  * }
  * }}}
  *
  * @param port
  *   where it takes clients, on this machine
  * @param pid
  *   the number of its process
  */
final class KafkaBroker private (val port: Int, val pid: Long, attachment: Socket)
    extends AutoCloseable:
  /** Returns the address for clients, `host:port`. */
  def address: String = s"127.0.0.1:$port"

  /** Returns true while its process runs. */
  def isAlive: Boolean = ProcessHandle.of(pid).map(_.isAlive).orElse(false)

  /** Detaches. */
  def close(): Unit = attachment.close()

  /** Waits until its process has exited, and returns true. Returns false if others keep it up for
    * longer than `limit`. Call it after `close`. It blocks the thread.
    */
  def waitForExit(limit: FiniteDuration): Boolean = KafkaBroker.waitForExit(pid, limit)

object KafkaBroker:
  /** The longest wait for a start, on a busy machine. The wait ends earlier if the process has
    * ended.
    */
  private val limit = 10.minutes
  private val pollMillis = 200
  private val portTaken = "Address already in use"

  /** Starts a broker, with no data. At the release it ends, and its data is deleted, as it is if
    * this process is killed.
    *
    * **Waits** some seconds; the first time for each version of the artifact it also unpacks
    * Kafka's jars (42 MB) into the folder `.cache/weir` of the user, or the folder that the system
    * property `weir.broker.cache` names. **Fails** with an `IOException` that has the first error
    * of its output, if it does not start; also if others than the user and root own or may write
    * the folder with the jars.
    */
  def resource(settings: BrokerSettings = BrokerSettings()): Resource[KafkaBroker] =
    cluster(1, settings).map(_.head)

  /** Starts a cluster of that many brokers, as `resource` starts one. Clients take the addresses of
    * all: `brokers.map(_.address).mkString(",")`. Topics have a replica on each broker, up to
    * three.
    *
    * {{{
    * KafkaBroker.cluster(3).use { brokers =>
    *   test(brokers.map(_.address).mkString(","), kill = ProcessHandle.of(brokers(1).pid))
    * }
    * }}}
    */
  def cluster(
      size: Int,
      settings: BrokerSettings = BrokerSettings()
  ): Resource[Vector[KafkaBroker]] =
    require(size >= 1, s"KafkaBroker.cluster: the size was $size. It must be at least 1.")
    // Another program may take a port before the broker does.
    def tried(times: Int): Resource[Vector[KafkaBroker]] = once(size, settings).handleErrorWith {
      case error: IOException if times > 1 && error.getMessage.contains(portTaken) =>
        tried(times - 1)
      case error => Resource.eval(Task.fail(error))
    }
    tried(3)

  private def once(size: Int, settings: BrokerSettings): Resource[Vector[KafkaBroker]] =
    val inFolder = Resource.make(Task(Files.createTempDirectory("weir-kafka-broker-")))(folder =>
      Task.onPlatformThread(BrokerJars.delete(folder))
    )
    inFolder.flatMap { folder =>
      val ofNodes = ofCluster(size)
      val nodes = ofNodes.zipWithIndex.map { (ofNode, index) =>
        val first = settings.copy(properties = ofNode ++ settings.properties)
        val own = if index == 0 then first else first.copy(topics = Map.empty)
        val node = Node(folder.resolve(s"broker-$index"), own)
        Resource
          .make(Task.pure(node))(node => Task.onPlatformThread(node.end()))
          .evalMap(node => Task.onPlatformThread(node.start()))
      }
      Resource.parSequence(nodes).map(_.toVector)
    }

  /** Keeps the broker that it starts, so that a cancel at that moment does not lose it. */
  private final class Node(folder: Path, settings: BrokerSettings):
    @volatile private var started = Option.empty[KafkaBroker]

    def start(): KafkaBroker =
      val broker = in(folder, settings)
      started = Some(broker)
      broker

    def end(): Unit = started.foreach { broker =>
      broker.close()
      if !broker.waitForExit(10.seconds) then
        ProcessHandle.of(broker.pid).ifPresent(_.destroyForcibly(): Unit)
      broker.waitForExit(10.seconds): Unit
    }

  /** Returns Kafka's properties for each broker of a cluster. */
  private def ofCluster(size: Int): Vector[Map[String, String]] =
    val temporary = Map("weir.temporary" -> "all")
    if size == 1 then Vector(temporary)
    else
      val ports = freePorts(2 * size)
      val voters = Vector.tabulate(size)(n => s"${n + 1}@127.0.0.1:${ports(2 * n)}").mkString(",")
      val id = UUID.randomUUID.toString.replace("-", "").take(22)
      val replicas = math.min(size, 3).toString
      val shared = temporary ++ Map(
        "weir.cluster" -> id,
        "controller.quorum.voters" -> voters,
        "default.replication.factor" -> replicas,
        "offsets.topic.replication.factor" -> replicas,
        "transaction.state.log.replication.factor" -> replicas,
        "share.coordinator.state.topic.replication.factor" -> replicas
      )
      Vector.tabulate(size) { n =>
        shared ++ Map(
          "node.id" -> (n + 1).toString,
          "listeners" ->
            s"PLAINTEXT://127.0.0.1:${ports(2 * n + 1)},CONTROLLER://127.0.0.1:${ports(2 * n)}",
          "advertised.listeners" -> s"PLAINTEXT://127.0.0.1:${ports(2 * n + 1)}"
        )
      }

  /** Returns ports that were free a moment ago. */
  private def freePorts(count: Int): Vector[Int] =
    val sockets = Vector.fill(count)(ServerSocket(0, 1, InetAddress.getLoopbackAddress))
    try sockets.map(_.getLocalPort)
    finally sockets.foreach(_.close())

  /** Returns the broker whose data is in `folder`: the one that runs there, or else a new one. Its
    * data stays there, but not that of a new one with the property `weir.temporary=true`.
    *
    * **Waits** for it as long as its process runs, up to ten minutes. **Fails** with an
    * `IOException` that has the first error of its output, if it does not start.
    *
    * @param settings
    *   for a new one
    * @param waiting
    *   called again and again during a long wait, with its length so far
    */
  def in(
      folder: Path,
      settings: BrokerSettings,
      waiting: FiniteDuration => Unit = _ => (),
      tellEvery: FiniteDuration = 10.seconds
  ): KafkaBroker =
    val wait = Wait(waiting, tellEvery)
    Files.createDirectories(folder): Unit
    val lock = FileChannel.open(
      folder.resolveSibling(s"${folder.getFileName}.lock"),
      StandardOpenOption.CREATE,
      StandardOpenOption.WRITE
    )
    try
      await(lock)
      attach(folder, wait).getOrElse(start(folder, settings, wait))
    finally lock.close()

  /** Waits for the lock, which another thread of this JVM may have too. */
  private def await(lock: FileChannel): Unit =
    var isLocked = false
    while !isLocked do
      try
        lock.lock()
        isLocked = true
      catch case _: OverlappingFileLockException => Thread.sleep(20)

  private def start(folder: Path, settings: BrokerSettings, wait: Wait): KafkaBroker =
    val classPath = settings.classPath.getOrElse(BrokerJars.classPath())
    val topics = settings.topics.map((name, partitions) => s"$name:$partitions")
    val log = folder.resolveSibling(s"${folder.getFileName}.log")
    val java = Path.of(sys.props("java.home"), "bin", "java").toString
    val command = Seq(java) ++ settings.jvmFlags ++ Seq(
      "--sun-misc-unsafe-memory-access=allow",
      "--enable-native-access=ALL-UNNAMED",
      "-cp",
      classPath,
      "weir.broker.BrokerProgram",
      folder.toString,
      s"weir.topics=${topics.mkString(",")}"
    ) ++ settings.properties.map((key, value) => s"$key=$value")
    val process = ProcessBuilder(command*)
      .redirectInput(Redirect.from(File(nothing)))
      .redirectOutput(log.toFile)
      .redirectErrorStream(true)
      .start()
    var found = Option.empty[KafkaBroker]
    try
      while found.isEmpty do
        found = attach(folder, wait)
        if found.isEmpty then
          if !process.isAlive || wait.isOver then throw notStarted(log)
          Thread.sleep(20)
      found.get
    catch
      case error: Throwable => // an interrupt, too
        process.destroyForcibly().onExit.join(): Unit
        throw error

  private def nothing = if File("/dev/null").exists then "/dev/null" else "NUL"

  private def notStarted(log: Path): IOException =
    val said = Try(Files.readString(log)).getOrElse("").linesIterator.filter(_.nonEmpty).toVector
    val why =
      said
        .find(_.contains(portTaken))
        .orElse(said.find(_.contains("Exception")).orElse(said.lastOption))
    IOException(s"the broker did not start: ${why.getOrElse("it said nothing")}")

  /** Returns the running broker; none if there is none, or if it has ended meanwhile. */
  private def attach(folder: Path, wait: Wait): Option[KafkaBroker] =
    val state = folder.resolve("broker")
    Try(Files.readString(state).trim.split(' ')).toOption.flatMap {
      case Array(port, attachments, pid) =>
        val process = writerOf(state, pid.toLong)
        val attached = connect(attachments.toInt, () => process.exists(_.isAlive) && !wait.isOver)
        if attached.isEmpty then
          // Its data must be free before another one starts.
          while process.exists(_.isAlive) && !wait.isOver do Thread.sleep(20)
          Files.deleteIfExists(state): Unit
        attached.map(KafkaBroker(port.toInt, pid.toLong, _))
      case _ => None
    }

  /** The process that wrote `state`. A process that started later only has the same number. */
  private def writerOf(state: Path, pid: Long): Option[ProcessHandle] =
    val written = Try(Files.getLastModifiedTime(state).toInstant).toOption
    Option(ProcessHandle.of(pid).orElse(null)).filter { process =>
      val started = Option(process.info.startInstant.orElse(null))
      started.forall(start => written.forall(!start.isAfter(_)))
    }

  /** Connects to the broker. **Waits** for the answer on one connection, since the broker takes a
    * closed one for a user that has left. Returns none if the broker is not there, or ends.
    */
  private def connect(port: Int, isAwaited: () => Boolean): Option[Socket] =
    val socket = Socket()
    var isAttached = false
    try
      socket.connect(InetSocketAddress(InetAddress.getLoopbackAddress, port))
      socket.setSoTimeout(pollMillis)
      isAttached = answers(socket, isAwaited)
      Option.when(isAttached)(socket)
    catch case _: IOException => None
    finally if !isAttached then socket.close()

  private def answers(socket: Socket, isAwaited: () => Boolean): Boolean =
    while isAwaited() do
      try return socket.getInputStream.read() == 'A'
      catch case _: SocketTimeoutException => ()
    false

  private def waitForExit(pid: Long, limit: FiniteDuration): Boolean =
    val process = Option(ProcessHandle.of(pid).orElse(null))
    process.forall(running => Try(running.onExit.get(limit.length, limit.unit)).isSuccess)

  /** The time that a call has waited, which it tells from time to time. */
  private final class Wait(tell: FiniteDuration => Unit, tellEvery: FiniteDuration):
    private val start = System.nanoTime()
    private var nextTold = tellEvery

    def isOver: Boolean =
      val waited = (System.nanoTime() - start).nanos
      if waited >= nextTold then
        nextTold = waited + tellEvery
        tell(waited)
      waited > limit
