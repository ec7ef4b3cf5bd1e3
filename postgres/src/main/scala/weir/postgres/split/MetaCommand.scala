package weir.postgres.split

import java.nio.charset.StandardCharsets.ISO_8859_1
import weir.postgres.{Extended, Piece, Position}
import weir.postgres.psql.{CommandLine, CommandProblem, Commands}

/** A backslash outside of quotes with the rest of its line: a command of psql, and what follows it.
  */
private[split] final class MetaCommand(
    errors: ScriptErrors,
    commands: Commands,
    settings: FollowedSettings
):
  private var line = new Array[Byte](MetaCommand.usualBytes)
  private var length = 0
  private var start = Position.start
  private var later = List.empty[Commands.Later]
  private var left = 0
  private var blocks = List.empty[Position] // of the `\if` blocks that are open

  def begin(at: Position): Unit =
    start = at
    length = 0

  /** Takes the bytes of the line from `from` to `until`. */
  def take(bytes: Array[Byte], from: Int, until: Int): Unit =
    val count = until - from
    errors.checkLine(length + count, start)
    if length + count > line.length then
      line = java.util.Arrays.copyOf(line, math.max(length + count, line.length * 2))
    System.arraycopy(bytes, from, line, length, count)
    length += count

  /** Carries out the command, now that its line has ended, and returns what to read next. */
  def run(): Commands.Next =
    val text = String(line, 0, length, ISO_8859_1)
    val reading = settings.now
    val read = CommandLine(text, reading.maskedText, reading.standardStrings, reading.text)
    val isPassedOver = commands.areApplied && commands.goesOn
    if Commands.nameOf(read) == "." && !isPassedOver then errors.noCopy(start)
    try
      val done = commands.run(read)
      later = done.later
      left = length - done.end
      if commands.depth > blocks.length then blocks = start :: blocks
      else if commands.depth < blocks.length then blocks = blocks.tail
      done.next
    catch case problem: CommandProblem => errors.fail(start, problem)

  /** A statement needs this to be carried out before it is read on, at `place`. */
  def want(first: Commands.Later, place: Position): Unit =
    start = place
    later = List(first)
    left = 0

  /** Returns the number of bytes of the line that follow the command. */
  def bytesLeft: Int = left

  /** Returns the statement of the command that has run last, without a text of the script. */
  def textless(form: Extended, endOffset: Long, answer: Piece.Answer): Piece.Statement =
    val shown = form match
      case Extended.Named(name, _) => s"\\bind_named $name"
      case Extended.Closed(name) => s"\\close_prepared $name"
      case _ => ""
    MetaCommand.statement(shown, start, endOffset, settings.now, answer = answer, form = form)

  /** At the end of the script: fails if an `\if` block is open. */
  def finish(): Unit = blocks.headOption.foreach(
    errors.fail(_, "\\if without \\endif", Some("Is the script cut off?"))
  )

  /** The reader is to wait until `statement` has been applied, and the session has been looked at.
    */
  def lookAfter(statement: Piece.Statement): Unit =
    if later.isEmpty then start = statement.start
    later = later :+ Commands.Later("look", Nil)

  /** Returns the next command to run after the statements before it; null if there is none. */
  def next(endOffset: Long): Piece | Null = later match
    case Nil => null
    case Commands.Later("copy", sql :: "script" :: _) :: rest =>
      later = rest
      MetaCommand.copy(sql, start, endOffset, settings.now)
    case Commands.Later("send", List(sql)) :: rest =>
      later = if commands.areApplied then Commands.Later("look", Nil) :: rest else rest
      val statement = MetaCommand.statement(sql, start, endOffset, settings.now)
      settings.executed(statement.text): Unit
      statement
    case first :: rest =>
      later = rest
      Piece.Command(first.name, first.arguments, start, endOffset, null, settings.now)

  /** Returns what follows the command on its line and a newline, at its position. */
  def rest: Run =
    val count = left
    val place = Place.at(start)
    place.column += 1
    place.offset += 1
    place.move(line, 0, length - count)
    val bytes = java.util.Arrays.copyOfRange(line, length - count, length + 1)
    bytes(count) = '\n'
    val run = Run(place.position)
    run.follow(bytes, 0, bytes.length)
    run

private[postgres] object MetaCommand:
  private final val usualBytes = 256

  /** Returns the statement that `\copy` at `start` sends, whose data comes next. */
  def copy(sql: String, start: Position, endOffset: Long, reading: Reading): Piece.Statement =
    statement(sql, start, endOffset, reading, copies = true)

  /** Returns the statement that a command at `start` sends. */
  private def statement(
      sql: String,
      start: Position,
      endOffset: Long,
      reading: Reading,
      copies: Boolean = false,
      answer: Piece.Answer = Piece.Answer.Dropped,
      form: Extended | Null = null
  ): Piece.Statement =
    val jump = Piece.Jump(0, start, stays = true)
    val text = sql.getBytes(ISO_8859_1)
    Piece.Statement(
      text,
      copies,
      start,
      endOffset,
      List(jump),
      answer,
      reading = reading,
      extended = form
    )
