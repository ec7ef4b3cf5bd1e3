package weir.postgres.journal

import java.nio.file.{Files, Path}
import java.util.concurrent.TimeUnit
import weir.postgres.*

/** Ways in which the server ends a run: one error, no endless wait, and the next run goes on. */
class CutOffSuite extends ResumeSuite:
  private val rows = 60000
  private val text =
    val text = StringBuilder(
      "CREATE TABLE t (a int, b text);\nINSERT INTO t VALUES (0, 'x');\nCOPY t FROM STDIN;\n"
    )
    for i <- 1 to rows do text.append(s"$i\t${"x" * 90}\n")
    text.append("\\.\nINSERT INTO t VALUES (-1, 'x');\n").toString

  private def check(database: String): Unit =
    assertEquals(
      ask(database)("SELECT count(*) || ' ' || sum(a) FROM t"),
      s"${rows + 2} ${rows.toLong * (rows + 1) / 2 - 1}"
    )

  private def options(database: String, jobs: Int) =
    resuming.copy(jobs = Some(MoreConnections(jobs, ScriptConnection.open(server.unix(database)))))

  /** Does `cut`, once, when `offset` bytes have been used up. */
  private final class At(offset: Long)(cut: => Unit) extends ApplyListener:
    private var done = false
    override def usedUp(script: String, used: Long): Unit = if !done && used >= offset then
      done = true
      cut

  private def terminate(database: String, which: String): Unit = server.admin("postgres")(
    server.execute(
      _,
      s"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '$database' $which"
    )
  )

  for jobs <- Seq(1, 3) do
    test(s"all connections cut in the middle of a COPY, over $jobs"):
      val database = server.newDatabase()
      val listener = At(text.length / 2)(terminate(database, ""))
      val error = intercept[ScriptException](
        apply(database, text, options(database, jobs), listener = listener)
      )
      assert(error.getMessage.contains("terminating connection"), error.getMessage)
      apply(database, text, options(database, jobs)): Unit
      check(database)

  test("one of several connections cut in the middle of a COPY"):
    for which <- Seq("ORDER BY backend_start LIMIT 1", "ORDER BY backend_start DESC LIMIT 1") do
      val database = server.newDatabase()
      val listener = At(text.length / 2)(terminate(database, which))
      val error = intercept[ScriptException](
        apply(database, text, options(database, 3), listener = listener)
      )
      assert(error.getMessage.contains("terminating connection"), error.getMessage)
      apply(database, text, options(database, 3)): Unit
      check(database)

  test("a disk that is full, over 1 and 3 connections"):
    for jobs <- Seq(1, 3) do
      withSmallDisk(4 << 20) { place =>
        val database = server.newDatabase()
        val space = s"small_$database"
        server.admin("postgres")(server.execute(_, s"CREATE TABLESPACE $space LOCATION '$place'"))
        val full = text.replace("b text)", s"b text) TABLESPACE $space")
        val error = refused(database, full, options(database, jobs))
        assert(error.getMessage.contains("No space left"), error.getMessage)
        assertEquals(journal(database)("pieces"), "2")
        server.admin(database)(server.execute(_, "ALTER TABLE t SET TABLESPACE pg_default"))
        apply(database, full, options(database, jobs)): Unit
        check(database)
        server.admin("postgres")(server.execute(_, s"DROP TABLESPACE $space"))
      }

  /** A file system of its own in memory, where the system lets us make one. */
  private def withSmallDisk(sizeBytes: Int)(body: Path => Unit): Unit =
    val place = Files.createTempDirectory("weir-small")
    def run(command: String*): Boolean =
      val process = ProcessBuilder(command*).redirectErrorStream(true).start()
      process.waitFor(10, TimeUnit.SECONDS) && process.exitValue == 0
    assume(
      run("mount", "-t", "tmpfs", "-o", s"size=$sizeBytes,mode=777", "tmpfs", s"$place"),
      "only root can make a small disk"
    )
    try
      val space = place.resolve("space")
      // The server's directory must be its user's.
      val owner = server.ask("postgres")("SELECT (pg_stat_file('.')).isdir::text")
      assert(owner == "true")
      Files.createDirectory(space): Unit
      body(space)
    finally
      run("umount", "-l", s"$place"): Unit
      Files.deleteIfExists(place): Unit
