package weir.postgres.split

import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_8}
import weir.postgres.psql.CommandProblem
import weir.postgres.{Position, ScriptException, ScriptLimits}

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

  def noCopy(at: Position): Nothing = fail(
    at,
    "end-of-copy marker outside COPY data",
    Some(
      "Is the COPY … FROM STDIN before it missing, or has its data ended at an earlier line " +
        "\\. already?"
    )
  )

  /** Fails if a statement that began at `start` is too long. */
  def checkLength(length: Int, start: Position): Unit =
    if length > limits.maxStatementBytes then
      fail(
        start,
        s"statement exceeds ${limits.maxStatementBytes} bytes",
        Some(
          "Is a quote or a parenthesis open? If it is meant to be that long, raise " +
            "maxStatementBytes in weir.postgres.ScriptLimits."
        )
      )
