package weir.postgres.psql

import weir.WeirSuite
import weir.postgres.Piece
import weir.postgres.split.Splitter

/** A script with commands of psql becomes the statements and the output that psql makes of it. */
class RecordedCasesSuite extends WeirSuite:

  for file <- RecordedCase.files do
    for recorded <- RecordedCase.of(file) do
      test(s"as psql: $file, ${recorded.name}"):
        check(recorded, recorded.script.length)
        check(recorded, 1)

  private def check(recorded: RecordedCase, blockBytes: Int): Unit =
    val pieces = piecesOf(RecordedCase.bytes(recorded.script), blockBytes)
    def printed(names: String*) = pieces.collect {
      case command: Piece.Command if names.contains(command.name) => command.arguments.mkString
    }.mkString
    assertEquals(printed("echo", "qecho"), recorded.printed)
    assertEquals(printed("warn"), recorded.warned)
    val sent = pieces.collect { case s: Piece.Statement => String(s.text, "UTF-8") }
    for (ours, theirs) <- sent.zipAll(recorded.sent, "nothing", "nothing") do
      assert(Comparison.sameText(ours, theirs), s"sent:\n$ours\npsql sent:\n$theirs")

  private def piecesOf(script: Array[Byte], blockBytes: Int): Vector[Piece] =
    val splitter = Splitter("s.sql")
    val pieces = Vector.newBuilder[Piece]
    def drain(): Unit =
      Iterator.continually(splitter.next()).takeWhile(_ ne null).foreach(pieces += _.nn)
    for block <- script.grouped(blockBytes.max(1)) do
      splitter.feed(block, block.length)
      drain()
    splitter.finish()
    drain()
    pieces.result()
