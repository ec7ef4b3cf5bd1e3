package weir.cli.sql.report

import scala.concurrent.duration.*

import munit.FunSuite

import weir.cli.sql.run.Tally
import weir.postgres.{Piece, Position, SqlScript}

class ProgressSuite extends FunSuite:
  private val copy = Piece.Statement("COPY t FROM STDIN".getBytes, true, Position.start, 20)

  private def words(tally: Tally): String = Progress.words(tally.snapshot(), 2.seconds)

  private def rows(tally: Tally): String = words(tally).split(", ").last

  test("rows of a COPY are shown as they are sent, and are rows once it is done"):
    val tally = Tally(Nil)
    tally.statementDone(copy, 100)
    assertEquals(words(tally), "0 B of 0 B, 0 B/s, 1 statement, 100 rows")
    tally.copying(5_000)
    assertEquals(rows(tally), "5,100 rows")
    tally.copying(9_000)
    assertEquals(tally.snapshot().rows, 100L)
    tally.statementDone(copy, 9_500)
    assertEquals(rows(tally), "9,600 rows")

  test("rows of a COPY that the server has refused are none"):
    val tally = Tally(Nil)
    tally.copying(5_000)
    tally.failed()
    assertEquals(rows(tally), "1 error")
    assert(clue(words(tally)).contains(" 0 rows"))

  test("of a script of unknown size there is no time left"):
    val tally = Tally(Seq(SqlScript.standardInput()))
    assertEquals(words(tally), "0 B, 0 B/s, 0 statements, 0 rows")
