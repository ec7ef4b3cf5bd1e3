package weir.postgres.split

import java.io.IOException
import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_8}
import weir.postgres.psql.CommandProblem
import weir.postgres.{Piece, Position, ScriptException, ScriptLimits}

/** The errors about a script that cannot be split. */
private[split] final class ScriptErrors(script: String, limits: ScriptLimits):

  def fail(at: Position, problem: String, hint: Option[String] = None): Nothing =
    throw ScriptException(script, Some(at), problem, hint = hint)

  def nul(at: Position): Nothing = fail(
    at,
    "a NUL byte, which no SQL text may hold",
    Some(
      "Is this a UTF-16 file, or an archive? A script must be text in an encoding that extends " +
        "ASCII, such as UTF-8."
    )
  )

  /** The names in a problem are bytes of the script. */
  def fail(at: Position, problem: CommandProblem): Nothing =
    fail(at, String(problem.problem.getBytes(ISO_8859_1), UTF_8), Some(problem.hint))

  def extendedCopy(at: Position): Nothing = fail(
    at,
    "COPY … FROM STDIN with \\bind, or in a pipeline",
    Some("It has no parameters, and psql sends none in a pipeline. Take the command away.")
  )

  def noCopy(at: Position): Nothing = fail(
    at,
    "end-of-copy marker outside COPY data",
    Some(
      "Is the COPY … FROM STDIN before it missing, or has its data ended at an earlier line " +
        "\\. already?"
    )
  )

  /** A statement that began at `start` is too long for the memory, and for the disk. */
  def noFile(start: Position, error: IOException): Nothing = throw ScriptException(
    script,
    Some(start),
    s"statement exceeds ${limits.memoryBytes} bytes, and cannot be written to a temporary file",
    Option(error.getMessage),
    Some("Make room in the folder for temporary files, or name another by -Djava.io.tmpdir=…"),
    error
  )

  /** Fails if a statement that began at `start` is too long. */
  def checkLength(length: Int, start: Position): Unit =
    if length > limits.maxStatementBytes then
      fail(
        start,
        s"statement exceeds ${limits.maxStatementBytes} bytes",
        Some(
          if limits.maxStatementBytes == ScriptLimits.most then
            "A server takes no longer ones. Is a quote or a parenthesis open?"
          else
            "Is a quote or a parenthesis open? If it is meant to be that long, raise " +
              "maxStatementBytes in weir.postgres.ScriptLimits."
        )
      )

  /** Fails if a statement that began at `start`, and must be in memory, is not. */
  def checkMemory(piece: Piece.Statement, isJoined: Boolean): Unit =
    if !piece.isWhole && (piece.copies || isJoined) then
      val kind = if piece.copies then "COPY … FROM STDIN" else "statements joined by \\;"
      fail(
        piece.start,
        s"$kind of more than ${limits.memoryBytes} bytes",
        Some(
          if piece.copies then "Only its data may be longer." else "End each with a ; alone."
        )
      )

  /** Fails if a line that is kept in memory is too long. */
  def checkLine(length: Int, start: Position): Unit =
    if length > limits.maxStatementBytes.min(ScriptErrors.MostLineBytes) then
      fail(start, "a line with a command or a COPY of more than 16 MB", None)

private object ScriptErrors:
  private val MostLineBytes = 16 << 20
