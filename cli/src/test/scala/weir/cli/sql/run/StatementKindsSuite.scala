package weir.cli.sql.run

import munit.FunSuite
import weir.cli.sql.Statements

class StatementKindsSuite extends FunSuite:
  private def counts(statements: String*): Vector[(String, Long)] =
    val kinds = StatementKinds()
    for text <- statements do kinds.add(Statements.of(text))
    kinds.counts

  private def kind(statement: String): String = counts(statement).map(_._1).mkString

  test("statements are counted by their first word, the most frequent first"):
    assertEquals(
      counts("SET a = 1", "INSERT INTO t", "insert into u", "Insert\nINTO v"),
      Vector("INSERT" -> 3L, "SET" -> 1L)
    )

  test("what creates, alters or drops is counted by the kind of object"):
    assertEquals(kind("CREATE TABLE t (a int)"), "CREATE TABLE")
    assertEquals(kind("create or replace function f() returns int"), "CREATE FUNCTION")
    assertEquals(kind("CREATE UNIQUE INDEX i ON t (a)"), "CREATE INDEX")
    assertEquals(kind("CREATE UNLOGGED TABLE t()"), "CREATE TABLE")
    assertEquals(kind("CREATE MATERIALIZED VIEW v AS SELECT 1"), "CREATE MATERIALIZED VIEW")
    assertEquals(kind("COMMENT ON TABLE t IS 'x'"), "COMMENT TABLE")
    assertEquals(kind("ALTER"), "ALTER")
    assertEquals(
      counts("CREATE TABLE a ()", "CREATE VIEW b", "CREATE TABLE c ()"),
      Vector("CREATE TABLE" -> 2L, "CREATE VIEW" -> 1L)
    )

  test("comments before the first word are passed over, nested ones too"):
    assertEquals(kind("/* a /* b */ c */ SELECT 1"), "SELECT")
    assertEquals(kind("/*+ hint */UPDATE t"), "UPDATE")
    assertEquals(kind("/* a */ -- b\rSELECT 1"), "SELECT")

  test("comments between words are passed over"):
    assertEquals(kind("CREATE /* old view */ OR REPLACE -- x\n VIEW v"), "CREATE VIEW")
    assertEquals(kind("COMMENT/**/ON/**/TABLE t IS ''"), "COMMENT TABLE")

  test("a long word is counted as it is"):
    assertEquals(kind("checkpoint"), "CHECKPOINT")

  test("a statement without a word has a name, too"):
    assertEquals(kind("(1)"), "(other)")
    assertEquals(kind("'a'"), "(other)")
    assertEquals(kind("(SELECT 1)"), "SELECT")
