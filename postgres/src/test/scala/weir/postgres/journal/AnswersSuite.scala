package weir.postgres.journal

import weir.postgres.*
import weir.postgres.protocol.KeptRows

/** Scripts whose way depends on rows, by `\gset` and `\gexec`, cut off and applied again. */
class AnswersSuite extends ResumeSuite:
  private val script =
    """CREATE TABLE t (a int, b text);
      |SELECT count(*) = 0 AS empty, 'it''s' AS b FROM t \gset
      |\if :empty
      |INSERT INTO t VALUES (1, :'b');
      |\endif
      |SELECT count(*) = 0 AS empty, NULL AS b FROM t \gset
      |\if :empty
      |INSERT INTO t VALUES (2, 'no');
      |\else
      |INSERT INTO t VALUES (3, :'b');
      |\endif
      |BEGIN;
      |INSERT INTO t VALUES (4, 'in') RETURNING a + 1 AS next \gset
      |INSERT INTO t VALUES (:next, 'next');
      |COMMIT;
      |SELECT format('INSERT INTO t VALUES (%s, %L)', i, 'row') FROM generate_series(6, 7) i \gexec
      |SELECT max(a) + 1 AS next FROM t \gset
      |INSERT INTO t VALUES (:next, 'last');
      |""".stripMargin.replace("(3, :'b')", "(3, 'b' || :{?b})")

  private val rows = "SELECT string_agg(a || b, ',' ORDER BY a, b) FROM t"
  private val expected = "1it's,3bfalse,4in,5next,6row,7row,8last"

  test("a script that died after any of its statements takes the same way"):
    for statements <- 1 to 13 do
      val database = server.newDatabase()
      dies(database, script, statements)
      apply(database, script): Unit
      assertEquals(ask(database)(rows), expected, s"$statements")

  test("a script that was applied to its end takes the same way again, and applies nothing"):
    val database = server.newDatabase()
    for _ <- 1 to 2 do
      apply(database, script): Unit
      assertEquals(ask(database)(rows), expected)

  test("all of it is one transaction, with --single-transaction"):
    val database = server.newDatabase()
    val text = script.replace("BEGIN;\n", "").replace("COMMIT;\n", "")
    val single = resuming.copy(singleTransaction = true)
    for _ <- 1 to 2 do
      apply(database, text, single): Unit
      assertEquals(ask(database)(rows), expected)

  test("the rows in the journal cannot be read there"):
    val database = server.newDatabase()
    apply(database, "SELECT 'secret' AS a \\gset\n"): Unit
    val kept = ask(database)("SELECT rows FROM weir_sql.answer")
    val plain = RecordedRows.encode(KeptRows(Vector("a"), Vector(Vector("secret"))))
    assert(!kept.contains("secret") && !kept.contains(plain), kept)

  test("rows that the journal has lost are an error"):
    val database = server.newDatabase()
    dies(database, script, 3)
    apply(database, "DELETE FROM weir_sql.answer;", ApplyOptions()): Unit
    val problem = refused(database, script).problem
    assert(clue(problem).startsWith("the journal does not have the rows of this statement"))

  test("a journal of an earlier version gets the table by hand"):
    val database = server.newDatabase()
    apply(database, "SELECT 1;\n", name = "other.sql"): Unit
    apply(database, "DROP TABLE weir_sql.answer;", ApplyOptions()): Unit
    val failed = refused(database, script)
    assert(clue(failed.problem).contains("has no table for the rows"))
    val made = "Its owner can make it: (.*)\\.".r.findFirstMatchIn(failed.hint.get).get.group(1)
    apply(database, s"$made;", ApplyOptions()): Unit
    apply(database, script): Unit
    assertEquals(ask(database)(rows), expected)

  test("rows in the journal are those that were kept"):
    for kept <- List[KeptRows | Null](
        null,
        KeptRows(Vector("a"), Vector.empty),
        KeptRows(Vector("a", ""), Vector(Vector(null, ""), Vector("x\ny,=-", "\u00ff\u0000")))
      )
    do assertEquals(RecordedRows.parse(RecordedRows.encode(kept)), kept)
