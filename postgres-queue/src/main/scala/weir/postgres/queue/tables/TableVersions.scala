package weir.postgres.queue.tables

import java.sql.Connection

import weir.postgres.queue.{PgCodec, PgQueueException}
import weir.postgres.queue.PgQueueException.Kind

/** Finds the version of a queue's tables, and migrates them to the version that this code knows.
  *
  * Each call is a blocking one. Errors of the server come as they are.
  */
private[queue] final class TableVersions(tables: QueueTables, column: PgCodec.Column):
  import TableVersions.Found

  /** Creates or migrates the tables if they are not of this version. Several processes may do so at
    * once: one does it, and the others wait for its commit. Does not need the right to create
    * anything if there is nothing to do.
    */
  def migrate(connection: Connection): Unit =
    connection.setAutoCommit(true)
    if versionOf(read(connection)) < QueueTables.version then
      Jdbc.transaction(connection) {
        lock(connection)
        val version = versionOf(read(connection))
        if version < QueueTables.version then
          if !hasSchema(connection) then Jdbc.execute(connection, tables.createSchema)
          Jdbc.execute(connection, tables.since(version))
      }

  /** **Fails** if the tables are not there, or are not what this code knows.
    */
  def check(connection: Connection): Unit =
    val version = versionOf(read(connection))
    if version == 0 then
      throw PgQueueException(
        Kind.NoTable,
        s"PgQueue: there is no table ${tables.jobs} in the database. Create it once with " +
          "`queue.create`, or with the statements of `queue.ddl`."
      )
    if version < QueueTables.version then
      throw PgQueueException(
        Kind.OtherVersion,
        s"PgQueue: the tables of ${tables.jobs} have version $version, and this Weir needs " +
          s"version ${QueueTables.version}. Migrate them with `queue.create`, or with the " +
          s"statements of `queue.ddlSince($version)`."
      )

  /** Returns the version of the tables, 0 if there are none. **Fails** if they are of a later
    * version, of another program, or have another payload.
    */
  private def versionOf(found: Option[Found]): Int = found.fold(0) { found =>
    if !found.comment.startsWith(QueueTables.mark) then
      throw PgQueueException(
        Kind.OtherVersion,
        s"PgQueue: the table ${tables.jobs} is not one of a queue: its comment is " +
          s"'${found.comment}', and that of a queue begins with '${QueueTables.mark}'. Give the " +
          "queue another name or schema."
      )
    if found.version == 0 then
      throw PgQueueException(
        Kind.OtherVersion,
        s"PgQueue: the version of the tables of ${tables.jobs} is not in ${tables.versions}. " +
          "Restore that table together with the others."
      )
    if found.version > QueueTables.version then
      throw PgQueueException(
        Kind.OtherVersion,
        s"PgQueue: the tables of ${tables.jobs} have version ${found.version}, and this Weir " +
          s"knows none after ${QueueTables.version}. A newer Weir has migrated them. Use it here."
      )
    if found.payload != column.sql then
      throw PgQueueException(
        Kind.OtherColumn,
        s"PgQueue: the payload of ${tables.jobs} is ${found.payload}, and the codec's is " +
          s"${column.sql}. Use a codec of that column, or another queue."
      )
    found.version
  }

  /** Reads what there is of the tables. */
  private def read(connection: Connection): Option[Found] =
    val rows = Jdbc.query(
      connection,
      s"""SELECT obj_description(t), (SELECT format_type(atttypid, NULL) FROM pg_attribute
         |  WHERE attrelid = t AND attname = 'payload' AND NOT attisdropped),
         |  to_regclass('${tables.versions}') IS NOT NULL
         |FROM (SELECT to_regclass('${tables.jobs}') AS t) x WHERE t IS NOT NULL""".stripMargin
    )(_ => ()) { row =>
      val comment = Option(row.getString(1)).getOrElse("")
      (comment, Option(row.getString(2)).getOrElse("no"), row.getBoolean(3))
    }
    rows.headOption.map { (comment, payload, hasVersions) =>
      val version =
        if comment == QueueTables.firstComment then 1
        else if hasVersions then recorded(connection)
        else 0
      Found(comment, payload, version)
    }

  /** Returns the latest version that is recorded; 0 if there is none. */
  private def recorded(connection: Connection): Int =
    Jdbc
      .query(
        connection,
        s"SELECT coalesce(max(version), 0) FROM ${tables.versions} WHERE queue = ?"
      )(_.setString(1, tables.queue))(_.getInt(1))
      .head

  /** Waits for others that create or migrate queues in the schema, until the transaction ends. */
  private def lock(connection: Connection): Unit =
    Jdbc.query(connection, Isolation.setting + "SELECT pg_advisory_xact_lock(hashtext(?))::text")(
      _.setString(1, tables.versions)
    )(_ => ()): Unit

  private def hasSchema(connection: Connection): Boolean =
    Jdbc
      .query(connection, s"SELECT to_regnamespace('${tables.schema}') IS NOT NULL")(_ => ())(
        _.getBoolean(1)
      )
      .head

private object TableVersions:
  /** @param comment
    *   the comment of the table of jobs, which says that it is one
    * @param payload
    *   the type of the payload
    * @param version
    *   0 if it is not known
    */
  private final case class Found(comment: String, payload: String, version: Int)
