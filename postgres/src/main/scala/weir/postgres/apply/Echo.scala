package weir.postgres.apply

import weir.postgres.{ApplyListener, Extended, Piece, Secrets}
import weir.postgres.split.QueryText

/** Prints statements as psql's `ECHO` says. The lines that `ECHO` of all prints are commands `echo`
  * of the reader.
  */
private[apply] final class Echo(listener: ApplyListener):
  /** The value of the variable. */
  var value = "none"

  /** Returns true if each statement is printed before it is sent. */
  def isOfQueries: Boolean = value == "queries"

  /** Before a statement is sent. One that was prepared has no text. */
  def before(script: String, statement: Piece.Statement): Unit =
    if isOfQueries && Extended.hasText(statement.extended) then print(script, statement)

  /** Before a statement that is a row of `\gexec`, and in no line. */
  def generated(script: String, statement: Piece.Statement): Unit =
    if value == "all" then print(script, statement)

  /** The statement has failed. */
  def failed(script: String, statement: Piece.Statement, secrets: Set[String]): Unit =
    if value == "errors" then
      val text = Secrets.mask(QueryText.of(statement), secrets)
      val place = s"$script:${statement.start}"
      listener.printed(script, s"$place: STATEMENT:  $text\n", isForErrors = true)

  private def print(script: String, statement: Piece.Statement): Unit =
    listener.printed(script, s"${QueryText.of(statement)}\n", isForErrors = false)
