package weir.feeds.store

import java.sql.{Connection, DriverManager, SQLException}
import java.util.Properties

import weir.program.BadInput

/** Feeds in a Postgres database, in a schema of their own, so that other tables are never in the
  * way.
  *
  * A connection is one socket; a thread that is interrupted while it waits for the answer closes
  * it. So every write runs in an uncancelable task, and a reader gives its connection up when
  * cancelled.
  */
final class Postgres(url: String) extends Database:
  def name: String = url.takeWhile(_ != '?').replaceFirst("//[^/@]*@", "//")

  def version(): Option[Int] = permitted:
    val connection = connect()
    try
      val usable = Sql.query(connection, Postgres.hasSchema)()(_.getBoolean(1)).headOption
      if usable.isEmpty then None
      else if !usable.get then throw refusal(s"permission denied for schema ${Postgres.schema}")
      else
        val isWeirs =
          Sql.query(connection, Postgres.hasMeta)()(_.getBoolean(1)).head &&
            value(connection, "application").contains(Schema.application)
        if !isWeirs then
          throw BadInput(
            name,
            s"its schema ${Postgres.schema} belongs to another program.",
            "Name another database with --db; this one was not changed."
          )
        val version = value(connection, "version").flatMap(_.toIntOption).getOrElse(0)
        if version > Schema.version then
          throw BadInput(
            name,
            s"a newer weir made its tables (version $version; this one knows ${Schema.version}).",
            "Update weir, or name another database with --db."
          )
        Some(version)
    finally connection.close()

  /** Under an advisory lock, since two `CREATE ... IF NOT EXISTS` at once may both try. */
  def create(): Unit = permitted:
    val connection = connect()
    try
      transaction(connection):
        Sql.execute(connection, s"SELECT pg_advisory_xact_lock(${Postgres.lockKey})")
        Sql.execute(connection, s"CREATE SCHEMA IF NOT EXISTS ${Postgres.schema}")
        Schema.create(connection, "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY")
    finally connection.close()

  def upgrade(): Unit = permitted:
    val connection = connect()
    try
      transaction(connection):
        Sql.execute(connection, s"SELECT pg_advisory_xact_lock(${Postgres.lockKey})")
        val version = value(connection, "version").fold(1)(_.toInt)
        if version < 2 then
          Sql.execute(connection, "ALTER TABLE item DROP CONSTRAINT item_feed_id_guid_key")
          Sql.execute(connection, "ALTER TABLE item ADD COLUMN content TEXT")
          Upgrade.toVersion2(connection)
        Upgrade.afterVersion2(connection, version)
    finally connection.close()

  /** **Fails** with a [[BadInput]] if the user may not do what `body` does.
    */
  private def permitted[A](body: => A): A =
    try body
    catch
      case error: SQLException if error.getSQLState == Postgres.notPermitted =>
        val said = String.valueOf(error.getMessage).linesIterator.nextOption().getOrElse("")
        throw refusal(said.stripPrefix("ERROR: "))

  private def refusal(said: String) = BadInput(
    name,
    s"its user may not do this ($said).",
    s"Give the user CREATE on the database, or all rights on the schema ${Postgres.schema} " +
      "and its tables."
  )

  val now: String = "CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)"

  def hostOf(url: String): String = s"split_part($url, '/', 3)"

  val hasManyWriters: Boolean = true

  def lock(connection: Connection, name: String): Unit =
    val _ = Sql.query(connection, "SELECT pg_advisory_xact_lock(?, hashtext(?))")(
      Postgres.lockKey,
      name
    )(_ => ())

  def connect(): Connection = reached(connectWith(""))

  def connectForReading(): Connection =
    reached(connectWith(" -c default_transaction_read_only=on"))

  def connectAgain(): Connection = connectWith("")

  /** The server has gone, is starting or ending, has no free connection, or only reads, as after a
    * failover.
    */
  def isAway(error: SQLException): Boolean =
    val state = String.valueOf(error.getSQLState)
    state.startsWith("08") || Postgres.away(state)

  /** Plans are made anew for each statement. A plan that Postgres had made and kept while the
    * tables were empty compared each of 20,000 items of a feed with each guid.
    */
  private def connectWith(more: String): Connection =
    val properties = Properties()
    properties.setProperty("connectTimeout", "10")
    properties.setProperty("tcpKeepAlive", "true")
    properties.setProperty("ApplicationName", Schema.application)
    properties.setProperty(
      "options",
      s"-c search_path=${Postgres.schema} -c client_min_messages=warning " +
        s"-c plan_cache_mode=force_custom_plan$more"
    )
    DriverManager.getConnection(url, properties)

  private def reached(connect: => Connection): Connection =
    try connect
    catch
      case error: SQLException =>
        throw BadInput(
          name,
          s"no connection (${Option(error.getMessage).getOrElse("").stripSuffix(".")}).",
          "Check that Postgres runs there, and the user, password and database in the URL."
        )

  def transaction[A](connection: Connection)(body: => A): A =
    Database.between(connection)(Sql.execute(connection, "BEGIN"))(body)

  private def value(connection: Connection, name: String): Option[String] =
    Sql.query(connection, "SELECT value FROM meta WHERE name = ?")(name)(_.getString(1)).headOption

private object Postgres:
  val schema = "weir_feeds"

  /** The four letters `Weir`: any number will do that no other program is likely to lock. */
  val lockKey = 0x57656972

  /** A condition: true if the schema may be used, if it exists. Otherwise its tables seem not to
    * exist.
    */
  val hasSchema: String =
    s"SELECT has_schema_privilege(oid, 'USAGE') FROM pg_namespace WHERE nspname = '$schema'"

  /** True if the table exists with both columns, so that reading it cannot fail. */
  val hasMeta: String =
    s"""SELECT count(*) = 2 FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
       |JOIN pg_namespace n ON n.oid = c.relnamespace
       |WHERE n.nspname = '$schema' AND c.relname = 'meta' AND a.attname IN ('name', 'value')
       |AND NOT a.attisdropped""".stripMargin

  /** SQLSTATE admin_shutdown, crash_shutdown, cannot_connect_now, idle_session_timeout,
    * too_many_connections, read_only_sql_transaction.
    */
  val away: Set[String] = Set("57P01", "57P02", "57P03", "57P05", "53300", "25006")

  /** SQLSTATE insufficient_privilege. */
  val notPermitted = "42501"
