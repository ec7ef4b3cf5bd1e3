package weir.postgres

/** What a server tells while it does its work: `RAISE WARNING`, a name that was cut short.
  *
  * @param severity
  *   WARNING, NOTICE, INFO … in the language of the server
  * @param context
  *   where on the server: a function and its line
  */
final case class ServerNotice(
    severity: String,
    sqlState: String,
    message: String,
    detail: Option[String],
    hint: Option[String],
    context: Option[String]
)
