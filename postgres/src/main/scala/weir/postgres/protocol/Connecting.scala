package weir.postgres.protocol

import java.sql.SQLException
import java.util.Properties
import java.util.concurrent.atomic.AtomicReference
import org.postgresql.{Driver, PGProperty}
import org.postgresql.core.BaseConnection
import weir.{Resource, Task}
import weir.postgres.{PostgresUrl, ScriptConnection, ServerError}

/** Opens connections, with the driver's properties that scripts need. */
private[postgres] object Connecting:

  def resource(url: PostgresUrl): Resource[ScriptConnection] =
    Resource.makeFull(poll => poll(connect(url)))((connection, _) => closed(connection))

  /** A cancel closes the socket, which ends the attempt; a connection that was opened nevertheless
    * is closed.
    */
  private def connect(url: PostgresUrl): Task[ScriptConnection] = Task.defer {
    val notices = ScriptConnection.Notices()
    val opening = WatchedSocketFactory.Opening(
      url.socketFile,
      body => notices.receive(body),
      StartupPacket(url.settings),
      timeoutMillis(url),
      url.addresses
    )
    val made = AtomicReference[ScriptConnection | Null]()
    DriverCall
      .onThread {
        opening.register()
        try
          val jdbc = org.postgresql.Driver().connect(url.jdbc, propertiesOf(url, opening.key))
          val driver = jdbc.unwrap(classOf[BaseConnection])
          val connection = ScriptConnection(jdbc, driver, opening.finish(), notices, url.place, url)
          made.set(connection)
          connection
        catch
          case error: SQLException =>
            throw ServerError.notConnected(url.place, error, silent(url, opening))
        finally opening.finish(): Unit
      }
      .cancelable(Task(opening.abort()))
      .onCancel(Task.defer {
        val connection = made.get
        if connection ne null then closed(connection) else Task.unit
      })
  }

  private def silent(url: PostgresUrl, opening: WatchedSocketFactory.Opening): Option[String] =
    Option.when(opening.hasTimedOut)(
      "The server has taken the connection, and has not answered within " +
        s"${timeoutMillis(url) / 1000} s."
    )

  /** Returns the driver's `connectTimeout`, which it applies to connecting alone; a value that is
    * not a number is refused by the driver.
    */
  private def timeoutMillis(url: PostgresUrl): Long =
    val properties = Driver.parseURL(url.jdbc, propertiesOf(url, ""))
    val text = Option(properties).map(PGProperty.CONNECT_TIMEOUT.getOrDefault(_))
    text.flatMap(_.toLongOption).fold(0L)(_.max(0) * 1000)

  private def closed(connection: ScriptConnection): Task[Unit] = DriverCall.onThread {
    try connection.jdbc.close()
    catch case _: SQLException => () // it was lost before, which has been reported
    finally connection.abort()
  }

  private def propertiesOf(url: PostgresUrl, key: String): Properties =
    val properties = Properties()
    def set(name: String, value: String): Unit = properties.setProperty(name, value): Unit
    set("preferQueryMode", "simple")
    set("allowEncodingChanges", "true")
    set("maxSendBufferSize", UnixStreams.BufferBytes.toString)
    set("ApplicationName", "weir sql")
    set("tcpKeepAlive", "true")
    set("connectTimeout", "10")
    set("gssEncMode", "disable")
    set("socketFactory", classOf[WatchedSocketFactory].getName)
    set("socketFactoryArg", key)
    set("sslfactory", classOf[WatchedTlsFactory].getName)
    url.user.foreach(set("user", _))
    url.password.foreach(set("password", _))
    url.properties.foreach(set)
    // As in libpq, the options about encryption do not apply to Unix domain sockets.
    if url.socketFile.nonEmpty then
      set("sslmode", "disable")
      set("sslNegotiation", "postgres")
      set("gssEncMode", "disable")
    properties
