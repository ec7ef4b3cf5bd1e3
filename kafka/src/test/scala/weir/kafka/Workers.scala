package weir.kafka

import java.nio.file.{Files, Path}
import scala.jdk.CollectionConverters.*

/** The processes of a test, and what they have done. */
final class Workers(
    what: String,
    protocol: GroupProtocol,
    group: String,
    topic: String,
    results: String = "-",
    brokers: String = TestBroker.address,
    memory: String = "128m"
) extends AutoCloseable:
  private val folder = Files.createTempDirectory("weir-workers-")
  private var started = Vector.empty[Workers.Worker]

  def start(brokers: String = brokers): Workers.Worker =
    val number = started.size
    val file = folder.resolve(s"$number.log")
    Files.createFile(file): Unit
    val java = Path.of(sys.props("java.home"), "bin", "java").toString
    val quickStart = sys.props.get("weir.child").toSeq.flatMap(_.split(" "))
    val command = (Seq(java, s"-Xmx$memory") ++ quickStart) ++ Seq(
      "-cp",
      sys.props("java.class.path"),
      "weir.kafka.WorkerProgram",
      what,
      brokers,
      protocol.toString,
      group,
      topic,
      results,
      file.toString,
      Workers.clientId(number)
    )
    val errors = folder.resolve(s"$number.err").toFile
    val process = ProcessBuilder(command*).redirectError(errors).start()
    val worker = Workers.Worker(process, number, file)
    started :+= worker
    worker

  /** Returns the records that all of them have done, in order. */
  def done: Vector[Workers.Done] =
    started.flatMap(_.done).sortBy(_.micros)

  /** Returns the output of those that ended by themselves. */
  def failures: String =
    started.indices
      .map(n => Files.readString(folder.resolve(s"$n.err")))
      .filter(_.nonEmpty)
      .mkString("\n")

  def close(): Unit =
    started.foreach(_.kill())
    folder.toFile.listFiles.foreach(_.delete())
    Files.deleteIfExists(folder): Unit

object Workers:
  private def clientId(number: Int) = s"worker-$number"

  /** @param worker
    *   the number of the worker that has done it, in the order of their starts
    */
  final case class Done(micros: Long, key: String, value: Int, worker: Int)

  final class Worker(process: Process, val number: Int, file: Path):
    def isAlive: Boolean = process.isAlive

    /** The client id by which the brokers list it. */
    def clientId: String = Workers.clientId(number)

    def done: Vector[Done] =
      Files.readAllLines(file).asScala.toVector.map(_.split(' ')).collect {
        case Array(micros, key, value) => Done(micros.toLong, key, value.toInt, number)
      }

    def hasDone: Boolean = Files.size(file) > 0

    /** It stands still, as on a machine that sleeps. **Waits** for that: one thread takes the
      * signal and stops the others, and on a busy machine they run until that one has its turn.
      */
    def stop(): Unit =
      signal("STOP")
      var before = -1
      while before != done.size do
        before = done.size
        Thread.sleep(200)
    def wake(): Unit = signal("CONT")

    private def signal(name: String): Unit =
      ProcessBuilder("kill", s"-$name", process.pid.toString).start().waitFor(): Unit

    /** Returns the stacks of its threads and its fibers. */
    def dump: String =
      val fibers = Path.of(s"$file.fibers")
      val core = sys.props("java.class.path").split(':').find(_.contains("weir-core"))
      val load = core.map(jar => jcmd("JVMTI.agent_load", jar, fibers.toString)).getOrElse("")
      val found = if Files.exists(fibers) then Files.readString(fibers) else load
      s"worker $number:\n$found\n${jcmd("Thread.print")}"

    private def jcmd(command: String*): String =
      val program = Path.of(sys.props("java.home"), "bin", "jcmd").toString
      val builder = ProcessBuilder((Seq(program, process.pid.toString) ++ command)*)
      val started = builder.redirectErrorStream(true).start()
      String(started.getInputStream.readAllBytes)

    /** SIGKILL: no finalizer runs. */
    def kill(): Unit = process.destroyForcibly().waitFor(): Unit
