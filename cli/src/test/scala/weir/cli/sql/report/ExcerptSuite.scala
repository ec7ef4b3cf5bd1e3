package weir.cli.sql.report

import munit.FunSuite

import weir.program.CharWidth

class ExcerptSuite extends FunSuite:
  private def shown(before: String, after: String, columns: Int = 40): String =
    val excerpt = Excerpt.of(before, after, columns)
    s"${excerpt.line}\n${excerpt.caretLine}"

  test("the caret is under the first character after the place"):
    assertEquals(shown("SELECT ", "'abc"), "SELECT 'abc\n       ^")

  test("an empty line has a caret, too"):
    assertEquals(shown("", ""), "\n^")

  test("a tab takes its columns, before the caret and after it"):
    assertEquals(shown("\ta\t", "b\tc"), "        a       b       c\n                ^")

  test("a wide character takes two columns, and an accent none"):
    assertEquals(shown("'日本e\u0301'", "x"), "'日本e\u0301'x\n       ^")
    assertEquals(shown("'😀'", "x"), "'😀'x\n    ^")

  test("a control character takes one column, and does nothing to the terminal"):
    assertEquals(shown("a\u001b[31m", "x"), "a·[31mx\n      ^")

  test("a long line is cut on both sides of the caret"):
    val text = shown("a" * 5000, "b" * 5000)
    assertEquals(text, s"…${"a" * 25}${"b" * 12}…\n${" " * 26}^")

  test(
    "a long line whose end is near keeps its end, and one whose beginning is near its beginning"
  ):
    assertEquals(shown("a" * 5000, "bc"), s"…${"a" * 36}bc\n${" " * 37}^")
    assertEquals(shown("a", "b" * 5000), s"a${"b" * 37}…\n ^")

  test("what is cut never leaves half a wide character, and is never too wide"):
    for columns <- 20 to 43 do
      val excerpt = Excerpt.of("日" * 50, "本" * 50, columns)
      val width = excerpt.line.codePoints.map(CharWidth.of).sum
      assert(width < columns && width > columns - 4, s"$width of $columns")
      assertEquals(excerpt.line.takeWhile(_ != '本').codePoints.map(CharWidth.of).sum, excerpt.caret)
