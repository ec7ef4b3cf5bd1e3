package weir.lab

import java.io.{File, IOException}
import java.lang.ProcessBuilder.Redirect
import java.net.{InetAddress, InetSocketAddress, Socket}
import java.nio.channels.FileChannel
import java.nio.file.{Files, Path, StandardOpenOption}
import java.util.concurrent.TimeUnit
import scala.util.Try

/** A Kafka broker in a JVM of its own, to which this process is attached. It ends when nobody is
  * attached any more, however that came; so several processes can share one.
  *
  * @param port
  *   where it takes clients, on this machine
  */
final class KafkaBroker private (val port: Int, val pid: Long, attachment: Socket)
    extends AutoCloseable:
  def address: String = s"127.0.0.1:$port"

  /** Detaches. */
  def close(): Unit = attachment.close()

  /** **Waits** until it has ended: call it after `close`. False if others keep it up.
    */
  def awaitEnd(seconds: Int): Boolean = KafkaBroker.awaitEnd(pid, seconds)

object KafkaBroker:
  private val startSeconds = 120
  private val attachMillis = 5000

  /** The broker whose data is in `folder`: the one that runs there, or else a new one.
    *
    * **Fails** with an `IOException` that has the last line it said, if it does not start.
    *
    * @param properties
    *   Kafka's own, for a new one
    */
  def in(
      folder: Path,
      classPath: String,
      flags: Seq[String] = usualFlags,
      properties: Map[String, String] = Map.empty
  ): KafkaBroker =
    Files.createDirectories(folder): Unit
    val lock = FileChannel.open(
      folder.resolveSibling(s"${folder.getFileName}.lock"),
      StandardOpenOption.CREATE,
      StandardOpenOption.WRITE
    )
    try
      lock.lock(): Unit
      attach(folder).getOrElse(start(folder, classPath, flags, properties))
    finally lock.close()

  /** It starts fast, and takes little. */
  val usualFlags: Seq[String] =
    Seq("-Xmx320m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")

  private def start(
      folder: Path,
      classPath: String,
      flags: Seq[String],
      properties: Map[String, String]
  ): KafkaBroker =
    val log = folder.resolveSibling(s"${folder.getFileName}.log")
    val java = Path.of(sys.props("java.home"), "bin", "java").toString
    val command = Seq(java) ++ flags ++ Seq(
      "--sun-misc-unsafe-memory-access=allow",
      "--enable-native-access=ALL-UNNAMED",
      "-cp",
      classPath,
      "weir.broker.BrokerProgram",
      folder.toString
    ) ++ properties.map((key, value) => s"$key=$value")
    val process = ProcessBuilder(command*)
      .redirectInput(Redirect.from(File(nothing)))
      .redirectOutput(log.toFile)
      .redirectErrorStream(true)
      .start()
    val deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(startSeconds)
    var found = Option.empty[KafkaBroker]
    try
      while found.isEmpty do
        found = attach(folder)
        if found.isEmpty then
          if !process.isAlive || System.nanoTime() - deadline > 0 then throw notStarted(log)
          Thread.sleep(20)
      found.get
    catch
      case error: Throwable => // an interrupt, too
        process.destroyForcibly(): Unit
        throw error

  private def nothing = if File("/dev/null").exists then "/dev/null" else "NUL"

  private def notStarted(log: Path): IOException =
    val said = Try(Files.readString(log)).getOrElse("").linesIterator.filter(_.nonEmpty).toVector
    val why = said.find(_.contains("Exception")).orElse(said.lastOption)
    IOException(s"the broker did not start: ${why.getOrElse("it said nothing")}")

  /** None if there is none, or the one that is there ends. */
  private def attach(folder: Path): Option[KafkaBroker] =
    Try(Files.readString(folder.resolve("broker")).trim.split(' ')).toOption.flatMap {
      case Array(port, attachments, pid) =>
        connect(attachments.toInt) match
          case Some(socket) => Some(KafkaBroker(port.toInt, pid.toLong, socket))
          case None =>
            // Its data must be free before another one starts.
            awaitEnd(pid.toLong, 15): Unit
            Files.deleteIfExists(folder.resolve("broker")): Unit
            None
      case _ => None
    }

  private def connect(port: Int): Option[Socket] =
    val socket = Socket()
    try
      socket.connect(InetSocketAddress(InetAddress.getLoopbackAddress, port), attachMillis)
      socket.setSoTimeout(attachMillis)
      if socket.getInputStream.read() == 'A' then Some(socket)
      else
        socket.close()
        None
    catch
      case _: IOException =>
        socket.close()
        None

  private def awaitEnd(pid: Long, seconds: Int): Boolean =
    ProcessHandle.of(pid).isEmpty ||
      Try(ProcessHandle.of(pid).get.onExit.get(seconds, TimeUnit.SECONDS)).isSuccess
