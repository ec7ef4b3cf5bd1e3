package weir.postgres.psql

import java.io.{InputStream, SequenceInputStream}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import scala.util.{Try, Using}

import weir.{Outcome, WeirSuite}
import weir.postgres.*

/** Servers, networks and disks that fail half-way: one error, no hang, what was done is there, and
  * a journal goes on.
  */
class OutageSuite extends WeirSuite:
  override def limit: FiniteDuration = 60.seconds

  private lazy val server = LoggedServer.shared
  private val databases = AtomicInteger()

  private val rows = 100_000

  private def before = "CREATE TABLE log (what text);\nINSERT INTO log VALUES ('begun');\n"
  private def after = "\\.\nCREATE INDEX ON big (a);\nINSERT INTO log VALUES ('ended');\n"
  private def copy(tablespace: String) =
    s"CREATE TABLE big (a int, b text) $tablespace;\nCOPY big FROM STDIN;\n"

  private def data: String = (1 to rows).map(n => s"$n\trow number $n of some more\n").mkString

  /** The script; `hook` runs once the reader has come to the middle of the COPY. */
  private def script(tablespace: String = "")(hook: => Unit): SqlScript =
    val (first, second) = data.splitAt(data.length / 2)
    SqlScript.fromInputStream("outage.sql") {
      val parts = Iterator[() => InputStream](
        () => (before + copy(tablespace) + first).getBytes(UTF_8).toStream,
        () =>
          hook
          (second + after).getBytes(UTF_8).toStream
      )
      SequenceInputStream(parts.map(_.apply()).asJavaEnumeration)
    }

  extension (bytes: Array[Byte])
    private def toStream: InputStream = java.io.ByteArrayInputStream(bytes)

  private def newDatabase(): String =
    val name = s"outage${databases.incrementAndGet()}"
    server.create(name)
    name

  private def options(resumes: Boolean) = ApplyOptions(resume = Option.when(resumes)(Resume()))

  private def tcp(port: Int, database: String) =
    s"postgresql://127.0.0.1:$port/$database?user=postgres&sslmode=disable"

  /** The one error that it ends with. */
  private def failure(url: String, script: SqlScript, resumes: Boolean): ScriptException =
    ScriptConnection.open(url).use(script.applyTo(_, options(resumes))).attempt.runSync() match
      case Left(error: ScriptException) => error
      case other => fail(s"It was to fail with a ScriptException, and ended with $other")

  private def apply(database: String, script: SqlScript, resumes: Boolean): Unit =
    ScriptConnection
      .open(server.url(database))
      .use(script.applyTo(_, options(resumes)))
      .runSync(): Unit

  private def isReady(database: String): Boolean = Try(server.rows(database, "SELECT 1")).isSuccess

  private def log(database: String) = server.rows(database, "SELECT what FROM log ORDER BY ctid")
  private def count(database: String) = server.rows(database, "SELECT count(*), sum(a) FROM big")
  private val complete = Vector(s"$rows|${rows.toLong * (rows + 1) / 2}")

  /** The work before the COPY is there, the COPY is not, and another run with the journal does the
    * rest.
    */
  private def assertHalf(database: String, resumes: Boolean): Unit =
    eventually("the server answers")(isReady(database))
    eventually("the session has ended")(
      server
        .rows(
          "postgres",
          s"SELECT 1 FROM pg_stat_activity WHERE datname = '$database' AND application_name <> " +
            s"'${ServerLog.suite}'"
        )
        .isEmpty
    )
    assertEquals(log(database), Vector("begun"))
    assertEquals(count(database), Vector("0|null"))
    if resumes then
      apply(database, script()(()), resumes)
      assertEquals(log(database), Vector("begun", "ended"))
      assertEquals(count(database), complete)

  for resumes <- List(false, true) do
    val how = if resumes then ", and the journal goes on" else ""

    test(s"a connection that is cut in the middle of a COPY is one error$how"):
      val database = newDatabase()
      Using.resource(CutProxy(server.port)) { proxy =>
        val error = failure(tcp(proxy.port, database), script()(proxy.cut()), resumes)
        assert(error.getMessage.contains("connection"), error.getMessage)
        assertEquals(error.position.map(_.line), Some(4L), error.getMessage)
      }
      assertHalf(database, resumes)

    test(s"a server whose process dies in the middle of a COPY is one error$how"):
      val database = newDatabase()
      server.admin("postgres") { other =>
        val error = failure(server.url(database), script()(killBackend(database)), resumes)
        assert(error.getMessage.contains("connection"), error.getMessage)
        // The client sees the end of its own connection first. Until the server has noticed, it
        // answers others as if nothing had happened.
        eventually("the server has noticed")(Try(LoggedServer.rows(other, "SELECT 1")).isFailure)
      }
      assertHalf(database, resumes)

    test(s"a full disk is one error with the server's words$how"):
      val database = newDatabase()
      TinyDisk.use("4m") { disk =>
        server.execute("postgres", s"CREATE TABLESPACE tiny LOCATION '${disk.folder}'")
        try
          val first = failure(server.url(database), script("TABLESPACE tiny")(()), resumes)
          assert(first.getMessage.contains("No space left on device"), first.getMessage)
          assertEquals(log(database), Vector("begun"))
          assertEquals(count(database), Vector("0|null"))
          if resumes then
            disk.grow("100m")
            apply(database, script("TABLESPACE tiny")(()), resumes)
            assertEquals(count(database), complete)
        finally
          server.drop(database)
          server.execute("postgres", "DROP TABLESPACE tiny")
      }

  test("a server that stops answering does not hold up a cancel, and the journal goes on"):
    val database = newDatabase()
    val stalled = CountDownLatch(1)
    Using.resource(CutProxy(server.port)) { proxy =>
      val waiting = script() {
        proxy.stall()
        stalled.countDown()
      }
      val fiber = ScriptConnection
        .open(tcp(proxy.port, database))
        .use(waiting.applyTo(_, options(resumes = true)))
        .start
        .runSync()
      await(stalled)
      val (_, took) = timed(within(30.seconds)(fiber.cancel.runSync()))
      assert(took < 9500.millis, took.toString) // a program that a signal ends has ten seconds
      assertEquals(fiber.join.runSync(), Outcome.Canceled)
    }
    assertHalf(database, resumes = true)

  test("a COPY whose first row is bad is sent at most 16 MB of the rest"):
    val database = newDatabase()
    val row = ("1\t" + "x" * 997 + "\n").getBytes(UTF_8)
    val rows = Iterator.continually(row).take(100_000).map(_.toStream)
    val long = SqlScript.fromInputStream("long.sql") {
      val first = (before + copy("") + "no number\tx\n").getBytes(UTF_8).toStream
      SequenceInputStream(
        (Iterator(first) ++ rows ++ Iterator(after.getBytes(UTF_8).toStream)).asJavaEnumeration
      )
    }
    Using.resource(CutProxy(server.port)) { proxy =>
      val error = failure(tcp(proxy.port, database), long, resumes = false)
      assertEquals(error.position.map(at => at.line), Some(5L), error.getMessage)
      assert(proxy.sentBytes.get < (16 << 20), s"${proxy.sentBytes} bytes were sent")
    }

  /** SIGKILL for a server process, as by the kernel when memory has run out: the server ends all
    * sessions and recovers.
    */
  private def killBackend(database: String): Unit =
    val query = s"SELECT pid FROM pg_stat_progress_copy WHERE datname = '$database'"
    eventually("the COPY runs")(server.rows(database, query).nonEmpty)
    val pid = server.rows(database, query).head
    Programs.run(Vector("kill", "-9", pid), Map.empty): Unit

/** A file system that is soon full, where one may make such a thing: as root on Linux. */
private final class TinyDisk(val folder: Path):
  def grow(size: String): Unit =
    assert(TinyDisk.mount("-o", s"remount,size=$size", s"$folder"))

private object TinyDisk:
  def use(size: String)(body: TinyDisk => Unit): Unit =
    val folder = Files.createTempDirectory("weir-disk")
    try
      munit.Assertions.assume(
        mount("-t", "tmpfs", "-o", s"size=$size,mode=777", "tmpfs", s"$folder"),
        "Only root may mount."
      )
      try body(TinyDisk(folder))
      finally Programs.run(Vector("umount", "-l", s"$folder"), Map.empty): Unit
    finally Files.delete(folder)

  private def mount(arguments: String*): Boolean =
    Programs
      .find("mount")
      .exists(mount => Programs.run(s"$mount" +: arguments.toVector, Map.empty).code == 0)
