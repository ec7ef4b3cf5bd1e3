package weir.cli.sql.report

import weir.postgres.{Position, ScriptException}

/** What is wrong with a script, as it is told to the user.
  *
  * @param severity
  *   ERROR, or what the server calls it in its language
  * @param context
  *   where on the server
  */
final case class Problem(
    script: String,
    position: Option[Position],
    severity: String,
    message: String,
    detail: Option[String] = None,
    hint: Option[String] = None,
    context: Option[String] = None
)

object Problem:
  def of(error: ScriptException): Problem =
    Problem(error.script, error.position, "ERROR", error.problem, error.detail, error.hint)
