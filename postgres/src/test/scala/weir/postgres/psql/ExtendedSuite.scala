package weir.postgres.psql

import java.io.ByteArrayInputStream
import scala.collection.mutable
import weir.{Outcome, Task}
import weir.postgres.*

/** The extended protocol and pipelines of psql, where the connection, the options of the run or its
  * end matter. `RecordedRunsSuite` has what psql does.
  */
class ExtendedSuite extends ServerSuite:

  private final class Told extends ApplyListener:
    val told = mutable.ListBuffer.empty[String]
    override def printed(script: String, text: String, isForErrors: Boolean): Unit = told += text
    override def failed(error: ScriptException): Unit = told += error.getMessage
    override def noticed(script: String, position: Option[Position], notice: ServerNotice): Unit =
      told += s"${position.mkString} ${notice.message}"

  private val printing = PsqlOptions(results = Results.Csv)
  private val stop = ApplyOptions(psql = printing)
  private val go = stop.copy(onError = OnError.Continue)
  private val plain = "\\t\n"

  private def script(text: String) =
    SqlScript.fromInputStream("s.sql")(ByteArrayInputStream(text.getBytes("UTF-8")))

  /** Applies the script, and returns what was told, and the error at its end. */
  private def apply(
      url: String,
      text: String,
      options: ApplyOptions = stop
  ): (List[String], String) =
    val told = Told()
    val end =
      ScriptConnection.open(url).use(script(text).applyTo(_, options, told)).attempt.runSync()
    (told.told.toList, end.left.toOption.fold("")(_.getMessage))

  private def newUrl(): (String, String) =
    val database = server.newDatabase()
    (database, server.unix(database))

  over("parameters, descriptions and pipelines go over each kind of connection"): (_, url) =>
    val text = s"${plain}SELECT $$1 || 'ü' \\bind 'ß' \\g\nSELECT 1 AS a \\gdesc\n" +
      "\\startpipeline\nSELECT 2;\nSELECT $1 \\bind ä \\sendpipeline\n\\endpipeline\nSELECT 3;\n"
    assertEquals(apply(url, text), (List("ßü\n", "a,integer\n", "2\n", "ä\n", "3\n"), ""))

  test("a connection of the user's own has no extended protocol"):
    val jdbc = java.sql.DriverManager.getConnection(server.jdbc(server.newDatabase()))
    try
      def end(text: String) =
        val run = ScriptConnection.of(jdbc).flatMap(script(text).applyTo(_, stop, Told()))
        run.attempt.runSync().left.toOption.fold("")(_.getMessage)
      for text <- List("SELECT $1 \\bind 1 \\g\n", "\\startpipeline\n") do
        assert(end(text).contains("needs a connection of ScriptConnection.open"), end(text))
    finally jdbc.close()

  test("what the server says has the position of its statement"):
    val (_, url) = newUrl()
    val notice = "DO 'BEGIN RAISE WARNING ''w''; END'"
    val text = s"SELECT 1;\n$notice \\bind \\g\n\\startpipeline\nSELECT 2;\n  $notice;\n" +
      "SELECT nix;\n\\endpipeline\n"
    val (told, end) = apply(url, plain + text)
    assertEquals(told, List("1\n", "3:1 w", "6:3 w", "2\n"))
    assertEquals(end, "s.sql:7:8: ERROR: column \"nix\" does not exist")

  test("statements are echoed when a pipeline takes them"):
    val (_, url) = newUrl()
    val text = s"$plain\\set ECHO queries\n\\startpipeline\nSELECT 1;\n\\echo a\n\\endpipeline\n"
    assertEquals(apply(url, text), (List("SELECT 1;\n", "a\n", "1\n"), ""))

  private val failing = "CREATE TABLE t (i int);\n\\startpipeline\nINSERT INTO t VALUES (1);\n" +
    "\\syncpipeline\nSELECT 5;\nSELECT 1/0;\nINSERT INTO t VALUES (2);\n\\syncpipeline\n" +
    "INSERT INTO t VALUES (3);\n\\endpipeline\n\\echo end\n"
  private val failed = "s.sql:7:1: ERROR: division by zero"

  test("an error in a pipeline ends the run, and nothing after the next sync is sent"):
    val (database, url) = newUrl()
    assertEquals(apply(url, plain + failing), (List("5\n"), failed))
    assertEquals(server.ask(database)("SELECT string_agg(i::text, ' ') FROM t"), "1")

  test("an error in a pipeline is passed over up to the next sync"):
    val (database, url) = newUrl()
    assertEquals(apply(url, plain + failing, go), (List("5\n", failed, "end\n"), ""))
    assertEquals(server.ask(database)("SELECT string_agg(i::text, ' ') FROM t"), "1 3")

  test("a result before an error can be fetched, and what follows is not sent"):
    val (database, url) = newUrl()
    val text = "CREATE TABLE t (i int);\n\\startpipeline\nSELECT 1;\nSELECT nix;\n" +
      "\\syncpipeline\n" +
      "INSERT INTO t VALUES (1);\n\\syncpipeline\n\\getresults 1\n\\echo fetched\n\\getresults\n"
    val end = "s.sql:5:8: ERROR: column \"nix\" does not exist"
    assertEquals(apply(url, plain + text), (List("1\n", "fetched\n"), end))
    assertEquals(server.ask(database)("SELECT count(*) FROM t"), "0")

  test("after an error the connection can be used, and no transaction is open"):
    val (database, url) = newUrl()
    val begun = "\\startpipeline\nBEGIN;\nCREATE TABLE t (i int);\n\\flush\nSELECT nix;\n"
    val ends = List(
      "\\flushrequest\n\\getresults\n",
      "\\endpipeline\n",
      "\\echo `x`\n", // refused
      ""
    )
    ScriptConnection
      .open(url)
      .use: connection =>
        Task.direct:
          for end <- ends do
            val run = script(begun + end).applyTo(connection, stop, Told())
            assert(run.attempt.await.isLeft, end)
            val told = Told()
            val next = s"${plain}SELECT pg_current_xact_id_if_assigned() IS NULL;\n"
            script(next).applyTo(connection, stop, told).await: Unit
            assertEquals(told.told.toList, List("t\n"), end)
      .runSync()
    assertEquals(server.ask(database)("SELECT to_regclass('t') IS NULL"), "t")

  test("a script that ends in the middle of a pipeline fails"):
    val (database, url) = newUrl()
    val end = "s.sql: the script has ended in the middle of a pipeline, the rest of which is " +
      "rolled back"
    for text <- List("CREATE TABLE t (i int);\n", "CREATE TABLE t (i int);\n\\flush\n") do
      assertEquals(apply(url, s"\\startpipeline\n$text"), (Nil, end))
      assertEquals(server.ask(database)("SELECT to_regclass('t') IS NULL"), "t")
    assertEquals(apply(url, "\\startpipeline\n"), (Nil, ""))

  for (copy, at) <- List(
      "COPY (SELECT 1) TO STDOUT;\n" -> "s.sql:2:1: COPY in a pipeline is not supported",
      "COPY t FROM STDIN;\n1\n\\.\n" ->
        "s.sql:2:1: COPY … FROM STDIN with \\bind, or in a pipeline",
      "\\copy t FROM f\n" -> "s.sql:2:1: \\copy not allowed in pipeline mode",
      "\\c other\n" -> "s.sql:2:1: \\c not allowed in pipeline mode"
    )
  do
    test(s"ends the run in a pipeline, also one that goes on: ${copy.linesIterator.next()}"):
      val (_, url) = newUrl()
      assertEquals(
        apply(url, s"\\startpipeline\n$copy\\endpipeline\nSELECT 2;\n", go),
        (Nil, at)
      )

  test("a COPY that the reader does not see ends the run, and the connection can be used"):
    val (database, url) = newUrl()
    server.admin(database)(server.execute(_, "CREATE TABLE t (i int)"))
    for sent <- List(
        "COPY t FROM STDIN \\parse c\n\\bind_named c \\g\n",
        "\\startpipeline\nCOPY t FROM STDIN \\parse c\n\\bind_named c \\sendpipeline\n" +
          "\\endpipeline\n",
        "\\startpipeline\nCOPY t FROM STDIN \\parse c\n\\bind_named c \\sendpipeline\n" +
          "\\flushrequest\n\\getresults\n"
      )
    do
      ScriptConnection
        .open(url)
        .use: connection =>
          Task.direct:
            assert(script(sent).applyTo(connection, stop, Told()).attempt.await.isLeft, sent)
            script("SELECT 1;\n").applyTo(connection, stop, Told()).await: Unit
        .runSync()

  test("one transaction: a pipeline is a part of it, and cannot end it"):
    val (database, url) = newUrl()
    val single = stop.copy(singleTransaction = true)
    val begun = "\\startpipeline\nCREATE TABLE t (i int);\n\\syncpipeline\n"
    for (rest, end) <- List(
        "SELECT nix;\n\\endpipeline\n" -> "s.sql:4:8: ERROR: column \"nix\" does not exist",
        "COMMIT;\n\\endpipeline\n" ->
          "s.sql:4:1: COMMIT in a script that is to be a single transaction"
      )
    do
      assertEquals(apply(url, begun + rest, single), (Nil, end))
      assertEquals(server.ask(database)("SELECT to_regclass('t') IS NULL"), "t")
    assertEquals(apply(url, s"$begun\\endpipeline\n", single), (Nil, ""))
    assertEquals(server.ask(database)("SELECT to_regclass('t') IS NULL"), "f")

  private val resume = stop.copy(resume = Some(Resume()))

  test("a journal has statements with parameters, and goes on behind them"):
    val (database, url) = newUrl()
    def run(last: String) = apply(
      url,
      s"${plain}CREATE TABLE t (i int);\nINSERT INTO t VALUES ($$1) \\bind 1 \\g\n" +
        s"SELECT $$1 AS a \\bind 2 \\gset\nSELECT $$1::int / $last \\bind 4 \\g\n" +
        "SELECT :a, count(*) FROM t;\n",
      resume
    )
    assertEquals(run("0"), (Nil, "s.sql:5:1: ERROR: division by zero"))
    assertEquals(run("2"), (List("2\n", "2,1\n"), ""))
    assertEquals(server.ask(database)("SELECT count(*) FROM t"), "1")

  test("a journal is told of what only describes or prepares, whatever its text"):
    val (database, url) = newUrl()
    val text = s"${plain}BEGIN;\nCREATE TABLE t (i int);\nCOMMIT \\gdesc\nSELECT 1 \\parse s\n" +
      "COMMIT;\n\\bind_named s \\g\n\\close_prepared s\n"
    val none = "The command has no result, or the result has no columns.\n"
    assertEquals(apply(url, text, resume), (List(none, "1\n"), ""))
    assertEquals(server.ask(database)("SELECT to_regclass('t') IS NULL"), "f")

  for (text, problem) <- List(
      "\\startpipeline\n" -> "\\startpipeline cannot be used together with --resume",
      "SELECT 1 \\parse ''\n" -> "\\parse cannot be applied with --resume if it has no name",
      "COMMIT \\parse c\n" -> "\\parse cannot be applied with --resume if it has no name"
    )
  do
    test(s"refused with a journal: ${text.trim}"):
      val (told, end) = apply(newUrl()._2, text, resume)
      assertEquals(told, Nil)
      assert(end.startsWith(s"s.sql:1:1: $problem"), end)

  test("a run cannot go on behind a prepared statement, which has ended with its session"):
    val (_, url) = newUrl()
    def run(last: String) = apply(
      url,
      s"CREATE TABLE t (i int);\nINSERT INTO t VALUES ($$1) \\parse s\nSELECT $last;\n" +
        "\\bind_named s 1 \\g\n",
      resume
    )
    assert(run("1/0")._2.contains("division by zero"))
    val end = run("1")._2
    assert(end.contains("cannot go on here in a new session"), end)

  test("a COPY that was only described or prepared is sent with its data"):
    val (database, url) = newUrl()
    val text = s"${plain}CREATE TABLE t (i int);\nCOPY t FROM STDIN \\gdesc\n\\g\n7\n\\.\n" +
      "COPY t FROM STDIN \\parse c\n\\g\n8\n\\.\n"
    val none = "The command has no result, or the result has no columns.\n"
    assertEquals(apply(url, text), (List(none), ""))
    assertEquals(server.ask(database)("SELECT string_agg(i::text, ' ') FROM t"), "7 8")

  private val unprinted = ApplyOptions()

  test("rows that came while nothing printed them are not printed later, without a word"):
    val (_, url) = newUrl()
    val begun = "\\startpipeline\nSELECT 1;\n"
    val end = "\\getresults\n\\endpipeline\n"
    assertEquals(apply(url, s"$begun\\flushrequest\n$end", unprinted), (Nil, ""))
    assertEquals(
      apply(url, s"$begun\\flush\n\\flushrequest\n\\o /dev/null\n$end", unprinted),
      (
        Nil,
        "s.sql:2:1: the rows of this statement came while nothing printed them, and were dropped"
      )
    )

  test("the values of parameters are hidden in errors"):
    val (_, url) = newUrl()
    val bad = "ERROR: invalid input syntax for type integer: \"***\""
    for text <- List(
        "SELECT $1::int \\bind hunter2 \\g\n",
        "SELECT $1::int \\parse a\n\\bind_named a hünter2 \\g\n",
        "\\startpipeline\nSELECT $1::int \\bind hunter2 \\sendpipeline\n\\endpipeline\n"
      )
    do assert(apply(url, text)._2.endsWith(bad), apply(url, text))

  test("a statement that is not sent fails its part of a pipeline"):
    val (database, url) = newUrl()
    val text = "CREATE TABLE t (i int);\n\\startpipeline\nINSERT INTO t VALUES (1);\n" +
      "INSERT INTO t VALUES ('\u00ff');\nINSERT INTO t VALUES (2);\n\\syncpipeline\n" +
      "INSERT INTO t VALUES (3);\n\\flushrequest\n\\getresults 3\n\\echo a\n\\endpipeline\n"
    val told = Told()
    val run = ScriptConnection
      .open(url)
      .use: connection =>
        SqlScript
          .fromInputStream("s.sql")(ByteArrayInputStream(text.getBytes("ISO-8859-1")))
          .applyTo(connection, go, told)
    run.runSync(): Unit
    val refused = "s.sql:4:24: the byte 0xff is not valid UTF8"
    assertEquals(told.told.toList, List(refused, "a\n"))
    assertEquals(server.ask(database)("SELECT string_agg(i::text, ' ') FROM t"), "3")

  test("settings that a pipeline makes hold on the other connections of a COPY"):
    val (database, url) = newUrl()
    val jobs =
      stop.copy(jobs = Some(MoreConnections(2, ScriptConnection.open(server.unix(database)))))
    val rows = (1 to 5000).map(i => s"$i\t${"x" * 420}\n").mkString
    val text = "CREATE SCHEMA a;\nCREATE TABLE a.t (i int, s text);\n\\startpipeline\n" +
      "SET search_path = a;\n\\endpipeline\n" + s"COPY t FROM STDIN;\n$rows\\.\n"
    assertEquals(apply(url, text, jobs), (Nil, ""))
    assertEquals(server.ask(database)("SELECT count(DISTINCT xmin::text) FROM a.t"), "2")

  test("a pipeline of more than the sockets hold, both ways, neither waits nor loses anything"):
    val (_, url) = newUrl()
    val long = "y" * 100_000
    val statements = (1 to 300).map(i => s"SELECT repeat('x', 5000), $i;\n").mkString
    val text = s"$plain\\startpipeline\n${statements}SELECT length('$long');\n" +
      s"SELECT length($$1), sum(i) FROM generate_series(1, 100) i \\bind '$long' \\sendpipeline\n" +
      "\\endpipeline\n"
    val (told, end) = apply(url, text)
    assertEquals(end, "")
    assertEquals(told.map(_.length).take(300).sum, (1 to 300).map(i => 5002 + s"$i".length).sum)
    assertEquals(told.drop(300), List("100000\n", "100000,5050\n"))

  test("the reader goes on with the settings that a pipeline has made"):
    val (_, url) = newUrl()
    val text = s"$plain\\startpipeline\nSET standard_conforming_strings = off;\n\\endpipeline\n" +
      "SET escape_string_warning = off;\nSELECT 'a\\'b';\n"
    assertEquals(apply(url, text), (List("a'b\n"), ""))

  over("a cancel in a pipeline leaves a connection that can be used"): (_, url) =>
    val text = "\\startpipeline\nBEGIN;\nSELECT pg_sleep(1000);\n"
    ScriptConnection
      .open(url)
      .use: connection =>
        Task.direct:
          for end <- List("\\flush\n", "\\endpipeline\n") do
            val run = script(text + end).applyTo(connection, stop, Told()).start.await
            backend(server, connection, "wait_event = 'PgSleep'")
            run.cancel.await
            assertEquals(run.join.await, Outcome.Canceled)
            val told = Told()
            val next = s"${plain}SELECT pg_current_xact_id_if_assigned() IS NULL;\n"
            script(next).applyTo(connection, stop, told).await: Unit
            assertEquals(told.told.toList, List("t\n"), end)
      .runSync()
