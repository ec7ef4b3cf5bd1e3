package weir.postgres

/** A notice that a server sends while it executes a statement: `RAISE WARNING`, a name that was
  * truncated.
  *
  * @param severity
  *   WARNING, NOTICE, INFO … in the language of the server
  * @param context
  *   the place on the server: a function and its line
  */
final case class ServerNotice(
    severity: String,
    sqlState: String,
    message: String,
    detail: Option[String],
    hint: Option[String],
    context: Option[String]
)
