package weir.cli.sql.report

import munit.FunSuite

import weir.postgres.{Position, SourceLine}

class ErrorTextSuite extends FunSuite:
  private val problem = Problem(
    "load.sql",
    Some(Position(40, 3, 8)),
    "ERROR",
    "relation \"x\" does not exist",
    Some("a detail"),
    Some("a hint"),
    Some("line one\nline two")
  )
  private val source = Some(SourceLine("SELECT ", "* FROM x"))

  test("the place, the message, the line with a caret, then what the server added"):
    assertEquals(
      ErrorText(80, isColoured = false).lines(problem, source).mkString("\n"),
      """load.sql:3:8: ERROR: relation "x" does not exist
        |SELECT * FROM x
        |       ^
        |DETAIL: a detail
        |HINT: a hint
        |CONTEXT: line one
        |line two""".stripMargin
    )

  test("without a place, a line or more from the server there is a line"):
    val short = Problem("load.sql", None, "FATAL", "gone")
    assertEquals(
      ErrorText(80, isColoured = false).lines(short, None),
      Vector("load.sql: FATAL: gone")
    )

  test("in colour the words are the same"):
    val coloured = ErrorText(80, isColoured = true).lines(problem, source)
    assert(coloured.head.contains("\u001b["))
    assertEquals(
      coloured.map(_.replaceAll("\u001b\\[[0-9;]*m", "")),
      ErrorText(80, isColoured = false).lines(problem, source)
    )

  test("what a message quotes does nothing to the terminal"):
    val evil = problem.copy(message = "\u001b[2Jx", detail = Some("\u0007"))
    val lines = ErrorText(80, isColoured = false).lines(evil, None)
    assert(!lines.exists(_.exists(Character.isISOControl)), lines)

  test("colour is for a terminal that has it, unless NO_COLOR is set"):
    assert(ErrorText.isColoured(true, Map("TERM" -> "xterm")))
    assert(ErrorText.isColoured(true, Map("NO_COLOR" -> "")))
    assert(!ErrorText.isColoured(false, Map("TERM" -> "xterm")))
    assert(!ErrorText.isColoured(true, Map("TERM" -> "xterm", "NO_COLOR" -> "1")))
    assert(!ErrorText.isColoured(true, Map("TERM" -> "dumb")))
