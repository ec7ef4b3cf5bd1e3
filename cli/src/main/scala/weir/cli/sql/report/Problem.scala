package weir.cli.sql.report

import weir.postgres.{Position, ScriptException, ServerError, ServerNotice}

/** An error in a script, as it is shown to the user.
  *
  * @param severity
  *   ERROR, or what the server calls it in its language
  * @param context
  *   the place on the server
  * @param copied
  *   the value of COPY data that the server quotes
  */
final case class Problem(
    script: String,
    position: Option[Position],
    severity: String,
    message: String,
    detail: Option[String] = None,
    hint: Option[String] = None,
    context: Option[String] = None,
    copied: Option[String] = None
)

object Problem:
  def of(error: ScriptException): Problem =
    error.getCause match
      case server: ServerError =>
        Problem(
          error.script,
          error.position,
          server.severity,
          error.problem.stripPrefix(s"${server.severity}: "),
          error.detail,
          error.hint,
          server.context,
          server.column.flatMap(_ => server.context.flatMap(quoted))
        )
      case _ =>
        val isTooLong = error.problem.startsWith("statement exceeds")
        val hint = if isTooLong then Some(tooLong) else error.hint
        Problem(error.script, error.position, "ERROR", error.problem, error.detail, hint)

  private val tooLong =
    "Is a quote or a parenthesis open? If it is meant to be that long, raise --max-statement; " +
      "a server takes 1.07 GB."

  def of(script: String, position: Option[Position], notice: ServerNotice): Problem =
    Problem(
      script,
      position,
      notice.severity,
      notice.message,
      notice.detail,
      notice.hint,
      notice.context
    )

  /** Returns the text between the quotes, in any language, at the end of `COPY t, line 2, column a:
    * "x"`.
    */
  private def quoted(context: String): Option[String] =
    context.linesIterator.toVector.lastOption.collect { case endsQuoted(value) => value }

  private val endsQuoted = """.*?: ?["«»„“”'](.*)["«»„“”']""".r
