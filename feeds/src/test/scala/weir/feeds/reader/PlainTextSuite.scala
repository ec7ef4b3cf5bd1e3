package weir.feeds.reader

import munit.FunSuite

class PlainTextSuite extends FunSuite:
  test("no control character is left, and a break of a line is a space"):
    assertEquals(PlainText.line("a\u001b[31mred\u001b]0;t\u0007 b"), "a [31mred ]0;t b")
    assertEquals(PlainText.line("\u009b2Jx\u0085y\u007fz"), "2Jx y z")
    assertEquals(PlainText.line(" one\r\n\ttwo\u2028three\u2029"), "one two three")
    val every = (0 to 0x10ffff).map(code => Character.toString(code)).mkString("x")
    val left = PlainText.line(every).codePoints.toArray.toSet
    val kinds = Set[Int](Character.CONTROL, Character.LINE_SEPARATOR, Character.SURROGATE)
    assertEquals(left.filter(code => kinds(Character.getType(code))), Set.empty)

  test("no character is left that changes the direction or cannot be seen"):
    val hidden = (0x202a to 0x202e) ++ (0x2066 to 0x2069) ++
      Seq(0x200b, 0x200e, 0x200f, 0x061c, 0xfeff, 0x00ad, 0x2060, 0xe0041)
    for code <- hidden do
      assertEquals(PlainText.line(s"a${Character.toString(code)}b"), "ab", code.toHexString)

  test("emoji and scripts with joiners stay as they are"):
    val texts = Seq("👩‍💻 e\u0301 🇩🇪", "می\u200cخواهم", "漢字 ☺\ufe0f", "क\u094d\u200dष")
    for text <- texts do assertEquals(PlainText.line(text), text)

  test("a text is cut by the columns that it takes"):
    assertEquals(PlainText.cut("abcdef", 6), "abcdef")
    assertEquals(PlainText.cut("abcdef", 5), "abcd…")
    assertEquals(PlainText.cut("漢字漢字", 6), "漢字…")
    assertEquals(PlainText.cut("👩👩👩", 5), "👩👩…")
    for columns <- 1 to 9 do
      assert(PlainText.width(PlainText.cut("漢字 e\u0301 漢字", columns)) <= columns, columns)
