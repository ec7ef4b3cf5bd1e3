package weir.postgres

import java.io.ByteArrayInputStream
import java.nio.charset.StandardCharsets.UTF_8

import munit.FunSuite

class SourceLineSuite extends FunSuite:
  private def at(text: String, offset: Long): SourceLine =
    SourceLine.at(ByteArrayInputStream(text.getBytes(UTF_8)), Position(offset, 1, 1))

  private def line(text: String, number: Long): SourceLine =
    SourceLine.at(ByteArrayInputStream(text.getBytes(UTF_8)), Position(-1, number, 1))

  test("it is cut at the place, and ends at LF or CRLF"):
    for newline <- List("\n", "\r\n") do
      val text = s"one${newline}two three${newline}four"
      assertEquals(at(text, 3 + newline.length + 4), SourceLine("two ", "three"), newline)
      assertEquals(at(text, 0), SourceLine("", "one"))
      assertEquals(at(text, text.length), SourceLine("four", ""))
      assertEquals(at(text, 3), SourceLine("one", ""))

  test("a byte-order mark is not shown"):
    assertEquals(at("\uFEFFSELECT", 3), SourceLine("", "SELECT"))

  test("of a line of megabytes there is what is near the place"):
    val line = at("é" * 1_000_000 + "!" + "z" * 1_000_000, 2_000_000)
    assertEquals(line, SourceLine("é" * 4096, "!" + "z" * 8191))
    assertEquals(at("é" * 1_000_000 + "a!" + "z" * 9000, 2_000_001).before, "é" * 4095 + "a")

  test("a place behind the end shows the end"):
    assertEquals(at("SELECT 1", 100), SourceLine("SELECT 1", ""))

  test("where only the number of the line is known, it is counted to"):
    val text = (1 to 100_000).map(i => s"row $i").mkString("\r\n")
    assertEquals(line(text, 1), SourceLine("", "row 1"))
    assertEquals(line(text, 77_777), SourceLine("", "row 77777"))
    assertEquals(line(text, 100_000), SourceLine("", "row 100000"))
    assertEquals(line(text, 200_000), SourceLine("", ""))
    assertEquals(line("a\n" + "z" * 1_000_000, 2).after.length, 8192)
