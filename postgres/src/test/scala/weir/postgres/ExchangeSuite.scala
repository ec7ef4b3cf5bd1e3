package weir.postgres

import java.io.ByteArrayInputStream
import java.nio.charset.StandardCharsets.ISO_8859_1
import scala.collection.mutable.ListBuffer
import scala.concurrent.duration.*
import weir.{Outcome, Task}
import weir.postgres.protocol.Exchange

/** Many statements go over the connection in one exchange, which changes nothing of what a script
  * does.
  */
class ExchangeSuite extends ServerSuite:
  private final class Seen extends ApplyListener:
    val lines = ListBuffer.empty[String]
    override def statementDone(script: String, s: Piece.Statement, done: Done, nanos: Long): Unit =
      lines += s"${s.start} ${done.tag}"
    override def failed(error: ScriptException): Unit = lines += error.getMessage
    override def noticed(script: String, at: Option[Position], notice: ServerNotice): Unit =
      lines += s"${at.mkString} ${notice.message}"

  private def applying(
      url: String,
      script: Array[Byte],
      options: ApplyOptions
  ): (Either[Throwable, ApplySummary], List[String]) =
    val seen = Seen()
    val result = ScriptConnection
      .open(url)
      .use(
        SqlScript.fromInputStream("s")(ByteArrayInputStream(script)).applyTo(_, options, seen)
      )
      .attempt
      .runSync()
    (result, seen.lines.toList)

  private val stop = ApplyOptions()
  private val go = ApplyOptions(onError = OnError.Continue)
  private val each = List(stop, stop.copy(pipeline = true))

  over("each statement has its result, in the order of the script"): (_, url) =>
    for options <- each do
      val script = "DROP TABLE IF EXISTS t; CREATE TABLE t (i int);\n" +
        "INSERT INTO t VALUES (1), (2);\nSELECT * FROM t;\n/* */;\n" +
        "DO $$BEGIN RAISE WARNING 'w'; END$$;\nBEGIN;\n" + "INSERT INTO t VALUES (3);\n" * 400 +
        "COMMIT;\nCOPY t FROM STDIN;\n5\n\\.\nUPDATE t SET i = 1; DELETE FROM t\n"
      val (result, lines) = applying(url, script.getBytes, options)
      assertEquals(result.map(_.statements), Right(410L))
      assertEquals(result.map(_.rows), Right(2L + 2 + 400 + 1 + 403 + 403))
      assertEquals(
        lines.filterNot(_.endsWith("INSERT 0 1")),
        List("1:1 DROP TABLE", "1:25 CREATE TABLE", "2:1 INSERT 0 2", "3:1 SELECT 2", "5:1 w") ++
          List("5:1 DO", "6:1 BEGIN", "407:1 COMMIT", "408:1 COPY 1", "411:1 UPDATE 403") ++
          List("411:21 DELETE 403")
      )
      assertEquals(lines.count(_.endsWith("INSERT 0 1")), 400)

  over("no statement runs after an error that ends the run"): (database, url) =>
    for (options, begin, rows) <- List(
        (stop, "", "5"),
        (stop.copy(pipeline = true), "", "5"),
        (stop, "BEGIN;", "0"),
        (stop.copy(pipeline = true), "BEGIN;", "0"),
        (stop.copy(singleTransaction = true), "", "0"),
        (stop.copy(pipeline = true, singleTransaction = true), "", "0")
      )
    do
      server.admin(database)(server.execute(_, "DROP TABLE IF EXISTS t; CREATE TABLE t (i int)"))
      val script =
        s"$begin\n" + "INSERT INTO t VALUES (1);\n" * 5 + "INSERT INTO t VALUES ('x');\n" +
          "INSERT INTO t VALUES (2);\n" * 50 + (if begin.isEmpty then "" else "COMMIT;\n") +
          (if options.singleTransaction then "" else "INSERT INTO t VALUES (3);\n")
      val (result, lines) = applying(url, script.getBytes, options)
      val error = result.left.toOption.collect { case error: ScriptException => error }.get
      assertEquals(
        error.getMessage,
        "s:7:23: ERROR: invalid input syntax for type integer: \"x\""
      )
      assertEquals(lines.size, if begin.isEmpty then 5 else 6)
      assertEquals(server.ask(database)("SELECT count(*) FROM t"), rows)

  over("with errors allowed each is reported in its place, as psql does"): (database, url) =>
    val script = "CREATE TABLE t (i int);\nBEGIN;\nINSERT INTO t VALUES (1);\nINSERT INTO u;\n" +
      "INSERT INTO t VALUES (2);\nROLLBACK;\nINSERT INTO t VALUES (3);\nSELECT 1/0;\n" +
      "INSERT INTO t VALUES (4);\n"
    val expected = List("1:1 CREATE TABLE", "2:1 BEGIN", "3:1 INSERT 0 1") ++
      List("s:4:14: ERROR: syntax error at or near \";\"") ++
      List(
        "s:5:1: ERROR: current transaction is aborted, commands ignored until end of " +
          "transaction block",
        "6:1 ROLLBACK",
        "7:1 INSERT 0 1",
        "s:8:1: ERROR: division by zero"
      ) ++
      List("9:1 INSERT 0 1")
    for options <- List(go, go.copy(pipeline = true)) do
      server.admin(database)(server.execute(_, "DROP TABLE IF EXISTS t"))
      val (result, lines) = applying(url, script.getBytes, options)
      assertEquals(lines.map(_.replace("end of input", "or near \";\"")), expected)
      assertEquals(result.map(summary => (summary.statements, summary.errors)), Right((6L, 3L)))

  over("a statement is looked at with the settings that those before it have made"):
    (database, url) =>
      val bytes = ("CREATE TABLE t (s text);\nINSERT INTO t VALUES ('a');\n" +
        "SET client_encoding = 'LATIN1';\nINSERT INTO t VALUES ('\u00e9');\n" +
        "SELECT set_config('client_encoding', 'UTF8', false);\nSELECT 2;\n" +
        "SELECT '\u00e9';\n").getBytes(ISO_8859_1)
      for options <- each do
        server.admin(database)(server.execute(_, "DROP TABLE IF EXISTS t"))
        val (result, _) = applying(url, bytes, options)
        val error = result.left.toOption.map(_.getMessage)
        assertEquals(error, Some("s:7:9: the byte 0xe9 is not valid UTF8"))
        assertEquals(server.ask(database)("SELECT string_agg(s, '' ORDER BY s) FROM t"), "a\u00e9")
      val off = "SELECT 1;\nSELECT set_config('standard_conforming_strings', 'off', false);\n" +
        "SELECT 2;\nSELECT '\\';"
      for options <- each do
        val error = applying(url, off.getBytes, options)._1.left.toOption.map(_.getMessage)
        // A statement without a backslash may have been sent ahead.
        assert(clue(error).exists(_.matches("s:[34]:1: standard_conforming_strings is off.*")))

  over("a cancel ends an exchange at the statement that runs, and the connection goes on"):
    (_, url) =>
      withSession(url) { (connection, session) =>
        Task.direct {
          session.run("CREATE TABLE t (i int)").await: Unit
          val source = Given("SELECT pg_sleep(1000)", "INSERT INTO t VALUES (1)")
          val fiber = session.exchange(source).start.await
          backend(server, connection, "wait_event = 'PgSleep'")
          fiber.cancel.timeout(20.seconds).await
          assertEquals(fiber.join.await, Outcome.Canceled)
          assertEquals(session.run("SELECT * FROM t").await, Done(0, "SELECT 0"))
        }
      }

  over("a COPY, an empty statement and an error of the caller leave the session in step"):
    (_, url) =>
      withSession(url) { (_, session) =>
        Task.direct {
          session.run("CREATE TABLE t (i int)").await: Unit
          val source = Given("SELECT 1", "COPY t FROM STDIN", "SELECT 2")
          session.exchange(source).await
          assertEquals(source.seen.toList, List("SELECT 1", "57014"))
          val after = Given("", "SELECT 1; SELECT 1/0", "INSERT INTO t VALUES (1), (2)")
          session.exchange(after).await
          assertEquals(after.seen.toList, List("", "22012", "INSERT 0 2"))
          val failing = Given("SELECT 1", "SELECT 2", "SELECT 3")
          failing.sees = text => if text == "SELECT 2" then throw IllegalStateException("own")
          val error = session.exchange(failing).attempt.await
          assertEquals(error.left.toOption.map(_.getMessage), Some("own"))
          assertEquals(session.run("SELECT * FROM t").await, Done(2, "SELECT 2"))
        }
      }

  private final class Given(statements: String*) extends Exchange.Source:
    private val left = statements.iterator
    val seen = ListBuffer.empty[String]
    var sees: String => Unit = _ => ()

    def next(unanswered: Int, inTransaction: Boolean): Array[Byte] | Null =
      if unanswered == 0 && left.hasNext then
        val text = left.next()
        sees(text)
        sql(text)
      else null

    def done(done: Done): Unit = seen += done.tag

    /** The SQLSTATE is the field C. */
    def failed(body: Array[Byte]): Unit =
      seen += String(body, ISO_8859_1).split('\u0000').find(_.startsWith("C")).get.drop(1)
