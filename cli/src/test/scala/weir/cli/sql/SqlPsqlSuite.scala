package weir.cli.sql

import munit.FunSuite

/** Tests scripts with commands of psql. */
class SqlPsqlSuite extends FunSuite with SqlFixture:

  folder.test("\\echo prints on standard output, \\warn on standard error"): folder =>
    val script = "\\echo -n a\n\\qecho b\n\\warn c\n\\warn -n d\nSELECT :'v';\n"
    val result = applied(folder, newDatabase(), script, "-q", "-v", "v=1", "-vw=2")
    assertEquals(result, Result(0, "ab\n", "c\nd\n"))

  folder.test("a command that only displays is told once for each script"): folder =>
    val result = applied(folder, newDatabase(), "\\l\nSELECT 1;\n\\l\n\\d\n", "-q")
    val file = folder.resolve("script.sql")
    val told = List(s"$file:1:1: \\l only displays", s"$file:4:1: \\d only displays")
    assertEquals(result.err.linesIterator.map(_.takeWhile(_ != ',')).toList, told)
    assertEquals(result.code, 0)

  folder.test("--strict refuses it, --dry-run before anything is sent"): folder =>
    val file = write(folder, "a.sql", "SELECT 1;\n\\l\n").toString
    val result = weir("--dry-run", "--strict", file)
    assertEquals(result.code, 3)
    assert(clue(result.err).startsWith(s"$file:2:1: ERROR: \\l only displays, which is refused"))

  folder.test("--output prints rows on standard output, the summary on standard error"): folder =>
    val script = "SELECT 1 AS a, 'x' AS b;\nCREATE TABLE t(); SELECT 'a,b' AS c;\n"
    val database = newDatabase()
    val table = applied(folder, database, script, "--output", "table")
    val rows = " a | b \n---+---\n 1 | x\n(1 row)\n\n  c  \n-----\n a,b\n(1 row)\n\n"
    assertEquals((table.code, table.out), (0, rows))
    assert(clue(table.err).contains("3 statements"))
    val csv = applied(folder, database, "SELECT 1 AS a, 'x,y' AS b;", "--output", "csv", "-q")
    assertEquals(csv, Result(0, "a,b\n1,\"x,y\"\n", ""))
    val none = applied(folder, database, "SELECT 1;", "--output", "none", "-q")
    assertEquals(none, Result(0, "", ""))

  folder.test("--dry-run splits with the variables"): folder =>
    val file = write(folder, "a.sql", ":a \\echo :a\n").toString
    val result = weir("--dry-run", "-q", "-v", "a=SELECT 1;SELECT 2;", file)
    assertEquals(result, Result(0, "", ""))

  folder.test("-v is checked before anything else"): folder =>
    val file = write(folder, "a.sql", "SELECT 1;").toString
    for (value, said) <- List(
        "a" -> "-v: 'a' is no variable with a value. Write -v NAME=VALUE.",
        "a b=1" -> "-v: \"a b\" is no name of a variable.",
        "ON_ERROR_STOP=7" -> "-v: \"7\" is no value of the variable ON_ERROR_STOP."
      )
    do
      val result = weir("--dry-run", "-v", value, file)
      assertEquals(result.code, 1)
      assert(clue(result.err).contains(said))
