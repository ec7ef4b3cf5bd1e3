package weir.postgres.protocol

import weir.WeirSuite
import weir.postgres.{Piece, Position}

class SessionStateSuite extends WeirSuite:
  private def statement(sql: String) =
    Piece.Statement(sql.getBytes, copies = false, Position.start, sql.length)

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
    do assertEquals(SessionState.dottedNames(statement(sql)), name.toList, sql)
