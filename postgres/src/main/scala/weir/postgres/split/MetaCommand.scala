package weir.postgres.split

import java.nio.charset.StandardCharsets.UTF_8
import weir.postgres.Position

/** A backslash outside of quotes with the rest of its line: `\restrict` and `\unrestrict` are
  * nothing to a program that runs no meta-commands at all, and are skipped; all others are refused
  * by name.
  */
private[split] final class MetaCommand(errors: ScriptErrors):
  private val line = new Array[Byte](MetaCommand.LineBytes)
  private var length = 0
  private var start = Position.start

  def begin(at: Position): Unit =
    start = at
    length = 0

  /** A byte of the line after the backslash. */
  def take(byte: Byte): Unit =
    if length < line.length then line(length) = byte
    length = math.min(length + 1, line.length + 1)

  /** The line has ended. */
  def end(): Unit =
    val text = String(line, 0, math.min(length, line.length), UTF_8)
    val name = text.takeWhile(c => !c.isWhitespace && c != '\\')
    val rest = text.drop(name.length).trim
    if name == "." then
      errors.fail(
        start,
        "end-of-copy marker outside COPY data",
        Some(
          "Is the COPY … FROM STDIN before it missing, or has its data ended at an earlier line " +
            "\\. already?"
        )
      )
    if name != "restrict" && name != "unrestrict" then
      errors.fail(
        start,
        s"meta-command \\$name is not supported",
        Some("Only \\restrict and \\unrestrict are accepted, and skipped. psql runs the others.")
      )
    if length > line.length || !rest.matches("[A-Za-z0-9]+") then
      errors.fail(
        start,
        s"\\$name takes one word of letters and digits, and nothing more on its line",
        Some("Text after it would not be run.")
      )

private[split] object MetaCommand:
  private final val LineBytes = 256
