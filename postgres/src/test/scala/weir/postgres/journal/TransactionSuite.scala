package weir.postgres.journal

/** Tests scripts with transactions of their own, and with statements that cannot be in one. */
class TransactionSuite extends ResumeSuite:
  private def rows(database: String) =
    ask(database)("SELECT string_agg(a::text, ',' ORDER BY a) FROM t")

  /** Applies the script, cut off after each of its statements, and after each pair; the outcome is
    * always the same.
    */
  private def whereverItIsCut(text: String, statements: Int, expected: String): Unit =
    for first <- 1 to statements do
      val database = server.newDatabase()
      dies(database, text, first)
      apply(database, text): Unit
      assertEquals(rows(database), expected, s"cut after $first")
      assertEquals(apply(database, text).statements, 0L)

  test("transactions that are committed, rolled back, and rolled back in part"):
    whereverItIsCut(
      """CREATE TABLE t (a int);
        |START TRANSACTION ISOLATION LEVEL SERIALIZABLE;
        |INSERT INTO t VALUES (1);
        |END;
        |BEGIN;
        |INSERT INTO t VALUES (2);
        |ROLLBACK;
        |BEGIN;
        |INSERT INTO t VALUES (3);
        |SAVEPOINT s;
        |INSERT INTO t VALUES (4);
        |ROLLBACK TO s;
        |INSERT INTO t VALUES (5);
        |COMMIT;
        |INSERT INTO t VALUES (6);
        |""".stripMargin,
      15,
      "1,3,5,6"
    )

  test("transactions in a chain"):
    whereverItIsCut(
      """CREATE TABLE t (a int);
        |BEGIN ISOLATION LEVEL REPEATABLE READ;
        |INSERT INTO t VALUES (1);
        |COMMIT AND CHAIN;
        |INSERT INTO t SELECT 2 WHERE current_setting('transaction_isolation') = 'repeatable read';
        |ROLLBACK AND CHAIN;
        |INSERT INTO t SELECT 3 WHERE current_setting('transaction_isolation') = 'repeatable read';
        |COMMIT AND CHAIN;
        |INSERT INTO t SELECT 4 WHERE current_setting('transaction_isolation') = 'repeatable read';
        |COMMIT;
        |INSERT INTO t VALUES (5);
        |""".stripMargin,
      11,
      "1,3,4,5"
    )

  test("transactions that are read only, and a session that is"):
    whereverItIsCut(
      """CREATE TABLE t (a int);
        |BEGIN READ ONLY;
        |SELECT * FROM t;
        |COMMIT;
        |INSERT INTO t VALUES (1);
        |SET default_transaction_read_only = on;
        |SELECT * FROM t;
        |SET default_transaction_read_only = off;
        |INSERT INTO t VALUES (2);
        |""".stripMargin,
      9,
      "1,2"
    )

  test("a COMMIT that fails because of what was deferred to it leaves nothing"):
    val database = server.newDatabase()
    val text =
      """CREATE TABLE p (a int PRIMARY KEY);
        |CREATE TABLE t (a int REFERENCES p DEFERRABLE INITIALLY DEFERRED);
        |BEGIN;
        |INSERT INTO t VALUES (1);
        |COMMIT;
        |""".stripMargin
    val error = refused(database, text)
    assertEquals(error.position.map(_.line), Some(5L))
    assertEquals(journal(database)("pieces"), "2")
    val mended = text.replace("INSERT", "INSERT INTO p VALUES (1);\nINSERT")
    assertEquals(apply(database, mended).statements, 4L)
    assertEquals(rows(database), "1")

  test("a statement by itself that fails at its commit leaves nothing"):
    val database = server.newDatabase()
    val text =
      """CREATE TABLE p (a int PRIMARY KEY);
        |CREATE TABLE t (a int REFERENCES p DEFERRABLE INITIALLY DEFERRED);
        |INSERT INTO t
        |  VALUES (1);
        |""".stripMargin
    val error = refused(database, text)
    assertEquals(error.position.map(_.toString), Some("3:1"))
    assert(error.getMessage.contains("foreign key"), error.getMessage)
    assertEquals(journal(database)("pieces"), "2")

  test("statements that cannot be in a transaction are applied without one"):
    whereverItIsCut(
      """CREATE TABLE t (a int);
        |VACUUM t;
        |CREATE INDEX CONCURRENTLY i ON t (a);
        |INSERT INTO t VALUES (1);
        |CREATE PROCEDURE p() LANGUAGE plpgsql AS $$ BEGIN INSERT INTO t VALUES (2); COMMIT; END $$;
        |CALL p();
        |DO $$ BEGIN INSERT INTO t VALUES (3); COMMIT; END $$;
        |INSERT INTO t VALUES (4);
        |DISCARD ALL;
        |INSERT INTO t VALUES (5);
        |""".stripMargin,
      10,
      "1,2,3,4,5"
    )

  /** As if a run had been killed while the statement of line 2 ran. */
  private def killedInLine2(text: String): String =
    val database = server.newDatabase()
    dies(database, text, 1)
    server.admin(database)(server.execute(_, "UPDATE weir_sql.journal SET uncertain = '2:1'"))
    database

  test("one of those is noted before it runs, and the note is gone once it has run"):
    val database = server.newDatabase()
    apply(
      database,
      "CREATE TABLE seen (a text);\nCREATE PROCEDURE p() LANGUAGE plpgsql AS $$ BEGIN " +
        "INSERT INTO seen SELECT uncertain FROM weir_sql.journal; COMMIT; END $$;\nCALL p();\n"
    ): Unit
    assertEquals(ask(database)("SELECT a FROM seen"), "3:1")
    assertEquals(journal(database)("uncertain IS NULL"), "t")

  test("a script that gives up all locks has that of its journal again"):
    val database = server.newDatabase()
    val count =
      "SELECT count(*)::int AS a FROM pg_locks WHERE locktype = 'advisory' AND pid = " +
        "pg_backend_pid()"
    apply(database, s"DISCARD ALL;\nCREATE TABLE t AS $count;\n"): Unit
    assertEquals(rows(database), "1")

  private val index = "CREATE INDEX CONCURRENTLY i ON t (a)"

  test("killed within one of those, it is said that it may have been applied, and how to go on"):
    val text =
      s"CREATE TABLE t (a int);\n$index;\nINSERT INTO t VALUES (1);\nINSERT INTO t VALUES (2);\n"
    val database = killedInLine2(text)
    val error = refused(database, text)
    assertEquals(error.position.map(_.toString), Some("2:1"))
    assert(
      error.hint.exists(_.contains("--resume-at 3:1; if not, with --resume-at 2:1")),
      s"${error.hint}"
    )
    assertEquals(error.detail, Some(index))
    assertEquals(apply(database, text, at("3:1")).statements, 2L)
    assertEquals(rows(database), "1,2")
    val again = killedInLine2(text)
    assertEquals(apply(again, text, at("2")).statements, 3L)
    assertEquals(rows(again), "1,2")

  test("the same where it is the last statement"):
    val text = s"CREATE TABLE t (a int);\n$index;\n"
    val database = killedInLine2(text)
    assert(refused(database, text).hint.exists(_.contains("--resume-at end")))
    assertEquals(apply(database, text, at("end")).statements, 0L)
    assertEquals(journal(database)("pieces || coalesce(uncertain, '')"), "2")
    assertEquals(apply(database, text).statements, 0L)

  test("one of those that may be repeated is repeated"):
    for statement <- Seq(
        "VACUUM t",
        "REINDEX TABLE t",
        "/* c */ DISCARD ALL",
        "ALTER SYSTEM RESET work_mem"
      )
    do
      val text = s"CREATE TABLE t (a int);\n$statement;\nINSERT INTO t VALUES (1);\n"
      val database = killedInLine2(text)
      assertEquals(apply(database, text).statements, 2L)
      assertEquals(rows(database), "1")

  test("one of those that fails is known not to have been applied"):
    val database = server.newDatabase()
    val text = "CREATE TABLE t (a int);\nVACUUM u;\n"
    assertEquals(refused(database, text).position.map(_.line), Some(2L))
    assertEquals(apply(database, text.replace("u", "t")).statements, 1L)

  test("a statement is left out by going on at the one after it"):
    val database = server.newDatabase()
    val text = "CREATE TABLE t (a int);\nINSERT INTO u VALUES (1);\nINSERT INTO t VALUES (2);\n"
    refused(database, text): Unit
    assertEquals(apply(database, text, at("3")).statements, 1L)
    assertEquals(apply(database, text).statements, 0L)
    assertEquals(rows(database), "2")
