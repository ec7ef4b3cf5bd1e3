package weir.feeds.parse

import munit.FunSuite

class CleanSuite extends FunSuite:
  test("what no text has is taken out, and all else stays"):
    assertEquals(Clean.text("a\u0000b\u0008c\u001bd\uFFFEe\uFFFFf"), "abcdef")
    assertEquals(Clean.text("a\uD83Db"), "ab")
    val honest = "tab\tline\r\nemoji 📰 ü \u00a0 \uFFFD"
    assertEquals(Clean.text(honest), honest)
