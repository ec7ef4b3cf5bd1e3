package weir.postgres

/** An error in a script, or an error of the server for it.
  *
  * @param script
  *   the name of the file, or `<stdin>`
  * @param position
  *   the place of the error; none if it has none
  * @param problem
  *   the error, in one line
  * @param detail
  *   details, if the server sent any
  * @param hint
  *   what to do, if that is known
  */
final class ScriptException(
    val script: String,
    val position: Option[Position],
    val problem: String,
    val detail: Option[String] = None,
    val hint: Option[String] = None,
    cause: Throwable | Null = null
) extends RuntimeException(
      s"$script${position.fold("")(at => s":$at")}: $problem",
      cause
    ):

  @volatile private var before = Option.empty[ApplySummary]

  /** Returns the work that was done before this error, a part of which may have been rolled back.
    * None if nothing was to be applied, as in `SqlScript.pieces`, and for errors that are passed to
    * an `ApplyListener`.
    */
  def summary: Option[ApplySummary] = before

  private[postgres] def after(summary: ApplySummary): this.type =
    before = Some(summary)
    this

  /** Returns the server's error, if the server has refused something. */
  def server: Option[ServerError] = getCause match
    case error: ServerError => Some(error)
    case _ => None
