package weir.postgres.split

import java.nio.charset.StandardCharsets.UTF_8
import scala.collection.mutable.ListBuffer

import weir.WeirSuite
import weir.postgres.psql.Commands
import weir.postgres.{Piece, PsqlOptions, ScriptLimits}

/** A statement that waits for a result, or for a program, is read to its end, whatever the command
  * before it has done with another. Each case is cut at every byte.
  */
class AwaitedTextSuite extends WeirSuite:

  /** Returns the statements, where each result that is asked for is 1. */
  private def statements(script: Array[Byte], cuts: List[Int]): List[String] =
    val commands = Commands(PsqlOptions(allowsShell = true), areApplied = true)
    val splitter = Splitter("s.sql", ScriptLimits.default, commands, FollowedSettings())
    val answered = commands.variables.answered
    val found = ListBuffer.empty[String]
    def drain(): Unit =
      var piece = splitter.next()
      while piece ne null do
        piece match
          case statement: Piece.Statement => found += String(statement.text, UTF_8).trim
          case command: Piece.Command if command.name == "sync" =>
            answered.set(Map("ROW_COUNT" -> "1", "ERROR" -> "false"))
          case command: Piece.Command if command.name == "`" => answered.add(Right("1\n"))
          case _ => ()
        piece = splitter.next()
    for (from, until) <- (0 :: cuts).zip(cuts :+ script.length) do
      splitter.feed(script.slice(from, until), until - from)
      drain()
    splitter.finish()
    drain()
    found.toList

  private val before = List(
    "\\startpipeline\nSELECT 1;\n\\endpipeline\n",
    "\\startpipeline\nSELECT 1 \\endpipeline\n",
    "SELECT 1 \\g\n",
    "SELECT 1 \\gdesc\n"
  )

  for (text, expected) <- List(
      "SELECT 2 \\if :ERROR\n\\endif\n;\nSELECT 3;\n" -> List("SELECT 2", "SELECT 3"),
      "SELECT 2 \\set x `echo 1`\n;\nSELECT :x;\n" -> List("SELECT 2", "SELECT 1"),
      "SELECT 2;\nSELECT 3 + :ROW_COUNT" -> List("SELECT 2", "SELECT 3 + 1"),
      "SELECT 2 + :ROW_COUNT \\g\n" -> List("SELECT 2 + 1"),
      "SELECT 2 + :ROW_COUNT;" -> List("SELECT 2 + 1")
    )
  do
    test(s"nothing is lost: $text"):
      for first <- before do
        val script = (first + text).getBytes(UTF_8)
        // `\endpipeline` ends a statement without sending it.
        val sent = if first.endsWith("1 \\endpipeline\n") then Nil else List("SELECT 1")
        val all = (1 until script.length).toList
        for cuts <- Nil :: all :: all.map(List(_)) do
          assertEquals(statements(script, cuts), sent ::: expected, s"$first, cut at $cuts")
