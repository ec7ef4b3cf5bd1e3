package weir.postgres.journal

import StatementKind.*
import weir.WeirSuite
import weir.postgres.{Piece, Position, Resume}

class StatementKindSuite extends WeirSuite:
  private def statement(sql: String) =
    Piece.Statement(sql.getBytes, copies = false, Position.start, sql.length)

  test("what a statement does to its transaction is told by its first words"):
    for (sql, kind) <- Seq(
        "INSERT INTO t VALUES ('; COMMIT')" -> Plain,
        "/* COMMIT */ -- x\n insert into t values (1)" -> Plain,
        "begin" -> Control,
        "START TRANSACTION READ ONLY" -> Control,
        "SAVEPOINT a" -> Control,
        "ROLLBACK WORK TO SAVEPOINT a" -> Control,
        "rollback to a" -> Control,
        "SET LOCAL x = 1" -> Control,
        "SET x = 1" -> Plain,
        "/* c */ COMMIT" -> Commit(false),
        "END TRANSACTION" -> Commit(false),
        "COMMIT AND NO CHAIN" -> Commit(false),
        "COMMIT WORK AND NO CHAIN" -> Commit(false),
        "COMMIT AND CHAIN" -> Commit(true),
        "commit transaction and chain" -> Commit(true),
        "ROLLBACK" -> Rollback,
        "ABORT AND CHAIN" -> Rollback,
        "PREPARE TRANSACTION 'x'" -> Prepare,
        "PREPARE p AS SELECT 1" -> Plain,
        "COMMIT PREPARED 'x'" -> Plain,
        "ROLLBACK PREPARED 'x'" -> Plain
      )
    do assertEquals(StatementKind.of(statement(sql)), kind, sql)

  test("statements that are joined and begin or end a transaction are seen"):
    for (sql, kind) <- Seq(
        "SELECT 1; COMMIT" -> Joined,
        "BEGIN; SELECT 1" -> Joined,
        "SELECT 1; SELECT 2" -> Plain,
        "SELECT 1 AS commit; SELECT ';'" -> Plain,
        "CREATE FUNCTION f() RETURNS int BEGIN ATOMIC SELECT 1; END" -> Plain,
        "CREATE RULE r AS ON INSERT TO t DO (SELECT 1; SELECT 2)" -> Plain,
        "DO $x$BEGIN; COMMIT; END$x$" -> Plain,
        "DO $$BEGIN NULL; END$$" -> Plain,
        "SELECT E'\\'; COMMIT'" -> Plain
      )
    do assertEquals(StatementKind.of(statement(sql)), kind, sql)

  test("only what may change the session makes the server be asked"):
    for (sql, may) <- Seq(
        "INSERT INTO t VALUES (1)" -> false,
        "COPY t FROM STDIN" -> false,
        "SELECT pg_catalog.setval('s', 1)" -> false,
        "ALTER TABLE t ADD b int" -> false,
        "CREATE TEMP TABLE t (a int)" -> true,
        "CREATE LOCAL TEMPORARY TABLE t (a int)" -> true,
        "CREATE TABLE t (a int)" -> false,
        "CREATE TABLE pg_temp.t (a int)" -> true,
        "BEGIN" -> false,
        "COMMIT" -> false,
        "ROLLBACK TO s" -> true,
        "SET x = 1" -> true,
        "SELECT f()" -> true,
        "SELECT pg_catalog.set_config('search_path', '', false)" -> true,
        "DISCARD ALL" -> true,
        "DO $$BEGIN NULL; END$$" -> true
      )
    do assertEquals(SessionState.mayChange(statement(sql)), may, sql)

  test("a setting with a dot in its name is known by its SET"):
    for (sql, name) <- Seq(
        "SET a.b = 1" -> Some("a.b"),
        "SET SESSION A.\"B\" TO 1" -> Some("a.b"),
        "SET a = 1" -> None,
        "RESET a.b" -> None
      )
    do assertEquals(SessionState.dottedName(statement(sql)), name, sql)

  test("settings are what they were once they are written and read"):
    val settings = Vector("a.b" -> "x=1\ny%0A\r\\'", "search_path" -> "\"\"", "c" -> "")
    val state = SessionState(settings, Vector("temporary table t"))
    val cipher = SettingCipher(Array.fill[Byte](32)(7))
    val readable = settings.map((name, value) => (name, Option(value)))
    assertEquals(SessionState.parse(state.encode(cipher), Some(cipher)), readable)

  test("a place to go on at is a line, a line and a column, or the end"):
    assertEquals(Resume.Place.parse("12"), Some(Resume.Place(12, 1)))
    assertEquals(Resume.Place.parse("12:3"), Some(Resume.Place(12, 3)))
    assertEquals(Resume.Place.parse("end"), Some(Resume.Place.end))
    for text <- Seq("", "0", "a", "1:", ":1", "1:0", "1:2:3") do
      assertEquals(Resume.Place.parse(text), None, text)
