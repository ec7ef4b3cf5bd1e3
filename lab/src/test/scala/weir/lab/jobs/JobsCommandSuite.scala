package weir.lab.jobs

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres
import java.io.{PrintWriter, StringWriter}
import scala.concurrent.duration.*

import munit.FunSuite

import weir.program.{Main, Tier}

class JobsCommandSuite extends FunSuite:
  override val munitTimeout: Duration = 10.minutes

  private def weir(args: String*): (Int, String, String) =
    val (out, err) = (StringWriter(), StringWriter())
    val code = Main.run("jobs" +: args, PrintWriter(out, true), PrintWriter(err, true))
    (code, out.toString, err.toString)

  test("without a database, or with one that is none of Postgres, one line says so"):
    for (args, said) <- List(
        Seq() -> "Missing required option: '--db=URL'",
        Seq("--db", "feeds.db") -> "it is no address of Postgres",
        Seq("--db", "jdbc:postgresql://127.0.0.1:1/x") -> "the database cannot be used",
        Seq("--db", "jdbc:postgresql://h/x", "--processes", "0") -> "--processes"
      )
    do
      val (code, _, err) = weir(args*)
      assertEquals(code, 2, err)
      assert(err.contains(said), err)
      assertEquals(err.linesIterator.size, 1, err)

  if Tier.isLong then // it starts fourteen JVMs
    test("every system does all of its jobs, over one process and two")(allSystems())

  private def allSystems(): Unit =
    val postgres = EmbeddedPostgres.builder().setServerConfig("fsync", "off").start()
    try
      val url = postgres.getJdbcUrl("postgres", "postgres")
      val (code, out, err) = weir("--db", url, "--jobs", "3000", "--processes", "1,2")
      assertEquals(code, 0, err)
      JobsJob.systems.foreach(system => assert(out.contains(system), out))
    finally postgres.close()
