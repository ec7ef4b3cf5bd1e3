package weir.postgres.psql

import java.nio.file.{Files, Path}

import weir.{Task, WeirSuite}
import weir.postgres.split.FollowedSettings
import weir.postgres.{Piece, PsqlOptions, SqlScript}

/** A script with commands of psql becomes the statements and the output that psql makes of it. */
class RecordedCasesSuite extends WeirSuite:

  for file <- RecordedCase.files do
    for recorded <- RecordedCase.of(file) do
      test(s"as psql: $file, ${recorded.name}"):
        check(recorded, recorded.script.length)
        check(recorded, 1)

  private def check(recorded: RecordedCase, blockBytes: Int): Unit =
    val pieces = RecordedCase.inFolder(recorded)(piecesOf(_, blockBytes))
    def printed(names: String*) = pieces.collect {
      case command: Piece.Command if names.contains(command.name) => command.arguments.mkString
    }.mkString
    assertEquals(printed("echo", "qecho"), recorded.printed)
    assertEquals(printed("warn"), recorded.warned)
    val sent = pieces.collect { case s: Piece.Statement => String(s.text, "UTF-8") }
    for (ours, theirs) <- sent.zipAll(recorded.sent, "nothing", "nothing") do
      assert(Comparison.sameText(ours, theirs), s"sent:\n$ours\npsql sent:\n$theirs")

  private def piecesOf(folder: Path, blockBytes: Int): List[Piece] =
    val script = SqlScript.fromInputStream("s.sql")(
      DribblingInput(Files.newInputStream(folder.resolve("s.sql")), blockBytes.max(1))
    )
    def commands() = Commands(PsqlOptions(folder = folder), areApplied = true)
    script
      .groups(commands, () => FollowedSettings(), None, 0, groupBytes = 0)
      .map(_.head)
      .evalMap: piece =>
        piece match
          case command: Piece.Command if command.applied ne null =>
            command.applied.nn.complete(()).as(piece)
          case _ => Task.pure(piece)
      .toList
      .runSync()
