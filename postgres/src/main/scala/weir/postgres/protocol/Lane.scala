package weir.postgres.protocol

import java.sql.{SQLException, Statement}
import java.util.regex.Pattern
import scala.util.Using
import weir.Task
import weir.postgres.{Done, Encodings, Piece, ScriptConnection, ServerError, Session}

/** One connection, with the operations that the journal and the jobs need. Used by one fiber at a
  * time.
  */
private[postgres] final class Lane(val connection: ScriptConnection, val session: Session):
  /** The process id of the server process. */
  val pid: Int = connection.driver.getBackendPID

  def transaction: Session.Transaction = session.transaction
  def isLost: Boolean = session.connectionLost

  /** Executes a statement of the script, and returns its result. */
  def execute(statement: Piece.Statement): Task[Done] = session.send(statement)

  /** Executes these statements, which are not the script's, in one round trip. The server executes
    * none after the first that fails. **Fails** with an error without a position.
    */
  def run(sql: String): Task[Unit] = session
    .run(sql)
    .void
    .adaptError { case error: ServerError =>
      Lane.copy(error, error.copyRow, error.context, None)
    }

  /** Returns the rows of a query that is not the script's; a null is an empty string. */
  def rows(sql: String): Task[Vector[Vector[String]]] = DriverCall.onThread {
    try Using.resource(connection.jdbc.createStatement())(statement => read(statement, sql))
    catch case error: SQLException => throw ServerError.of(error, null, connection.jdbc.isClosed)
  }

  private def read(statement: Statement, sql: String): Vector[Vector[String]] =
    statement.setEscapeProcessing(false)
    val results = statement.executeQuery(sent(sql))
    val columns = results.getMetaData.getColumnCount
    val charset = Encodings.charset(session.encoding)
    val rows = Vector.newBuilder[Vector[String]]
    while results.next() do
      rows += Vector.tabulate(columns)(i =>
        Option(results.getBytes(i + 1)).fold("")(String(_, charset))
      )
    rows.result()

  /** Returns the text for the driver. It does not know every encoding, so the bytes go out without
    * it.
    */
  private def sent(sql: String): String =
    val socket = connection.watchedSocket
    if socket eq null then sql
    else
      socket.output.sendInstead(sql.getBytes(Encodings.charset(session.encoding)))
      "SELECT"

  /** The SQLSTATE of an error; empty if it is not an error of the server. */
  def sqlState(error: Throwable): String = error match
    case error: ServerError => error.sqlState
    case _ => ""

  /** Returns `error` with its row of COPY data replaced by `row` of it. */
  def withRow(error: Throwable, row: Long => Long): Throwable = error match
    case error: ServerError if error.copyRow.nonEmpty =>
      val here = error.copyRow.get
      val there = row(here)
      // In every language of the server, the number after the table's name is the row.
      val context = error.context.map(
        Pattern.compile(s"(?<=, )(\\D*)\\b$here\\b").matcher(_).replaceFirst(s"$$1$there")
      )
      Lane.copy(error, Some(there), context, error.character)
    case _ => error

private[postgres] object Lane:
  private def copy(
      error: ServerError,
      row: Option[Long],
      context: Option[String],
      character: Option[Int],
      hint: Option[String] = None
  ): ServerError = ServerError(
    error.severity,
    error.sqlState,
    error.problem,
    error.detail,
    hint.orElse(error.hint),
    context,
    character,
    row,
    error.column,
    error.connectionLost,
    error
  )

  /** `error`, with `hint` instead of the server's hint. */
  def withHint(error: ServerError, hint: String): ServerError =
    copy(error, error.copyRow, error.context, error.character, Some(hint))

  /** Returns `text` as a string of SQL, for every setting of standard_conforming_strings. */
  def literal(text: String): String =
    val doubled = text.replace("'", "''")
    if doubled.contains('\\') then s" E'${doubled.replace("\\", "\\\\")}'" else s"'$doubled'"
