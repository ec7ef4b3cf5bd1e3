package weir.postgres

import java.sql.{Connection, SQLException}
import org.postgresql.core.BaseConnection
import org.postgresql.util.ServerErrorMessage
import weir.{Resource, Task}
import weir.postgres.protocol.{Connecting, WatchedSocket}
import weir.postgres.split.Reading

/** A connection for scripts. Only one fiber at a time may use it.
  *
  * @param jdbc
  *   the driver's connection; between scripts it may be used for anything else
  * @param place
  *   the database and its server, for messages: `shop at db.example:5432`; holds no password
  */
final class ScriptConnection private[postgres] (
    val jdbc: Connection,
    private[postgres] val driver: BaseConnection,
    private[postgres] val socket: (java.net.Socket & WatchedSocket) | Null,
    private[postgres] val notices: ScriptConnection.Notices,
    val place: String,
    private[postgres] val url: PostgresUrl | Null = null
):
  /** Returns true if errors are noticed while COPY data is sent. They are not if the connection was
    * not opened by `open`, or is encrypted by an `sslfactory` that the address names: then the
    * server's answer is read after the last row.
    */
  def isWatched: Boolean = watchedSocket ne null

  /** Returns the server's `client_encoding`. */
  private[postgres] def encoding: String =
    Option(driver.getQueryExecutor.getParameterStatus("client_encoding")).getOrElse("UTF8")

  /** Returns psql's variables about the connection. */
  private[postgres] def described: Map[String, String] =
    val executor = driver.getQueryExecutor
    val spec = executor.getHostSpec
    val file = if url eq null then None else url.socketFile
    Map(
      "DBNAME" -> executor.getDatabase,
      "USER" -> executor.getUser,
      "HOST" -> file.fold(spec.getHost)(_.getParent.toString),
      "PORT" -> file.fold(spec.getPort.toString)(_.toString.split('.').last),
      "ENCODING" -> encoding,
      "SERVER_VERSION_NAME" -> Option(executor.getServerVersion).getOrElse(""),
      "SERVER_VERSION_NUM" -> executor.getServerVersionNum.toString
    )

  /** Returns true if a backslash in a plain string is an ordinary character. */
  private[postgres] def hasStandardStrings: Boolean =
    driver.getQueryExecutor.getParameterStatus("standard_conforming_strings") != "off"

  /** Returns the settings by which the session reads statements. */
  private[postgres] def reading: Reading = Reading.of(encoding, hasStandardStrings)

  /** Reads the body of a notice or an error. */
  private[postgres] def message(body: Array[Byte]): ServerErrorMessage =
    ServerErrorMessage(String(body, Encodings.charset(encoding)))

  private[postgres] def watchedSocket: (java.net.Socket & WatchedSocket) | Null =
    val candidate = socket
    if (candidate eq null) || candidate.input.messages.isOpaque then null else candidate

  /** Closes the socket without a Terminate message to the server. Calls that wait for the server
    * end with an error.
    */
  private[postgres] def abort(): Unit =
    val own = socket
    if own ne null then own.abort()
    else driver.getQueryExecutor.abort()

object ScriptConnection:
  /** Opens a connection to the database that `database` names, as psql would: a `postgresql://`
    * address with libpq's parameters, a `jdbc:postgresql:` address, words such as
    * `host=/run/postgresql dbname=shop`, or the name of a database. Missing parts come from libpq's
    * environment variables, `PGHOST`, `PGTZ` and so on, and from `~/.pgpass`, and then from psql's
    * defaults: a Unix domain socket, if there is one.
    *
    * **Cancelled**: stops connecting; closes the connection once it is there. **Fails** with a
    * `ServerError` whose `connectionLost` is true if the server cannot be reached or refuses the
    * login, and with an `IllegalArgumentException` if the address is not valid. No message holds a
    * password.
    */
  def open(database: String): Resource[ScriptConnection] =
    Resource.eval(Task(PostgresUrl.parse(database, sys.env))).flatMap(Connecting.resource)

  /** Uses a driver's connection that the caller has opened, and that the caller closes. It may be
    * wrapped, as the connections of a pool are.
    *
    * **Fails** with a `java.sql.SQLException` if it is none of pgjdbc's.
    */
  def of(connection: Connection): Task[ScriptConnection] = Task {
    val driver = connection.unwrap(classOf[BaseConnection])
    if !connection.getAutoCommit then
      throw SQLException(
        "ScriptConnection.of: the connection has autocommit off. Scripts begin and end their " +
          "transactions themselves. Call setAutoCommit(true) before."
      )
    val url = Secrets.mask(connection.getMetaData.getURL.takeWhile(_ != '?'))
    ScriptConnection(connection, driver, null, Notices(), url)
  }

  /** Passes each notice to the session that uses the connection now. */
  private[postgres] final class Notices:
    @volatile var receive: Array[Byte] => Unit = _ => ()
