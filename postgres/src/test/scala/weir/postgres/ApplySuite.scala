package weir.postgres

import java.io.ByteArrayInputStream
import java.nio.charset.StandardCharsets.ISO_8859_1
import scala.collection.mutable
import weir.Task

class ApplySuite extends ServerSuite:

  /** Records the calls. */
  class Told extends ApplyListener:
    val errors = mutable.ListBuffer.empty[ScriptException]
    val notices = mutable.ListBuffer.empty[(Option[Position], ServerNotice)]
    val lines = mutable.ListBuffer.empty[Long]
    var used = 0L
    override def failed(error: ScriptException): Unit = errors += error
    override def copying(script: String, statement: Piece.Statement, lines: Long): Unit =
      this.lines += lines
    override def usedUp(script: String, offset: Long): Unit = used = offset
    override def noticed(script: String, position: Option[Position], notice: ServerNotice): Unit =
      notices += position -> notice

  def apply(
      url: String,
      script: String,
      options: ApplyOptions = ApplyOptions(),
      told: Told = Told()
  ): ApplySummary = applyBytes(url, script.getBytes("UTF-8"), options, told)

  def applyBytes(
      url: String,
      script: Array[Byte],
      options: ApplyOptions = ApplyOptions(),
      told: Told = Told()
  ): ApplySummary =
    ScriptConnection.open(url).use(scriptOf(script).applyTo(_, options, told)).runSync()

  private def scriptOf(text: Array[Byte]): SqlScript =
    SqlScript.fromInputStream("s.sql")(ByteArrayInputStream(text))

  def error(url: String, script: String, options: ApplyOptions = ApplyOptions()): ScriptException =
    intercept[ScriptException](apply(url, script, options))

  private def fresh(): (String, String) =
    val database = server.newDatabase()
    (database, server.unix(database))

  test("a script is applied, and the summary counts it"):
    val (database, url) = fresh()
    val script =
      "CREATE TABLE t (i int);\nCOPY t FROM STDIN;\n1\n2\n\\.\nINSERT INTO t VALUES (3);\n"
    val told = Told()
    val summary = apply(url, script, told = told)
    assertEquals((summary.statements, summary.rows, summary.errors), (3L, 3L, 0L))
    assertEquals((summary.sizeBytes, told.used), (script.length - 1L, script.length - 1L))
    assertEquals(summary.slowest.map(_.position.line).sorted, List(1L, 2L, 6L))
    assertEquals(summary.slowest.map(_.time), summary.slowest.map(_.time).sorted.reverse)
    assertEquals(server.ask(database)("SELECT sum(i) FROM t"), "6")

  test("while the data of a COPY is sent, the listener is told how many lines have been"):
    val (_, url) = fresh()
    val told = Told()
    val script = "CREATE TABLE t (i int);\nCOPY t FROM STDIN;\n" + "12345\n" * 400_000 + "\\.\n"
    apply(url, script, told = told): Unit
    // One block of 64 KB, in which it looks how the script is packed, and nine of 256 KB.
    assertEquals(told.lines.size, 10)
    assertEquals(told.lines.toList, told.lines.toList.sorted)
    assertEquals(told.lines.head, 0L)
    assertEquals(told.lines.last, (65_536 + 8 * 262_144 - script.indexOf("12345")) / 6L)

  test("an error says what had been done before it"):
    val (_, url) = fresh()
    val script = "CREATE TABLE t (i int);\nINSERT INTO t VALUES (1), (2);\nSELECT x;\nSELECT 1;"
    val summary = error(url, script).summary.get
    assertEquals((summary.statements, summary.rows, summary.errors), (2L, 2L, 0L))
    assertEquals(summary.slowest.map(_.position.line).sorted, List(1L, 2L))
    val told = Told()
    val tail = "SELECT x;\nSELECT 1;\n)'"
    val end = intercept[ScriptException](
      apply(url, tail, ApplyOptions(onError = OnError.Continue), told)
    )
    assertEquals(end.summary.map(s => (s.statements, s.errors)), Some((1L, 1L)))
    assertEquals(told.errors.map(_.summary).toList, List(None))

  test("the server's error position is a position in the file"):
    val (_, url) = fresh()
    val e = error(url, "SELECT 1;\nSELECT 'äöü€😀', 1,\n  'é', nix;\n")
    assertEquals(e.position, Some(Position(45, 3, 8)))
    assertEquals(e.getMessage, "s.sql:3:8: ERROR: column \"nix\" does not exist")
    assertEquals(e.server.map(_.sqlState), Some("42703"))

  test("an error without a position is at its statement, with detail and hint"):
    val (_, url) = fresh()
    val e = error(
      url,
      "CREATE TABLE t (i int PRIMARY KEY);\nINSERT INTO t VALUES (1);\n  \nINSERT INTO t VALUES " +
        "(1);\n"
    )
    assertEquals(e.position.map(_.line), Some(4L))
    assertEquals(e.detail, Some("Key (i)=(1) already exists."))

  test("a bad COPY row is a line of the file, with the column's name"):
    val (_, url) = fresh()
    val e =
      error(url, "CREATE TABLE t (i int, \"a, 5: b\" int);\nCOPY t FROM STDIN;\n1\t1\n2\tx\n\\.\n")
    assertEquals(e.position, Some(Position(Position.UnknownOffset, 4, 1)))
    assert(e.problem.contains("invalid input syntax for type integer: \"x\""), e.problem)
    assertEquals(e.server.flatMap(_.column), Some("a, 5: b"))

  test("a COPY whose trigger fails is at the line of the row"):
    val (_, url) = fresh()
    val e = error(
      url,
      "CREATE TABLE t (i int);\nCREATE FUNCTION f() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN " +
        "RAISE 'no %', NEW.i; END$$;\n" +
        "CREATE TRIGGER g BEFORE INSERT ON t FOR EACH ROW EXECUTE FUNCTION f();\nCOPY t FROM " +
        "STDIN;\n1\n\\.\n"
    )
    assertEquals(e.position.map(_.line), Some(5L))
    assertEquals(e.problem, "ERROR: no 1")

  test("the data of a COPY that the server refuses is read as statements, as by psql"):
    val (database, url) = fresh()
    val script =
      "CREATE TABLE t (i int);\nCOPY nix FROM STDIN;\nINSERT INTO t VALUES (2);\n\\.\n" +
        "INSERT INTO t VALUES (1);\n"
    val told = Told()
    val summary = apply(url, script, ApplyOptions(OnError.Continue), told)
    assertEquals((summary.statements, summary.errors), (3L, 2L))
    assertEquals(
      told.errors.map(_.getMessage).toList,
      List(
        "s.sql:2:1: ERROR: relation \"nix\" does not exist",
        "s.sql:4:1: \\. is no command of psql"
      )
    )
    assertEquals(server.ask(database)("SELECT sum(i) FROM t"), "3")

  over("a COPY after errors, of a statement and of another COPY, is applied whole"):
    (database, url) =>
      val data = (1 to 50000).map(i => s"$i\n").mkString
      val script = s"CREATE TABLE t (i int);\nSELECT nix;\nCOPY t FROM STDIN;\n$data\\.\n" +
        s"COPY t FROM STDIN;\nbad\n$data\\.\nCOPY t FROM STDIN;\n$data\\.\n"
      val summary = apply(url, script, ApplyOptions(OnError.Continue))
      assertEquals((summary.statements, summary.rows, summary.errors), (3L, 100000L, 2L))
      assertEquals(server.ask(database)("SELECT count(*) FROM t"), "100000")

  test("under stop the rest does not run, and what is open is rolled back"):
    val (database, url) = fresh()
    ScriptConnection
      .open(url)
      .use { connection =>
        Task.direct {
          val script =
            "CREATE TABLE t (i int);\nBEGIN;\nINSERT INTO t VALUES (1);\nSELECT 1/0;\nCOMMIT;\n"
          val failed = scriptOf(sql(script)).applyTo(connection).attempt.await
          assert(failed.left.exists(_.getMessage.contains("4:1")), failed)
          assertEquals(server.ask(database)("SELECT count(*) FROM t"), "0")
          assertEquals(
            scriptOf(sql("INSERT INTO t VALUES (7);\n")).applyTo(connection).await.rows,
            1L
          )
        }
      }
      .runSync()

  test("a script that ends in the middle of a transaction fails, and is rolled back"):
    val (database, url) = fresh()
    val e = error(url, "CREATE TABLE t (i int);\nBEGIN;\nINSERT INTO t VALUES (1);\n")
    assert(e.problem.contains("middle of a transaction"), e.problem)
    assertEquals(server.ask(database)("SELECT count(*) FROM t"), "0")

  test("a single transaction is all or nothing"):
    val (database, url) = fresh()
    val one = ApplyOptions(singleTransaction = true)
    val e = error(url, "CREATE TABLE t (i int);\nSELECT 1/0;\n", one)
    assertEquals(e.position.map(_.line), Some(2L))
    assertEquals(server.ask(database)("SELECT to_regclass('t') IS NULL"), "t")
    assertEquals(apply(url, "CREATE TABLE t (i int);\n", one).statements, 1L)
    assertEquals(server.ask(database)("SELECT count(*) FROM t"), "0")

  test("a single transaction refuses a script that ends it, at that statement"):
    val (database, url) = fresh()
    val one = ApplyOptions(singleTransaction = true)
    val ends = List(
      "COMMIT",
      "END",
      "ROLLBACK",
      "abort",
      "/* a /* b */ */ COMMIT",
      "PREPARE TRANSACTION 'a'",
      "commit and chain",
      "ROLLBACK WORK"
    )
    for end <- ends do
      val e = error(url, s"CREATE TABLE t (i int);\n$end;\n", one)
      assertEquals(e.position, Some(Position(24, 2, 1)), end)
      assertEquals(server.ask(database)("SELECT to_regclass('t') IS NULL"), "t", end)
    apply(url, "SAVEPOINT a;\nROLLBACK TO a;\nROLLBACK WORK TO SAVEPOINT a;\n", one): Unit

  test("a single transaction cannot go on after an error"):
    val e = intercept[IllegalArgumentException](ApplyOptions(OnError.Continue, true))
    assert(e.getMessage.contains("Use only one of the two"), e.getMessage)

  test("statements that may not be in a transaction run"):
    val (database, url) = fresh()
    apply(url, s"CREATE TABLE t (i int);\nVACUUM t;\nCREATE DATABASE ${database}b;\n"): Unit
    assertEquals(server.ask(s"${database}b")("SELECT 1"), "1")

  test("a LATIN1 script is sent as it is, identifiers of a COPY too"):
    val (database, url) = fresh()
    val script = "SET client_encoding = 'LATIN1';\nCREATE TABLE \"tâble\" (\"é\" text);\n" +
      "COPY \"tâble\" (\"é\") FROM STDIN;\nü\n\\.\nINSERT INTO \"tâble\" VALUES ('ö');\nSELECT " +
      "'é', nix;\n"
    val told = Told()
    val bytes = script.getBytes(ISO_8859_1)
    val summary = applyBytes(url, bytes, ApplyOptions(OnError.Continue), told)
    assertEquals((summary.rows, summary.errors), (2L, 1L))
    assertEquals(server.ask(database)("SELECT string_agg(\"é\", ',') FROM \"tâble\""), "ü,ö")
    assertEquals(told.errors.map(_.position.map(_.toString)).toList, List(Some("7:13")))

  test("bytes that are not valid in the encoding fail at their position, never as U+FFFD"):
    val (_, url) = fresh()
    val script = "SELECT 1;\nSELECT 'é".getBytes("UTF-8") ++ Array(0xe9.toByte) ++ "';\n".getBytes
    val e = intercept[ScriptException](applyBytes(url, script))
    assertEquals(e.position, Some(Position(20, 2, 10)))
    assertEquals(e.problem, "the byte 0xe9 is not valid UTF8")

  test("a script may set a DateStyle that the driver cannot read"):
    val (database, url) = fresh()
    apply(url, "SET datestyle = 'German';\nCREATE TABLE t AS SELECT '31.12.2020'::date d;\n"): Unit
    assertEquals(server.ask(database)("SELECT d::text FROM t"), "2020-12-31")

  test("a SELECT of two million rows, and COPY TO STDOUT, are dropped as they come in"):
    val (_, url) = fresh()
    val script =
      "SELECT repeat('x', 200) FROM generate_series(1, 2000000);\nCOPY (SELECT 1) TO STDOUT;\n"
    System.gc()
    val before = usedBytes
    @volatile var most = 0L
    val told = new Told:
      override def usedUp(script: String, offset: Long): Unit = most = most.max(usedBytes)
    assertEquals(apply(url, script, told = told).rows, 2000001L)
    assert(most - before < (200L << 20), s"${(most - before) >> 20} MB, of 400 MB of rows")

  private def usedBytes: Long = Runtime.getRuntime.totalMemory - Runtime.getRuntime.freeMemory

  test("a cut COPY is cancelled, and leaves nothing"):
    val (database, url) = fresh()
    ScriptConnection
      .open(url)
      .use { connection =>
        Task.direct {
          val cut = "CREATE TABLE t (i int);\nCOPY t FROM STDIN;\n1\n"
          val failed = scriptOf(sql(cut)).applyTo(connection).attempt.await
          val message = "s.sql:2:1: COPY data not ended by \\."
          assert(failed.left.exists(_.getMessage.startsWith(message)), failed)
          assertEquals(connection.driver.getTransactionState.toString, "IDLE")
          assertEquals(scriptOf(sql("SELECT 1;\n")).applyTo(connection).await.rows, 1L)
        }
      }
      .runSync()
    assertEquals(server.ask(database)("SELECT count(*) FROM t"), "0")

  test("warnings are told with the position of their statement, notices are not sent"):
    val (_, url) = fresh()
    val told = Told()
    val script =
      "SELECT 1;\nDO $$BEGIN RAISE NOTICE 'a'; RAISE WARNING 'b' USING HINT = 'c'; END$$;\n"
    apply(url, script, told = told): Unit
    assertEquals(
      told.notices.map((at, n) => (at.map(_.line), n.severity, n.message, n.hint)).toList,
      List((Some(2L), "WARNING", "b", Some("c")))
    )

  test("a connection of the user's own works as well"):
    val (database, _) = fresh()
    val told = Told()
    val script = "CREATE TABLE t (i int);\nCOPY t FROM STDIN;\n1\nx\n\\.\nSELECT 1;\n" +
      "DO $$BEGIN RAISE WARNING 'b'; END$$;\nSELECT 'é', nix;\nCOPY t FROM STDIN;\n3\n\\.\n"
    val summary = server.admin(database) { jdbc =>
      Task
        .direct {
          val connection = ScriptConnection.of(jdbc).await
          assert(!connection.isWatched)
          scriptOf(sql(script)).applyTo(connection, ApplyOptions(OnError.Continue), told).await
        }
        .runSync()
    }
    assertEquals((summary.statements, summary.rows, summary.errors), (4L, 1L, 2L))
    assertEquals(
      told.errors.map(_.position.map(_.toString)).toList,
      List(Some("4:1"), Some("8:13"))
    )
    assertEquals(told.notices.map(_._2.message).toList, List("b"))
    assertEquals(server.ask(database)("SELECT sum(i) FROM t"), "3")
