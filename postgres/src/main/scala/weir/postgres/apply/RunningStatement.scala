package weir.postgres.apply

import weir.postgres.*
import weir.postgres.psql.{CommandProblem, Variables}

/** The statement that the server works at, and what follows from its result: it is counted, or its
  * error gets a position in the script and then ends the run or is passed over.
  *
  *   - **Owner only**: the fiber that applies the scripts, or the thread on which it calls the
  *     server. The place of the statement may be asked for on any thread.
  */
private[postgres] final class RunningStatement(
    session: Session,
    options: ApplyOptions,
    variables: Variables,
    listener: ApplyListener,
    checks: StatementChecks
):
  val last: LastResult = LastResult()
  val savepoints: Savepoints = Savepoints(session)
  val echo: Echo = Echo(listener)
  val counts: SummaryCounts = SummaryCounts(options.slowest)
  private val secrets = KnownSecrets()

  /** True if the first error ends the run. */
  var stopsOnError: Boolean = options.onError == OnError.Stop

  /** The COPY whose data is being read. */
  var copy: RunningStatement.Copy | Null = null

  /** The file that is read. */
  @volatile var script = ""

  @volatile private var current: Piece.Statement | Null = null
  @volatile private var currentScript = ""

  /** The server works at `statement` of the file `file`. */
  def begins(statement: Piece.Statement, file: String = script): Unit =
    current = statement
    currentScript = file

  /** Returns the statement; null if none has begun. */
  def statement: Piece.Statement | Null = current

  /** Returns the position at which the statement begins. */
  def position: Option[Position] = Option(current).map(_.start)

  /** Returns the name of the file of the statement. */
  def scriptName: String = if current eq null then script else currentScript

  // ---- secrets ----

  /** Hides the values that `statement` sets in what comes later. */
  def hide(statement: Piece.Statement): Unit = secrets.add(statement, checks.charset)

  /** Returns `notice`, which the statement has caused, without secrets. */
  def hiding(notice: ServerNotice): ServerNotice =
    val values = secrets.known ++
      Option(current).fold(Set.empty)(Placing.secretsOf(_, checks.charset))
    def hide(text: String) = Secrets.mask(text, values)
    notice.copy(
      message = hide(notice.message),
      detail = notice.detail.map(hide),
      hint = notice.hint.map(hide),
      context = notice.context.map(hide)
    )

  // ---- its result ----

  def succeeded(statement: Piece.Statement, done: Done, nanos: Long): Unit =
    last.succeeded(done)
    savepoints.succeeded(done)
    counts.add(currentScript, statement, done, nanos)
    listener.statementDone(currentScript, statement, done, nanos)

  /** Runs `body`, and decides what its error means. The data of a failed COPY is skipped: it is
    * never run as statements.
    */
  def checked(statement: Piece.Statement)(body: => Unit): Unit =
    try body
    catch
      case error: ServerError =>
        last.failed(error)
        val line = if copy eq null then 0L else copy.nn.firstDataLine
        val file = if error.copyRow.nonEmpty && line > 0 then script else currentScript
        val known = secrets.known
        val placed = Placing.place(file, statement, line, session.encoding, known, error)
        try failed(placed, error.connectionLost)
        finally echo.failed(currentScript, statement, known)
      case error: ScriptException => failed(error)
      case problem: CommandProblem => failed(Placing.refusal(problem, script, statement.start))

  /** A command of psql has failed, and with `\gset` the statement before it. */
  def commandFailed(command: Piece.Command, problem: CommandProblem): Unit =
    val asked = if command.name == "gset" then Option(current) else None
    try failed(Placing.refusal(problem, script, command.start))
    finally asked.foreach(echo.failed(currentScript, _, secrets.known))

  /** Passes over `error`. **Fails** with it if it ends the run. */
  def failed(error: ScriptException, connectionLost: Boolean = session.connectionLost): Unit =
    if stopsOnError || connectionLost then throw error
    if copy ne null then
      copy.nn.refused = true
      variables.answered.refusesData = true
    counts.addError()
    listener.failed(error)

private[postgres] object RunningStatement:
  /** A COPY whose data is being read. */
  final class Copy(val statement: Piece.Statement, val script: String, val begunNanos: Long):
    var firstDataLine = 0L
    var blocks = 0L
    var isSent = false
    var refused = false
