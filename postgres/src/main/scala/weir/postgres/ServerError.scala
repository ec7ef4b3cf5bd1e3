package weir.postgres

import java.sql.SQLException
import org.postgresql.util.{PSQLException, ServerErrorMessage}

/** An error of a server, or a lost connection.
  *
  * @param severity
  *   ERROR, FATAL … in the language of the server
  * @param sqlState
  *   the SQLSTATE: five characters, for programs
  * @param context
  *   the place on the server: the function and its line, the line of the COPY data
  * @param character
  *   the character of the statement that it is about, from 1
  * @param copyRow
  *   the line of the COPY data that it is about, from 1
  * @param column
  *   the name of the column that it is about
  * @param connectionLost
  *   true if the connection cannot be used any more
  */
final class ServerError(
    val severity: String,
    val sqlState: String,
    val problem: String,
    val detail: Option[String],
    val hint: Option[String],
    val context: Option[String],
    val character: Option[Int],
    val copyRow: Option[Long],
    val column: Option[String],
    val connectionLost: Boolean,
    cause: Throwable | Null
) extends RuntimeException(s"$severity: $problem", cause):

  /** Returns this error without secrets, among them all of `values`. */
  private[postgres] def hiding(values: Set[String]): ServerError =
    def hide(text: String) = Secrets.mask(text, values)
    val texts = problem :: List(detail, hint, context).flatten
    // The cause has the same message.
    val said = texts ++ Iterator.iterate(cause)(_.getCause).takeWhile(_ ne null).map(_.toString)
    if said.forall(text => hide(text) == text) then this
    else
      ServerError(
        severity,
        sqlState,
        hide(problem),
        detail.map(hide),
        hint.map(hide),
        context.map(hide),
        character,
        copyRow,
        column,
        connectionLost,
        SQLException(hide(problem), sqlState)
      )

  /** Returns this error with the server's address in its detail. */
  private def by(place: String): ServerError = ServerError(
    severity,
    sqlState,
    problem,
    Some(detail.fold("")(_ + "\n") + s"The server of $place has sent this message."),
    hint,
    context,
    character,
    copyRow,
    column,
    connectionLost,
    getCause
  )

object ServerError:
  /** Returns the error that the driver has thrown, with the server's last message if that is known:
    * the driver cannot decode it in every encoding, and does not have it if the connection broke.
    */
  private[postgres] def of(
      error: SQLException,
      lastMessage: ServerErrorMessage | Null,
      connectionLost: Boolean
  ): ServerError =
    val ofDriver = error match
      case psql: PSQLException => psql.getServerErrorMessage
      case _ => null
    val isSaid = (ofDriver ne null) || connectionLost
    val said = if isSaid && (lastMessage ne null) then lastMessage else ofDriver
    val made =
      if said ne null then of(said, connectionLost, error) else unsaid(error, connectionLost)
    made.hiding(Set.empty)

  private def unsaid(error: SQLException, connectionLost: Boolean): ServerError =
    val state = Option(error.getSQLState).filter(_.nonEmpty).getOrElse("08006")
    ServerError(
      severity = if connectionLost then "FATAL" else "ERROR",
      sqlState = state,
      problem =
        if connectionLost then "the connection to the server was lost" else error.getMessage,
      detail = Option.when(connectionLost)(reasonOf(error)),
      hint = None,
      context = None,
      character = None,
      copyRow = None,
      column = None,
      connectionLost,
      error
    )

  /** Returns the error for a server that cannot be reached or refuses the connection. `place` names
    * the database and its server.
    *
    * @param reason
    *   the reason, in place of the driver's message
    */
  private[postgres] def notConnected(
      place: String,
      error: SQLException,
      reason: Option[String]
  ): ServerError =
    val made = error match
      case psql: PSQLException if psql.getServerErrorMessage ne null =>
        of(psql.getServerErrorMessage, connectionLost = true, error).by(place)
      case _ =>
        ServerError(
          severity = "FATAL",
          sqlState = Option(error.getSQLState).getOrElse("08001"),
          problem = s"cannot connect to $place",
          detail = reason.orElse(Some(reasonOf(error))),
          hint = None,
          context = None,
          character = None,
          copyRow = None,
          column = None,
          connectionLost = true,
          error
        )
    made.hiding(Set.empty)

  private def reasonOf(error: SQLException): String = error.getCause match
    case null => error.getMessage
    case _: java.io.EOFException => "The server has closed it without a word. Its log may say why."
    // A class that the driver instantiates by name, such as the TLS factory, could not be
    // instantiated.
    case made: java.lang.reflect.InvocationTargetException if made.getCause ne null =>
      Option(made.getCause.getMessage).getOrElse(error.getMessage)
    case cause => Option(cause.getMessage).getOrElse(error.getMessage)

  private def of(
      said: ServerErrorMessage,
      connectionLost: Boolean,
      cause: Throwable
  ): ServerError =
    val place = CopyContext.of(said.getWhere)
    ServerError(
      severity = Option(said.getSeverity).getOrElse("ERROR"),
      sqlState = Option(said.getSQLState).getOrElse("XX000"),
      problem = Option(said.getMessage).getOrElse(""),
      detail = Option(said.getDetail),
      hint = Option(said.getHint),
      context = Option(said.getWhere),
      character = Option.when(said.getPosition > 0)(said.getPosition),
      copyRow = place.map(_.row),
      column = place.flatMap(_.column).orElse(Option(said.getColumn)),
      connectionLost,
      cause
    )
