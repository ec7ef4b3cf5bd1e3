package weir.postgres.journal

import java.io.{ByteArrayInputStream, InputStream, SequenceInputStream}
import java.nio.charset.StandardCharsets.UTF_8
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.WeirSuite
import weir.postgres.*

/** A whole server that is killed half-way, again and again, and started again. */
class ServerKillSuite extends WeirSuite:
  override def limit: FiniteDuration = 90.seconds

  private lazy val server = MortalServer()
  override def afterAll(): Unit = server.close()

  private def rows(from: Int, count: Int): String =
    (from until from + count).map(i => s"$i\tvalue of $i, ${"v" * (i % 90)}\n").mkString

  /** The server is killed between each two parts: in a COPY, in a COPY of a transaction, between
    * statements.
    */
  private val parts = List(
    s"CREATE TABLE a (k int, v text);\nCREATE TABLE b (k int, v text);\nSET my.word = 'x';\n" +
      s"INSERT INTO a VALUES (-1, 'first');\nCOPY a FROM STDIN;\n${rows(0, 60_000)}",
    s"${rows(60_000, 60_000)}\\.\nINSERT INTO b VALUES (-1, 'first');\nBEGIN;\n" +
      s"UPDATE a SET v = v || '!' WHERE k % 100 = 0;\nCOPY b FROM STDIN;\n${rows(0, 50_000)}",
    s"${rows(50_000, 20_000)}\\.\nCOMMIT;\n" +
      (1 to 50).map(i => s"INSERT INTO b VALUES (-1, 'after $i');\n").mkString,
    "UPDATE b SET v = v || current_setting('my.word') WHERE k = -1;\nINSERT INTO a SELECT * FROM " +
      "b;\n"
  )

  /** The script, of which the reader does `between(n)` before the part with that number. */
  private def script(between: Int => Unit): SqlScript = SqlScript.fromInputStream("kill.sql") {
    val streams = parts.iterator.zipWithIndex.map[InputStream] { (part, number) =>
      if number > 0 then between(number)
      ByteArrayInputStream(part.getBytes(UTF_8))
    }
    SequenceInputStream(streams.asJavaEnumeration)
  }

  private def apply(database: String, jobs: Int)(between: Int => Unit) =
    val open = ScriptConnection.open(server.url(database))
    val options =
      ApplyOptions(resume = Some(Resume()), jobs = Some(MoreConnections(jobs, open)))
    open.use(script(between).applyTo(_, options)).attempt.runSync()

  private def state(database: String): List[String] = List("a", "b").map(table =>
    server.ask(database)(
      "SELECT count(*) || ' ' || sum(k) || ' ' || md5(string_agg(v, ',' ORDER BY v COLLATE " +
        s"\"C\")) FROM $table"
    )
  )

  for jobs <- List(1, 2) do
    test(s"killed at three places, the tables are those of a clean run, over $jobs connections"):
      val clean = server.newDatabase(s"clean$jobs")
      assertEquals(apply(clean, jobs)(_ => ()).map(_.errors), Right(0L))
      val killed = server.newDatabase(s"killed$jobs")
      for place <- 1 until parts.size do
        val result = apply(killed, jobs)(number => if number == place then server.kill())
        server.restart()
        result match
          case Left(error: ScriptException) =>
            assert(error.server.exists(_.connectionLost), error)
            assert(error.position.nonEmpty, error)
          case other => fail(s"It was to fail at $place, and ended with $other")
      assertEquals(apply(killed, jobs)(_ => ()).map(_.errors), Right(0L))
      assertEquals(state(killed), state(clean))
      assertEquals(server.ask(killed)("SELECT count(*) FROM weir_sql.part"), "0")
