package weir.cli.sql

import java.io.IOException
import java.net.ServerSocket
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.util.concurrent.TimeUnit
import scala.concurrent.duration.*
import scala.util.Using

import weir.{Resource, Task}
import weir.program.BadInput

/** A Postgres of the program's own, on a Unix socket in a folder that goes away with it: for trying
  * out, and for tests.
  *
  * It never outlives the program, not even when that is killed: `embedded.sh` ends it.
  */
final class EmbeddedServer private (
    val folder: Path,
    val port: Int,
    process: Process,
    errors: Path
):
  val user = "postgres"

  /** Returns the address of its database `database` for `psql` and `--db`. Variables of psql do not
    * change it.
    */
  def url(database: String): String =
    s"postgresql:///$database?host=$folder&port=$port&user=$user"

  def url: String = url("postgres")

  /** Its eighth line says when the server takes connections. */
  private val state = folder.resolve("data").resolve("postmaster.pid")

  private def isReady: Boolean =
    try Files.readString(state).linesIterator.drop(7).nextOption().exists(_.trim == "ready")
    catch case _: IOException => false // not there yet

  /** **Waits** until the server takes connections. **Fails** with [[BadInput]] if it does not
    * start.
    */
  private def ready: Task[Unit] =
    Task.defer:
      if !process.isAlive then Task.fail(EmbeddedServer.failure(Files.readString(errors)))
      else if isReady then Task.unit
      else Task.sleep(5.millis).flatMap(_ => ready)

  /** **Waits** until the server has ended and its folder is gone, up to 20 s. On a busy machine
    * `embedded.sh` may take longer, but still does both. If it were killed, server and folder would
    * stay.
    */
  private def close(): Unit =
    process.getOutputStream.close()
    val _ = process.waitFor(20, TimeUnit.SECONDS)
    val _ = Files.deleteIfExists(errors)

object EmbeddedServer:
  /** The value of `--db` that starts an embedded server. */
  val name = "embedded"

  /** A server that takes connections, with an empty database `postgres`.
    *
    * **Waits** a second or two. **Fails** with [[weir.program.BadInput]] if it does not start.
    */
  val resource: Resource[EmbeddedServer] = listening(None)

  /** The same, which listens over TCP too, at a port of this machine that was free. */
  val overTcp: Resource[EmbeddedServer] =
    Resource.defer(listening(Some(Using.resource(ServerSocket(0))(_.getLocalPort))))

  private def listening(port: Option[Int]): Resource[EmbeddedServer] =
    Resource.make(Task(start(port)))(server => Task(server.close())).evalTap(_.ready)

  /** Returns the folder into which `./weir` unpacks it when it is first needed. */
  private def home: Path =
    sys.props.get("weir.embedded").map(Path.of(_)).filter(Files.isDirectory(_)).getOrElse {
      throw BadInput(
        "--db embedded",
        "the program was started without the Postgres to embed.",
        "Start it with ./weir, or give the URL of a server."
      )
    }

  private def start(port: Option[Int]): EmbeddedServer =
    val postgres = home
    val name = s"weir-postgres-${ProcessHandle.current.pid}-"
    val folder = Files.createTempDirectory(name)
    val errors = Files.createTempFile(name, ".log")
    val command = Seq("sh", "-c", script, "embedded", s"$postgres", s"$folder")
    val builder = ProcessBuilder((command ++ port.map(_.toString))*)
      .redirectOutput(ProcessBuilder.Redirect.DISCARD)
      .redirectError(errors.toFile)
    // A server takes its port, its data and more from psql's variables, which speak of another one.
    builder.environment.keySet.removeIf(_.startsWith("PG")): Unit
    EmbeddedServer(folder, port.getOrElse(5432), builder.start(), errors)

  private def script: String =
    val file = classOf[EmbeddedServer].getResourceAsStream("embedded.sh")
    try String(file.readAllBytes(), UTF_8)
    finally file.close()

  private def failure(log: String): BadInput =
    val why =
      log.linesIterator.filter(_.trim.nonEmpty).toVector.lastOption.getOrElse("no reason given")
    BadInput("--db embedded", s"Postgres did not start: $why.", "Give the URL of a server instead.")
