package weir.postgres.journal

import StatementKind.*
import weir.WeirSuite
import weir.postgres.{Piece, Position}

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
