package weir.kafka.broker

import java.io.{File, IOException}
import java.net.{InetAddress, ServerSocket, URLClassLoader}
import java.nio.file.attribute.{FileTime, PosixFilePermissions}
import java.nio.file.{Files, Path}
import java.util.concurrent.TimeUnit
import org.apache.kafka.clients.admin.Admin
import org.apache.kafka.common.config.ConfigResource
import scala.concurrent.duration.*
import scala.io.Source
import scala.jdk.CollectionConverters.*
import scala.util.{Try, Using}
import weir.{Task, Tier}

/** Brokers of Kafka, as a user's tests start them. */
class RealBrokerSuite extends munit.FunSuite:
  override def munitTimeout: Duration = 5.minutes

  private val ofBuild = BrokerSettings(
    jvmFlags = BrokerSettings.usualFlags ++ sys.props("weir.broker.flags").split(" "),
    classPath = sys.props.get("weir.broker.classpath")
  )

  /** Returns the numbers of partitions and of replicas of the topics. */
  private def topics(address: String): Map[String, (Int, Int)] =
    val properties = Map[String, AnyRef]("bootstrap.servers" -> address)
    Using.resource(Admin.create(properties.asJava)): admin =>
      val names = admin.listTopics.names.get
      val found = admin.describeTopics(names).allTopicNames.get.asScala.toMap
      found.map { (name, topic) =>
        name -> (topic.partitions.size, topic.partitions.get(0).replicas.size)
      }

  /** Returns a property of the first broker. */
  private def property(address: String, name: String): String =
    val properties = Map[String, AnyRef]("bootstrap.servers" -> address)
    val first = ConfigResource(ConfigResource.Type.BROKER, "1")
    Using.resource(Admin.create(properties.asJava)): admin =>
      admin.describeConfigs(java.util.List.of(first)).all.get.get(first).get(name).value

  /** The folders of brokers that are there now. */
  private def folders: Set[String] =
    val all = Path.of(sys.props("java.io.tmpdir")).toFile.list.toSet
    all.filter(_.startsWith("weir-kafka-broker-"))

  test("a broker has its topics at once, loads groups in small pieces, and leaves nothing behind"):
    val before = folders
    val settings = ofBuild.copy(topics = Map("orders" -> 3, "mails" -> 1))
    val (broker, found, pieces, during) = KafkaBroker
      .resource(settings)
      .use { broker =>
        val pieces = property(broker.address, "offsets.load.buffer.size")
        Task((broker, topics(broker.address), pieces, folders))
      }
      .runSync()
    assertEquals(pieces, "32768")
    assertEquals(found, Map("orders" -> (3, 1), "mails" -> (1, 1)))
    assertEquals((during.size, folders), (before.size + 1, before))
    assert(!broker.isAlive)

  test("a cluster has a replica of each topic on each broker, and is one"):
    val before = folders
    val size = Tier(2, 3)
    val (found, ports) = KafkaBroker
      .cluster(size, ofBuild.copy(topics = Map("orders" -> 2)))
      .use { brokers =>
        Task((brokers.map(broker => topics(broker.address)), brokers.map(_.port).toSet))
      }
      .runSync()
    assertEquals(found, Vector.fill(size)(Map("orders" -> (2, size))))
    assertEquals((ports.size, folders), (size, before))

  test("a cancel while it starts leaves nothing behind"):
    val before = folders
    val start = KafkaBroker.resource(ofBuild).use(_ => Task.never)
    start.timeout(300.millis).attempt.runSync(): Unit
    assertEquals(folders, before)

  test("when its user is killed a broker ends, and leaves nothing behind"):
    val before = folders
    val temporary = sys.props("java.io.tmpdir")
    val java = Path.of(sys.props("java.home"), "bin", "java").toString
    val flags = Seq("-XX:TieredStopAtLevel=1", s"-Djava.io.tmpdir=$temporary")
    val command = (java +: flags) ++
      Seq("-cp", sys.props("java.class.path"), "weir.kafka.broker.BrokerUser") ++ ofBuild.classPath
    val user = ProcessBuilder(command*).start()
    try
      val pid = Source.fromInputStream(user.getInputStream).getLines().next().toLong
      val broker = ProcessHandle.of(pid).get
      // Its end does not depend on the files that it looks for.
      val state = Path.of(temporary, (folders -- before).head, "broker-0", "broker")
      Files.delete(state)
      Files.createDirectories(state.resolve("folder")): Unit
      user.destroyForcibly().waitFor(): Unit
      broker.onExit.get(20, TimeUnit.SECONDS): Unit
      assertEquals(folders, before)
    finally user.destroyForcibly(): Unit

  test("a port that another program has taken meanwhile is no error"):
    def free() = ServerSocket(0, 1, InetAddress.getLoopbackAddress)
    val (taken, other) = (free(), free())
    other.close()
    val (port, controller) = (taken.getLocalPort, other.getLocalPort)
    val settings = ofBuild.copy(properties =
      Map(
        "listeners" -> s"PLAINTEXT://127.0.0.1:$port,CONTROLLER://127.0.0.1:$controller",
        "advertised.listeners" -> s"PLAINTEXT://127.0.0.1:$port",
        "controller.quorum.voters" -> s"1@127.0.0.1:$controller"
      )
    )
    val temporary = Path.of(sys.props("java.io.tmpdir"))
    val before = folders
    def hasFailed = (folders -- before).exists { folder =>
      Try(Files.readString(temporary.resolve(folder).resolve("broker-0.log")))
        .fold(_ => false, _.contains("Address already in use"))
    }
    val freeing = Thread.ofVirtual().start { () =>
      while !hasFailed do Thread.sleep(1)
      taken.close()
    }
    try
      val found = KafkaBroker.resource(settings).use(broker => Task(broker.port)).runSync()
      assertEquals((found, folders), (port, before))
    finally
      freeing.interrupt()
      taken.close()

  test("a broker that does not start says why, and leaves nothing behind"):
    val before = folders
    val wrong = ofBuild.copy(properties = Map("num.partitions" -> "none"))
    val error = intercept[IOException](KafkaBroker.resource(wrong).use(_ => Task.unit).runSync())
    assert(error.getMessage.contains("num.partitions"), error.getMessage)
    assertEquals(folders, before)

  private def published =
    URLClassLoader(Array(Path.of(sys.props("weir.broker.jar")).toUri.toURL), null)

  test("the published jar has its licence, and names that of each jar in it"):
    Using.resource(java.util.jar.JarFile(sys.props("weir.broker.jar"))): jar =>
      def lines(name: String) =
        Using.resource(Source.fromInputStream(jar.getInputStream(jar.getEntry(name))))(
          _.getLines().toVector
        )
      assert(lines("META-INF/LICENSE").exists(_.contains("Apache License")))
      val jars = jar.stream.iterator.asScala.map(_.getName).filter(_.endsWith(".jar"))
      val others = jars.map(_.split('/').last).filterNot(_.startsWith("weir-")).toVector
      val list = lines("META-INF/THIRD-PARTY")
      assertEquals(others.filterNot(name => list.exists(_.startsWith(s"$name: "))), Vector.empty)
      assert(list.exists(line => line.startsWith("slf4j-api") && line.contains("MIT")), list)

  test("a jar that was removed is unpacked again, and what killed processes have left is deleted"):
    val folder = Files.createTempDirectory("weir-broker-jars-")
    try
      val jars = BrokerJars.classPath(folder, published).split(File.pathSeparator).map(Path.of(_))
      val size = Files.size(jars.last)
      val kept = Files.getLastModifiedTime(jars.head)
      Files.delete(jars.last)
      val parents = Seq(folder, jars.head.getParent)
      val Seq(old, late) = Seq("old", "late").map(age =>
        parents.map(parent => Files.writeString(parent.resolve(s".part-$age"), ""))
      ): @unchecked
      old.foreach(Files.setLastModifiedTime(_, FileTime.fromMillis(1000)))
      BrokerJars.classPath(folder, published): Unit
      assertEquals((Files.size(jars.last), Files.getLastModifiedTime(jars.head)), (size, kept))
      assertEquals((old.filter(Files.exists(_)), late.filter(Files.exists(_))), (Nil, late))
    finally BrokerJars.delete(folder)

  test("jars that others could have written are not used"):
    val folder = Files.createTempDirectory("weir-broker-jars-")
    try
      val jars = BrokerJars.classPath(folder, published).split(File.pathSeparator).map(Path.of(_))
      val open = PosixFilePermissions.fromString("rwxrwxr-x")
      Files.setPosixFilePermissions(jars.head.getParent, open): Unit
      val error = intercept[IOException](BrokerJars.classPath(folder, published))
      assert(error.getMessage.contains("rwxrwxr-x"), error.getMessage)
    finally BrokerJars.delete(folder)

  test("the published jar has all that a broker needs, and unpacks it once"):
    val loader = published
    val folder = Files.createTempDirectory("weir-broker-jars-")
    try
      val many =
        Task.parTraverse((1 to 4).toVector)(_ => Task(BrokerJars.classPath(folder, loader)))
      val classPaths = many.runSync()
      assertEquals((classPaths.distinct.size, folder.toFile.list.length), (1, 1))
      val settings = BrokerSettings(Map("orders" -> 1), classPath = classPaths.headOption)
      val found = KafkaBroker.resource(settings).use(b => Task(topics(b.address))).runSync()
      assertEquals(found, Map("orders" -> (1, 1)))
    finally BrokerJars.delete(folder)

  test("without the published jar the error says so"):
    val error = intercept[IOException](KafkaBroker.resource().use(_ => Task.unit).runSync())
    assert(error.getMessage.contains("weir-kafka-broker"), error.getMessage)
