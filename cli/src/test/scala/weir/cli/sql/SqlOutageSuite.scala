package weir.cli.sql

import java.lang.ProcessBuilder.Redirect
import java.nio.file.{Files, Path}
import java.util.concurrent.TimeUnit
import scala.concurrent.duration.*
import scala.util.{Try, Using}

import munit.FunSuite

import weir.program.ChildJvm

/** Tests failures of a server, a disk or a connection half-way: there is one error, the right exit
  * code, no hang, and `--resume` goes on.
  */
class SqlOutageSuite extends FunSuite with SqlFixture:
  override val munitTimeout: Duration = 2.minutes
  override protected def changesServer: Boolean = true

  private val rows = 250_000
  private val total = Vector(s"$rows ${rows.toLong * (rows + 1) / 2} 2")

  /** 7 MB of COPY data between two statements. */
  private def script(folder: Path, tablespace: String = ""): Path =
    val text = StringBuilder(
      s"CREATE TABLE log (what text);\nINSERT INTO log VALUES ('begun');\n" +
        s"CREATE TABLE big (a int, b text) $tablespace;\nCOPY big FROM stdin;\n"
    )
    for i <- 1 to rows do text.append(i).append("\trow with some text in it\n")
    write(folder, "big.sql", text.append("\\.\nINSERT INTO log VALUES ('ended');\n").toString)

  private def result(url: String): Vector[String] = query(
    url,
    "SELECT count(*) || ' ' || sum(a) || ' ' || (SELECT count(*) FROM log) FROM big"
  )

  /** The exit code of the program in a process of its own, and what it has printed as errors,
    * within a minute.
    */
  private def run(folder: Path, script: Path, url: String, args: String*): (Int, Vector[String]) =
    val log = folder.resolve("log.txt")
    val begun = System.nanoTime()
    val command = Seq("sql", "--db", url, script.toString) ++ args
    val child = ChildJvm.weir(log, Nil, Redirect.PIPE, command)
    val out = child.readRest()
    val code = child.exitCode()
    assert((System.nanoTime() - begun).nanos < 60.seconds)
    if code != 0 then assertEquals(out, "")
    (code, Files.readString(log).linesIterator.toVector)

  /** One error with its place, perhaps with more about it, and how far the run came. On a slow
    * machine lines of the progress come before.
    */
  private def assertOneError(lines: Vector[String], place: String): Unit =
    val errors = lines.filter(_.matches(".*(ERROR|FATAL|PANIC): .*"))
    assert(errors.size == 1 && errors.head.startsWith(place), lines)
    assert(lines.last.contains("executed"), lines)
    assert(lines.forall(!_.contains("Exception")), lines)

  /** The second run does what is left; it need not be a process. */
  private def assertGoesOn(script: Path, url: String, args: String*): Unit =
    eventually("the server answers")(Try(query(url, "SELECT 1")).isSuccess)
    assertEquals(query(url, "SELECT what FROM log"), Vector("begun"))
    val again = weir(Seq("--db", url, s"$script", "--resume") ++ args*)
    val lines = again.err.linesIterator.toVector
    assertEquals(again.code, 0, lines)
    assert(lines.exists(_.contains("had been applied by")), lines)
    assertEquals(result(url), total)

  folder.test("a COPY whose first row is bad: 16 MB of it are sent at most, and exit code 3"):
    folder =>
      val url = newDatabase()
      val row = s"1\t${"x" * 997}\n"
      val file = folder.resolve("bad.sql")
      Using.resource(Files.newBufferedWriter(file)) { writer =>
        writer.write("CREATE TABLE t (a int, b text);\nCOPY t FROM stdin;\nbad\tx\n")
        for _ <- 1 to 40_000 do writer.write(row)
        writer.write("\\.\n")
      }
      Using.resource(UnixProxy(serverFolder, Long.MaxValue)(_ => ())) { proxy =>
        val (code, lines) = run(folder, file, proxy.through(url))
        assertEquals(code, 3)
        assertOneError(lines, s"$file:3:1: ERROR: invalid input syntax for type integer")
        assert(proxy.sentBytes.get < (16 << 20), s"${proxy.sentBytes} bytes")
      }

  private def failsAndGoesOn(folder: Path, jobs: List[String])(fault: String => UnixProxy => Unit) =
    // The embedded server flushes commits later, and a crash would take the last ones with it.
    val url = newDatabase() + "&options=-csynchronous_commit%3Don"
    val file = script(folder)
    Using.resource(UnixProxy(serverFolder, 3 << 20)(fault(url))) { proxy =>
      val (code, lines) = run(folder, file, proxy.through(url), "--resume" +: jobs*)
      assertEquals(code, 2, lines)
      assertOneError(lines, s"$file:")
    }
    assertGoesOn(file, url, jobs*)

  for jobs <- List(Nil, List("--jobs", "2")) do
    folder.test(s"a connection that is cut in the middle of a COPY: exit code 2 $jobs"): folder =>
      failsAndGoesOn(folder, jobs)(_ => _.cut())

  folder.test("a server that is killed in the middle of a COPY: exit code 2"): folder =>
    failsAndGoesOn(folder, Nil): url =>
      _ =>
        val copies = query(url, "SELECT pid FROM pg_stat_progress_copy")
        ProcessHandle.of(copies.head.toLong).get.destroyForcibly(): Unit

  folder.test("a disk that is full: the server's words, exit code 3, and the run goes on"):
    folder =>
      val url = newDatabase()
      withSmallDisk("4m"): (space, grow) =>
        execute(url, s"CREATE TABLESPACE small LOCATION '$space'")
        try
          val file = script(folder, "TABLESPACE small")
          val (code, lines) = run(folder, file, url, "--resume")
          assertEquals(code, 3, lines)
          assertOneError(lines, s"$file:")
          assert(lines.exists(_.contains("No space left on device")), lines)
          grow("100m")
          assertGoesOn(file, url)
        finally
          execute(url, "DROP TABLE big")
          execute(url, "DROP TABLESPACE small")

  /** A folder on a file system in memory, and what makes that larger; skipped where one may not
    * make one.
    */
  private def withSmallDisk(size: String)(body: (Path, String => Unit) => Unit): Unit =
    val place = Files.createTempDirectory("weir-small")
    def mount(options: String): Boolean = succeeds("mount", "-t", "tmpfs", "-o", options, "tmpfs")
    def succeeds(command: String*): Boolean =
      val process = Try(ProcessBuilder((command :+ s"$place")*).redirectErrorStream(true).start())
      process.toOption.exists(p => p.waitFor(10, TimeUnit.SECONDS) && p.exitValue == 0)
    try
      assume(mount(s"size=$size,mode=777"), "Only root may mount a small disk.")
      try
        val space = Files.createDirectory(place.resolve("space"))
        space.toFile.setWritable(true, false): Unit
        body(space, larger => assert(succeeds("mount", "-o", s"remount,size=$larger")))
      finally succeeds("umount", "-l"): Unit
    finally Files.deleteIfExists(place): Unit
