package weir.cli.sql.report

import munit.FunSuite

import java.io.ByteArrayInputStream

import weir.postgres.{Position, SqlScript}

class ErrorReportSuite extends FunSuite:
  private val script = "COPY t FROM STDIN;\n1\tone\nx\ttwo\n3\t3\n\\.\nSELECT é, y;\n"
  private val lines =
    SqlScript.fromInputStream("s.sql")(ByteArrayInputStream(script.getBytes("UTF-8")))
  lines.pieces.drain.runSync()
  private val report = ErrorReport(
    ErrorText(80, isColoured = false),
    (name, position) => Option.when(name == "s.sql")(lines.lineAt(position)).flatten
  )

  private def shown(problem: Problem): String = report.lines(problem).mkString("\n")

  test("a line of COPY data has its caret under the value that the server quotes"):
    val problem = Problem("s.sql", Some(Position(-1, 3, 1)), "ERROR", "bad", copied = Some("two"))
    assertEquals(shown(problem), "s.sql:3:3: ERROR: bad\nx       two\n        ^")

  test("a line of COPY data without such a value, or with two, has no caret"):
    for value <- List(None, Some("none")) do
      val problem = Problem("s.sql", Some(Position(-1, 2, 1)), "ERROR", "bad", copied = value)
      assertEquals(shown(problem), "s.sql:2: ERROR: bad\n1       one")
    val twice = Problem("s.sql", Some(Position(-1, 4, 1)), "ERROR", "bad", copied = Some("3"))
    assertEquals(shown(twice), "s.sql:4: ERROR: bad\n3       3")

  test("a place in a statement is shown with its line"):
    val at = script.getBytes("UTF-8").length - 3
    val problem = Problem("s.sql", Some(Position(at, 6, 11)), "ERROR", "no y")
    assertEquals(shown(problem), "s.sql:6:11: ERROR: no y\nSELECT é, y;\n          ^")

  test("what is not there any more is told without its line"):
    val problem = Problem("<stdin>", Some(Position(-1, 3, 1)), "ERROR", "bad", copied = Some("two"))
    assertEquals(shown(problem), "<stdin>:3: ERROR: bad")

  test(
    "a value that the server has cut is found by its beginning, a quoted one without its quotes"
  ):
    assertEquals(CopyField.indexOf(s"a\t${"b" * 200}", "b" * 100 + "..."), Some(2))
    assertEquals(CopyField.indexOf("1,\"two\",3", "two"), Some(2))
    assertEquals(CopyField.indexOf("", "x"), None)
