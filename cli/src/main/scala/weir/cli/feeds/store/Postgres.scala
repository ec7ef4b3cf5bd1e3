package weir.cli.feeds.store

import java.sql.{Connection, DriverManager, SQLException}
import java.util.Properties

import weir.cli.BadInput

/** Feeds in a Postgres database, in a schema of their own, so that other tables are never in the
  * way.
  *
  * A connection is one socket; a thread that is interrupted while it waits for the answer closes
  * it. So every write runs in an uncancelable task, and a reader gives its connection up when
  * cancelled.
  */
final class Postgres(url: String) extends Database:
  def name: String = url.takeWhile(_ != '?').replaceFirst("//[^/@]*@", "//")

  def version(): Option[Int] =
    val connection = connect()
    try
      if Sql.query(connection, Postgres.hasSchema)()(_ => ()).isEmpty then None
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
  def create(): Unit =
    val connection = connect()
    try
      transaction(connection):
        Sql.execute(connection, s"SELECT pg_advisory_xact_lock(${Postgres.lockKey})")
        Sql.execute(connection, s"CREATE SCHEMA IF NOT EXISTS ${Postgres.schema}")
        Schema.create(connection, "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY")
    finally connection.close()

  def upgrade(): Unit =
    val connection = connect()
    try
      transaction(connection):
        Sql.execute(connection, s"SELECT pg_advisory_xact_lock(${Postgres.lockKey})")
        if value(connection, "version").forall(_.toInt < Schema.version) then
          Sql.execute(connection, "ALTER TABLE item DROP CONSTRAINT item_feed_id_guid_key")
          Sql.execute(connection, "ALTER TABLE item ADD COLUMN content TEXT")
          Upgrade.finish(connection)
    finally connection.close()

  def connect(): Connection = connectWith("")

  def connectForReading(): Connection = connectWith(" -c default_transaction_read_only=on")

  private def connectWith(more: String): Connection =
    val properties = Properties()
    properties.setProperty("connectTimeout", "10")
    properties.setProperty("ApplicationName", Schema.application)
    properties.setProperty(
      "options",
      s"-c search_path=${Postgres.schema} -c client_min_messages=warning$more"
    )
    try DriverManager.getConnection(url, properties)
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

  val hasSchema = s"SELECT 1 FROM pg_namespace WHERE nspname = '$schema'"

  /** Whether the table exists with both columns, so that reading it cannot fail. */
  val hasMeta: String =
    s"""SELECT count(*) = 2 FROM information_schema.columns
       |WHERE table_schema = '$schema' AND table_name = 'meta' AND column_name IN ('name', 'value')
       |""".stripMargin
