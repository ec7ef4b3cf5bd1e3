package weir.program

import java.io.{File, IOException}
import java.lang.ProcessBuilder.Redirect
import java.net.{InetAddress, InetSocketAddress, Socket, SocketTimeoutException}
import java.nio.channels.FileChannel
import java.nio.file.{Files, Path, StandardOpenOption}
import java.util.concurrent.TimeUnit
import scala.concurrent.duration.*
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

  /** True while its process runs. */
  def isAlive: Boolean = ProcessHandle.of(pid).map(_.isAlive).orElse(false)

  /** Detaches. */
  def close(): Unit = attachment.close()

  /** **Waits** until it has ended: call it after `close`. False if others keep it up.
    */
  def awaitEnd(seconds: Int): Boolean = KafkaBroker.awaitEnd(pid, seconds)

object KafkaBroker:
  /** The longest wait for a start, on a busy machine. The wait ends earlier if the process has
    * ended.
    */
  private val limit = 10.minutes
  private val pollMillis = 200

  /** Returns the broker whose data is in `folder`: the one that runs there, or else a new one.
    *
    * **Waits** for it as long as its process runs, up to ten minutes. **Fails** with an
    * `IOException` that has the last line of its output, if it does not start.
    *
    * @param properties
    *   Kafka's own, for a new one
    * @param waiting
    *   called again and again during a long wait, with its length so far
    */
  def in(
      folder: Path,
      classPath: String,
      flags: Seq[String] = usualFlags,
      properties: Map[String, String] = Map.empty,
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
      lock.lock(): Unit
      attach(folder, wait).getOrElse(start(folder, classPath, flags, properties, wait))
    finally lock.close()

  /** It starts fast, and takes little. */
  val usualFlags: Seq[String] =
    Seq("-Xmx320m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")

  private def start(
      folder: Path,
      classPath: String,
      flags: Seq[String],
      properties: Map[String, String],
      wait: Wait
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
        process.destroyForcibly(): Unit
        throw error

  private def nothing = if File("/dev/null").exists then "/dev/null" else "NUL"

  private def notStarted(log: Path): IOException =
    val said = Try(Files.readString(log)).getOrElse("").linesIterator.filter(_.nonEmpty).toVector
    val why = said.find(_.contains("Exception")).orElse(said.lastOption)
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

  private def awaitEnd(pid: Long, seconds: Int): Boolean =
    ProcessHandle.of(pid).isEmpty ||
      Try(ProcessHandle.of(pid).get.onExit.get(seconds, TimeUnit.SECONDS)).isSuccess

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
