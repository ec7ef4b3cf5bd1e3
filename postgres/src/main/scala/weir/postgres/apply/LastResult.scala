package weir.postgres.apply

import weir.postgres.psql.Variables
import weir.postgres.{Done, ServerError}

/** The variables that psql sets after each statement. */
private[apply] final class LastResult:
  /** Their values. Those that are not set are not in it. */
  var variables: Map[String, String] =
    Map("LAST_ERROR_SQLSTATE" -> success, "LAST_ERROR_MESSAGE" -> "")

  private var before = variables

  def succeeded(done: Done): Unit =
    before = variables
    result(isError = false, success, done.rows)

  def failed(error: ServerError): Unit =
    result(isError = true, error.sqlState, 0)
    set("LAST_ERROR_SQLSTATE", error.sqlState)
    set("LAST_ERROR_MESSAGE", Variables.bytes(error.problem))

  /** The server has skipped the statement. */
  def skipped(): Unit =
    result(isError = true, "", 0)
    set("LAST_ERROR_SQLSTATE", "")
    set("LAST_ERROR_MESSAGE", "")

  private def result(isError: Boolean, state: String, rows: Long): Unit =
    set("ERROR", isError.toString)
    set("SQLSTATE", state)
    set("ROW_COUNT", rows.toString)

  private def set(name: String, value: String): Unit = set(name, Some(value))

  /** Sets a variable, or unsets it. It has this value until the next statement. */
  def set(name: String, value: Option[String]): Unit =
    variables = variables.updatedWith(name)(_ => value)

  /** The last statement counts as not run. */
  def forget(): Unit = variables = before

  def isError: Boolean = variables.get("ERROR").contains("true")

  private def success = "00000"

private[apply] object LastResult:
  /** Returns true if only an error sets the variable anew. */
  def isOfErrors(name: String): Boolean = name.startsWith("LAST_ERROR_")
