package weir.postgres.apply

import weir.postgres.psql.Variables
import weir.postgres.{Done, ServerError}

/** The variables that psql sets after each statement. */
private[apply] final class LastResult:
  private var rows = 0L
  private var state = "00000"
  private var errorState = "00000"
  private var errorMessage = ""

  def succeeded(done: Done): Unit =
    rows = done.rows
    state = "00000"

  def failed(error: ServerError): Unit =
    rows = 0
    state = error.sqlState
    errorState = state
    errorMessage = error.problem

  def variables: Map[String, String] = Map(
    "ERROR" -> (state != "00000").toString,
    "SQLSTATE" -> state,
    "ROW_COUNT" -> rows.toString,
    "LAST_ERROR_SQLSTATE" -> errorState,
    "LAST_ERROR_MESSAGE" -> Variables.bytes(errorMessage)
  )
