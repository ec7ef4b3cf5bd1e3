package weir.cli.sql.report

import scala.concurrent.duration.*

import munit.FunSuite

import weir.cli.sql.Statements
import weir.cli.sql.run.ScriptCounts
import weir.postgres.SqlScript

class ProgressSuite extends FunSuite:
  private val copy = Statements.of("COPY t FROM STDIN;\n\\.\n")

  private def words(counts: ScriptCounts): String = Progress.words(counts.snapshot(), 2.seconds)

  private def rows(counts: ScriptCounts): String = words(counts).split(", ").last

  test("rows of a COPY are shown as they are sent, and are rows once it is done"):
    val counts = ScriptCounts(Nil)
    counts.statementDone(copy, 100)
    assertEquals(words(counts), "0 B of 0 B, 0 B/s, 1 statement, 100 rows")
    counts.copying(5_000)
    assertEquals(rows(counts), "5,100 rows")
    counts.copying(9_000)
    assertEquals(counts.snapshot().rows, 100L)
    counts.statementDone(copy, 9_500)
    assertEquals(rows(counts), "9,600 rows")

  test("rows of a COPY that the server has refused are none"):
    val counts = ScriptCounts(Nil)
    counts.copying(5_000)
    counts.failed()
    assertEquals(rows(counts), "1 error")
    assert(clue(words(counts)).contains(" 0 rows"))

  test("lines in the log of a program come at most each 30 seconds"):
    assert(Progress.Lines(java.io.PrintWriter(java.io.StringWriter())).every >= 30.seconds)

  test("of a script of unknown size there is no time left"):
    val counts = ScriptCounts(Seq(SqlScript.standardInput()))
    assertEquals(words(counts), "0 B, 0 B/s, 0 statements, 0 rows")
