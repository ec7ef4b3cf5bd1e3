package weir.postgres.split

import java.io.ByteArrayInputStream
import weir.WeirSuite
import weir.postgres.*
import weir.postgres.psql.DribblingInput

/** The lines of a script that psql's `ECHO` of all prints. */
class EchoedLinesSuite extends WeirSuite:
  private def printed(script: Array[Byte], blockBytes: Int): String =
    SqlScript
      .fromInputStream("s")(DribblingInput(ByteArrayInputStream(script), blockBytes))
      .piecesWith(PsqlOptions(Map("ECHO" -> "all")))
      .toList
      .runSync()
      .collect { case command: Piece.Command if command.name == "echo" => command.arguments.head }
      .mkString

  test("all lines from the first on are printed, however the script is cut"):
    for
      text <- List("a", "a;\n", "\n;\nb;\n", "\uFEFFa;\nä;", "\n\n\na\n\n;\n", "")
      blockBytes <- List(1, 2, 3, 7, 100)
    do
      val lines = text.stripPrefix("\uFEFF").linesIterator.filter(_.nonEmpty).map(_ + "\n")
      assertEquals(printed(text.getBytes("UTF-8"), blockBytes), lines.mkString, s"$blockBytes")

  test("a line of megabytes is printed in parts, between two words"):
    val values = (1 to 300_000).map(i => s"($i, 'ä')").mkString(", ")
    val text = s"INSERT INTO t VALUES $values;\nSELECT 1;\n"
    val bytes = text.getBytes("UTF-8")
    assert(bytes.length > 4_000_000, bytes.length)
    assertEquals(printed(bytes, 100_000), text)
