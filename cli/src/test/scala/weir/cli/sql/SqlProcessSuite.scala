package weir.cli.sql

import java.lang.ProcessBuilder.Redirect
import java.nio.file.{Files, Path}
import scala.concurrent.duration.*

import com.github.luben.zstd.Zstd
import munit.FunSuite

import weir.program.{ChildJvm, Tier}

/** Tests the process: its standard input, its exit code, and its signals. The signal is SIGTERM,
  * handled like Ctrl-C, which does not reach processes that a shell has put into the background.
  */
class SqlProcessSuite extends FunSuite with SqlFixture:
  override val munitTimeout: Duration = 2.minutes

  private def start(folder: Path, args: String*): ChildJvm =
    startLogged(folder.resolve("log.txt"), args*)

  private def startLogged(log: Path, args: String*): ChildJvm =
    ChildJvm.weir(log, embedded, Redirect.PIPE, "sql" +: args)

  private def embedded = Seq(s"-Dweir.embedded=${sys.props("weir.embedded")}")

  private def errors(folder: Path): String = Files.readString(folder.resolve("log.txt"))

  folder.test("standard input is a script"): folder =>
    val url = newDatabase()
    val script =
      write(folder, "a.sql", "CREATE TABLE t (a int);\nCOPY t FROM stdin;\n7\n\\.\nSELECT x;")
    val child = ChildJvm.weir(
      folder.resolve("log.txt"),
      Nil,
      Redirect.from(script.toFile),
      Seq("sql", "--quiet", "--db", url, "-")
    )
    child.readRest(): Unit
    assertEquals(child.exitCode(), 3)
    val expected =
      "<stdin>:5:8: ERROR: column \"x\" does not exist\nSELECT x;\n       ^\n1 statement"
    assert(clue(errors(folder)).startsWith(expected.replace("1 statement", "2 statements")))
    assertEquals(query(url, "SELECT a FROM t"), Vector("7"))

  folder.test("in the locale C rows are printed in UTF-8"): folder =>
    val out = folder.resolve("out.txt")
    val child = ChildJvm.weir(
      folder.resolve("log.txt"),
      Nil,
      Redirect.PIPE,
      Seq("sql", "-q", "--output", "csv", "--db", newDatabase()) :+
        write(folder, "a.sql", "\\echo ä\nSELECT 'ö' AS ü;\n").toString,
      Map("LC_ALL" -> "C"),
      Redirect.to(out.toFile)
    )
    assertEquals(child.exitCode(), 0)
    assertEquals(Files.readString(out), "ä\nü\nö\n")

  folder.test("an error on standard input, packed or not, shows its line as one in a file does"):
    folder =>
      val rows = "1\n" * 100_000
      val copy = "CREATE TABLE t (a int);\nCOPY t FROM stdin;\n"
      val inData = (s"$copy${rows}zwei\n$rows\\.\n", "\nzwei\n^\n", "100003:1")
      val inStatement =
        (s"$copy$rows\\.\n  SELECT 'open\n$rows", "  SELECT 'open\n         ^", "100004:10")
      val inLine = (
        s"/*\n$rows*/ SELECT 1; SELECT x, 1; SELECT 2;",
        "SELECT x, 1; SELECT 2;",
        "100002:21"
      )
      val few = List(inStatement -> true)
      // All at once: what takes the time is the start of each.
      val children =
        for ((script, line, place), isPacked) <- Tier(
            few,
            few ++ List(inData -> false, inData -> true, inLine -> false)
          )
        yield
          val bytes = if isPacked then Zstd.compress(script.getBytes) else script.getBytes
          val file = Files.write(Files.createTempFile(folder, "script", ".sql"), bytes)
          val log = Files.createTempFile(folder, "log", ".txt")
          val flags = Seq("sql", "--quiet", "--db", newDatabase(), "-")
          (ChildJvm.weir(log, Nil, Redirect.from(file.toFile), flags), log, line, place)
      for (child, log, line, place) <- children do
        child.readRest(): Unit
        assertEquals(child.exitCode(), 3)
        assert(clue(Files.readString(log)).startsWith(s"<stdin>:$place"))
        assert(clue(Files.readString(log)).contains(line))

  folder.test("a long statement needs no more memory than a short one"): folder =>
    val megabytes = Tier(40, 400)
    val url = newDatabase()
    val log = folder.resolve("log.txt")
    val flags = Seq("-Xmx64m", "-XX:+UseSerialGC", s"-Djava.io.tmpdir=$folder")
    val child = ChildJvm.weir(log, flags, Redirect.PIPE, Seq("sql", "--quiet", "--db", url, "-"))
    val block = ("x" * 999 + "\n").repeat(1000).getBytes
    child.stdin.write("CREATE TABLE t AS SELECT length('".getBytes)
    for _ <- 1 to megabytes do child.stdin.write(block)
    child.stdin.write("') AS n;\nSELECT x;".getBytes)
    child.stdin.close()
    child.readRest(): Unit
    assertEquals(child.exitCode(), 3)
    assert(clue(errors(folder)).startsWith(s"<stdin>:${megabytes * 1000 + 2}:8: ERROR: column"))
    assertEquals(query(url, "SELECT n FROM t"), Vector(s"${megabytes}000000"))
    assertEquals(folder.toFile.list.toList, List("log.txt"))

  folder.test("Ctrl-C cancels what runs on the server, rolls back, and says how far it came"):
    folder =>
      val url = newDatabase()
      val script =
        "CREATE TABLE t (a int);\nBEGIN;\nINSERT INTO t VALUES (1);\nSELECT pg_sleep(600);\n"
      val child = start(folder, "--db", url, write(folder, "a.sql", script).toString)
      val sleeping = "SELECT count(*) FROM pg_stat_activity " +
        "WHERE query LIKE 'SELECT pg_sleep(%' AND datname = current_database()"
      eventually("the statement runs")(query(url, sleeping) == Vector("1"))
      child.terminate()
      val signalled = System.nanoTime()
      assertEquals(child.readRest(), "")
      assertEquals(child.exitCode(), 143)
      val took = (System.nanoTime() - signalled) / 1_000_000
      assert(took < Tier(15000, 1500), s"$took ms")
      assert(clue(errors(folder)).startsWith("3 statements, 1 row executed"))
      eventually("the server has stopped")(query(url, sleeping) == Vector("0"))
      assertEquals(query(url, "SELECT a FROM t"), Vector())

  folder.test("Ctrl-C while it waits for standard input, or for a pipe, ends it at once"): folder =>
    val pipe = folder.resolve("pipe")
    assertEquals(ProcessBuilder("mkfifo", pipe.toString).start().waitFor(), 0)
    val url = newDatabase()
    val inputs = List("-" -> "t", pipe.toString -> "u")
    val started = inputs.map: (name, table) =>
      val log = folder.resolve(s"$table.txt")
      (name, table, log, startLogged(log, "--db", url, name))
    for (name, table, log, child) <- started do
      val out =
        if name == "-" then child.stdin else java.io.FileOutputStream(pipe.toFile)
      out.write(s"CREATE TABLE $table (a int);\nBEGIN;\nINSERT INTO".getBytes)
      out.flush()
      eventually("what there is has been applied"):
        query(url, s"SELECT count(*) FROM pg_tables WHERE tablename = '$table'") == Vector("1")
      val signalled = System.nanoTime()
      child.terminate()
      assertEquals(child.exitCode(), 143)
      val took = (System.nanoTime() - signalled) / 1_000_000
      assert(took < Tier(15000, 2000), s"$name: $took ms")
      assert(clue(Files.readString(log)).contains(" executed"))
      out.close()

  folder.test("--keep leaves the embedded server up until Ctrl-C"): folder =>
    val script = write(folder, "a.sql", "CREATE TABLE t AS SELECT 5 AS a").toString
    val child = start(folder, "--db", "embedded", "--keep", script)
    val url = serverOf(child)
    assertEquals(query(url, "SELECT a FROM t"), Vector("5"))
    child.terminate()
    child.readRest(): Unit
    assertEquals(child.exitCode(), 0)
    assert(!Files.exists(folderOf(url)))

  folder.test("the embedded server ends with the program, even if that is killed"): folder =>
    val script = write(folder, "a.sql", "SELECT 1").toString
    val child = start(folder, "--db", "embedded", "--keep", script)
    val at = folderOf(serverOf(child))
    val server = Files.readString(at.resolve("data/postmaster.pid")).linesIterator.next().toLong
    assert(ProcessHandle.of(server).isPresent)
    child.kill()
    eventually("its folder is gone")(!Files.exists(at))
    eventually("it has ended")(!ProcessHandle.of(server).filter(_.isAlive).isPresent)

  /** The URL that `--keep` prints. */
  private def serverOf(child: ChildJvm): String =
    Iterator
      .continually(child.readLine())
      .takeWhile(_.nonEmpty)
      .flatten
      .collectFirst { case SqlProcessSuite.url(url) => url }
      .getOrElse(fail("no URL"))

  private def folderOf(url: String): Path =
    Path.of(url.replaceFirst(".*host=([^&]*).*", "$1"))

object SqlProcessSuite:
  private val url = " *psql '(.*)'".r
