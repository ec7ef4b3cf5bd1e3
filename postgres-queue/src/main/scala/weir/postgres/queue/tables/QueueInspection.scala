package weir.postgres.queue.tables

import java.sql.Connection

import weir.postgres.queue.{PgCodec, PgQueue}

/** The statements that count the jobs of a queue, and that list, revive and delete the dead ones,
  * each a blocking call in a transaction of its own.
  */
private[queue] final class QueueInspection[A](tables: QueueTables, codec: PgCodec[A]):
  import QueueCalls.{array, payload}

  private val deadSql =
    s"""SELECT id, attempts, died_at, key, error, payload FROM ${tables.dead}
       |ORDER BY died_at DESC, id DESC LIMIT ?""".stripMargin

  /** Returns the dead jobs, the latest first. */
  def dead(connection: Connection, limit: Int): Vector[PgQueue.Dead[A]] =
    Jdbc.query(connection, Isolation.setting + deadSql)(_.setInt(1, limit))(row =>
      PgQueue.Dead(
        id = row.getLong(1),
        attempts = row.getInt(2),
        diedAt = row.getTimestamp(3).toInstant,
        key = Option(row.getString(4)),
        error = Option(row.getString(5)).getOrElse(""),
        decoded = payload(codec, row, 6)
      )
    )

  private val reviveSql =
    s"""WITH a AS (SELECT ?::bigint[] AS ids), risen AS (
       |  DELETE FROM ${tables.dead} d USING a WHERE d.id = ANY (a.ids)
       |    AND NOT EXISTS (SELECT 1 FROM ${tables.jobs} j WHERE j.key = d.key)
       |    AND NOT EXISTS (SELECT 1 FROM ${tables.dead} e
       |      WHERE e.key = d.key AND e.id < d.id AND e.id = ANY (a.ids))
       |  RETURNING run_at, priority, max_attempts, key, error, payload
       |), added AS (
       |  INSERT INTO ${tables.jobs} (run_at, priority, max_attempts, key, error, payload)
       |  SELECT * FROM risen RETURNING id
       |)
       |SELECT id${tables.notification} FROM added""".stripMargin

  /** Puts dead jobs back into the queue, and returns how many. A new number keeps late reports
    * about the old job away.
    */
  def revive(connection: Connection, ids: Vector[Long]): Int =
    Jdbc
      .query(connection, Isolation.setting + reviveSql)(array(_, 1, "int8", ids.map(Long.box)))(_ =>
        ()
      )
      .size

  /** True of what a take would find: it makes ready first what has become due. Each of the two
    * indexes has one side of the first `OR`.
    */
  private val isReady = "(is_due OR (NOT is_due AND run_at <= now())) " +
    "AND (leased_until IS NULL OR leased_until < now())"

  private val countsSql =
    s"""SELECT
       |  count(*) FILTER (WHERE $isReady),
       |  count(*) FILTER (WHERE leased_until >= now()),
       |  count(*) FILTER (WHERE NOT is_due AND run_at > now()),
       |  (SELECT count(*) FROM ${tables.dead})
       |FROM ${tables.jobs}""".stripMargin

  /** Returns the number of jobs of each kind. */
  def counts(connection: Connection): PgQueue.Counts =
    Jdbc
      .query(connection, Isolation.setting + countsSql)(_ => ())(row =>
        PgQueue.Counts(row.getLong(1), row.getLong(2), row.getLong(3), row.getLong(4))
      )
      .head

  private val oldestSql =
    s"""SELECT extract(epoch FROM clock_timestamp() - run_at) FROM ${tables.jobs}
       |WHERE $isReady ORDER BY run_at LIMIT 1""".stripMargin

  /** Returns the number of seconds for which the oldest job that could be taken has been due. */
  def oldest(connection: Connection): Option[Double] =
    Jdbc.query(connection, Isolation.setting + oldestSql)(_ => ())(_.getDouble(1)).headOption

  private val deleteDeadSql = s"DELETE FROM ${tables.dead} WHERE id = ANY (?::bigint[]) RETURNING 1"

  /** Deletes dead jobs, and returns how many. */
  def deleteDead(connection: Connection, ids: Vector[Long]): Int =
    Jdbc
      .query(connection, Isolation.setting + deleteDeadSql)(array(_, 1, "int8", ids.map(Long.box)))(
        _ => ()
      )
      .size
