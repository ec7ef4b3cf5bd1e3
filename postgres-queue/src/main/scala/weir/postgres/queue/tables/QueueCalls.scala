package weir.postgres.queue.tables

import java.sql.{Connection, PreparedStatement, ResultSet}
import java.time.{Instant, ZoneOffset}

import weir.postgres.queue.{PgCodec, PgJob, PgOffer}

/** The statements of a queue, each a blocking call on a connection whose transactions are the
  * caller's.
  *
  * Times are the server's: no clock of a worker's machine decides about leases.
  */
private[queue] final class QueueCalls[A](
    tables: QueueTables,
    codec: PgCodec[A],
    begins: Boolean = true
):
  import QueueCalls.*

  /** The same for a transaction that has the settings already, or that belongs to the caller. */
  def withoutSettings: QueueCalls[A] = QueueCalls(tables, codec, begins = false)

  private val isolation = if begins then Isolation.setting else ""
  private val settings = if begins then Isolation.setting + Planner.settings else ""

  private val arrays = if codec.column == PgCodec.Column.Bytes then "bytea" else "text"

  /** Encodes and checks `offers`. **Fails** with `Kind.NotStorable`. */
  def storable(offers: Vector[PgOffer[A]]): Storable = Storable(tables.jobs, codec, offers)

  private val offerSql =
    s"""WITH added AS (
       |  INSERT INTO ${tables.jobs} (payload, priority, run_at, is_due, key, max_attempts)
       |  SELECT payload::${tables.payload}, priority, coalesce(run_at, now()),
       |    coalesce(run_at <= now(), true), key, max_attempts
       |  FROM unnest(?::$arrays[], ?::int[], ?::timestamptz[], ?::text[], ?::int[])
       |    WITH ORDINALITY AS o(payload, priority, run_at, key, max_attempts, place)
       |  ORDER BY place
       |  ON CONFLICT (key) WHERE key IS NOT NULL DO NOTHING
       |  RETURNING id, key
       |)
       |SELECT id, key${tables.notification} FROM added""".stripMargin

  /** Adds jobs, and returns their numbers in the order of `offers`; none for each job whose key is
    * in the queue.
    */
  def offer(connection: Connection, storable: Storable): Vector[Option[Long]] =
    val offers = storable.offers
    val rows = Jdbc.query(connection, isolation + offerSql) { statement =>
      array(statement, 1, arrays, storable.payloads)
      array(statement, 2, "int4", offers.map(offer => Int.box(offer.priority)))
      array(statement, 3, "text", offers.map(_.runAt.map(_.toString).orNull))
      array(statement, 4, "text", offers.map(_.key.orNull))
      array(statement, 5, "int4", offers.map(offer => Int.box(offer.maxAttempts)))
    }(row => (row.getLong(1), Option(row.getString(2))))
    // Without a key each is added, in order; with one, the first of its key.
    val plain = rows.collect { case (id, None) => id }.sorted.iterator
    val keyed = scala.collection.mutable.Map.from(rows.collect { case (id, Some(key)) =>
      (key, id)
    })
    offers.map(_.key match
      case None => Some(plain.next())
      case Some(key) => keyed.remove(key))

  private def takeSql(among: String): String =
    s"""UPDATE ${tables.jobs} SET leased_until = now() + ?::bigint * interval '1 millisecond',
       |  attempts = attempts + 1, token = token + 1, worker = ?
       |WHERE ctid = ANY (ARRAY(
       |  SELECT ctid FROM ${tables.jobs}
       |  WHERE is_due AND (leased_until IS NULL OR leased_until < now())$among
       |  ORDER BY priority DESC, run_at, id LIMIT ? FOR UPDATE SKIP LOCKED
       |))
       |RETURNING id, attempts, max_attempts, priority, run_at, key, error, token,
       |  payload""".stripMargin

  private val takeFirstSql = takeSql("")

  /** Takes up to `count` jobs, in their order, those whose time has come among them. A job without
    * an attempt left was lost with its last worker. It is moved to the dead jobs in this
    * transaction instead, and another is taken.
    */
  def take(connection: Connection, count: Int, lease: Long, worker: String): Vector[PgJob[A]] =
    promote(connection): Unit
    val taken = Vector.newBuilder[PgJob[A]]
    var want = count
    while want > 0 do
      val (spent, live) = takeWithSpent(connection, want, lease, worker).partition(isSpent)
      if spent.nonEmpty then bury(connection, spent)
      taken ++= live
      want = if spent.isEmpty then 0 else want - live.size
    taken.result()

  /** As `take`, those with no attempt left among them: the caller buries them. */
  def takeWithSpent(
      connection: Connection,
      count: Int,
      lease: Long,
      worker: String
  ): Vector[PgJob[A]] =
    val taken = Jdbc.query(connection, settings + takeFirstSql) { statement =>
      statement.setLong(1, lease)
      statement.setString(2, worker)
      statement.setInt(3, count)
    }(job)
    inOrder(taken)

  /** The jobs in the order in which they go. An `UPDATE` returns them in any. */
  private def inOrder(jobs: Vector[PgJob[A]]): Vector[PgJob[A]] =
    jobs.sorted(using order)

  /** As `ack`, then `take`, then a commit, in one round trip, which is what most exchanges of a
    * busy worker are. The caller has begun a transaction, and buries what is spent.
    *
    * @param from
    *   if there is one, takes only jobs of its priority that do not go before it. A take of all
    *   walks over what is leased, and over what the index still has of jobs that are done: with a
    *   million of them since the last vacuum that takes longer than all the rest
    */
  def ackAndTake(
      connection: Connection,
      done: Vector[PgJob[Any]],
      from: Option[PgJob[Any]],
      count: Int,
      lease: Long,
      worker: String
  ): (Set[(Long, Int)], Vector[PgJob[A]]) =
    val sql = if from.isEmpty then ackAndTakeFirstSql else ackAndTakeFromSql
    val statement = connection.prepareStatement(sql)
    try
      names(statement, done.sortBy(_.id))
      statement.setLong(3, lease)
      statement.setString(4, worker)
      for job <- from do
        statement.setInt(5, job.priority)
        statement.setObject(6, job.runAt.atOffset(ZoneOffset.UTC))
        statement.setLong(7, job.id)
      statement.setInt(if from.isEmpty then 5 else 8, count)
      val acked = Set.newBuilder[(Long, Int)]
      val taken = Vector.newBuilder[PgJob[A]]
      var resultSets = 0
      var hasRows = statement.execute()
      while hasRows || statement.getUpdateCount >= 0 do
        if hasRows then
          val rows = statement.getResultSet
          if resultSets == 0 then while rows.next() do acked += key(rows)
          else while rows.next() do taken += job(rows)
          resultSets += 1
        hasRows = statement.getMoreResults
      (acked.result(), inOrder(taken.result()))
    finally statement.close()

  private def job(row: ResultSet): PgJob[A] =
    PgJob(
      id = row.getLong(1),
      attempt = row.getInt(2),
      maxAttempts = row.getInt(3),
      priority = row.getInt(4),
      runAt = row.getTimestamp(5).toInstant,
      key = Option(row.getString(6)),
      lastError = Option(row.getString(7)),
      token = row.getInt(8),
      decoded = payload(codec, row, 9)
    )

  private val buriedColumns = "id, run_at, priority, attempts, max_attempts, worker, key, payload"

  private val burySql =
    s"""WITH gone AS (
       |  DELETE FROM ${tables.jobs} j USING unnest(?::bigint[], ?::int[]) AS a(id, token)
       |  WHERE j.id = a.id AND j.token = a.token RETURNING j.*
       |)
       |INSERT INTO ${tables.dead} ($buriedColumns, error)
       |SELECT id, run_at, priority, attempts - 1, max_attempts, NULL, key, payload,
       |  coalesce(error || '; then ', '') || 'the lease of its last attempt ran out'
       |FROM gone RETURNING id, attempts""".stripMargin

  def bury(connection: Connection, jobs: Vector[PgJob[Any]]): Unit =
    held(connection, settings + burySql, jobs): Unit

  /** True of the jobs `j` that the caller holds, of those in `a`. A report ends the holding,
    * although the token stays.
    */
  private val isHeld = "j.id = a.id AND j.token = a.token AND j.leased_until IS NOT NULL"

  private val named = "unnest(?::bigint[], ?::int[]) AS a(id, token)"

  private val ackSql = Locked.all { locked =>
    val jobs = if locked == Locked.Wait then named else heldJobs("FOR UPDATE", locked)
    s"DELETE FROM ${tables.jobs} j USING $jobs WHERE $isHeld RETURNING j.id, j.token"
  }

  private lazy val ackAndTakeFirstSql =
    s"$settings${ackSql(Locked.Skip)}; $takeFirstSql; COMMIT"
  private lazy val ackAndTakeFromSql =
    val takeFromSql = takeSql(" AND priority = ? AND (run_at, id) >= (?, ?)")
    s"$settings${ackSql(Locked.Skip)}; $takeFromSql; COMMIT"

  /** Acknowledges the jobs that the caller still holds, and returns their numbers and tokens. */
  def ack(
      connection: Connection,
      jobs: Vector[PgJob[Any]],
      locked: Locked = Locked.Wait
  ): Set[(Long, Int)] =
    held(connection, settings + ackSql(locked), jobs)

  private val nackSql = Locked.all { locked =>
    val unlocked =
      if locked == Locked.Wait then ""
      else s" JOIN ${tables.jobs} j ON $isHeld FOR UPDATE OF j ${locked.sql}"
    s"""WITH a AS (
       |  SELECT a.* FROM unnest(?::bigint[], ?::int[], ?::bigint[], ?::text[])
       |    AS a(id, token, delay, error)$unlocked
       |), gone AS (
       |  DELETE FROM ${tables.jobs} j USING a
       |  WHERE $isHeld AND j.attempts >= j.max_attempts
       |  RETURNING j.id, run_at, priority, attempts, max_attempts, worker, key, payload, a.error,
       |    j.token
       |), buried AS (
       |  INSERT INTO ${tables.dead} ($buriedColumns, error)
       |  SELECT $buriedColumns, error FROM gone
       |), again AS (
       |  UPDATE ${tables.jobs} j SET leased_until = NULL, worker = NULL, error = a.error,
       |    is_due = a.delay <= 0,
       |    run_at = CASE WHEN a.delay > 0
       |      THEN now() + a.delay * interval '1 millisecond' ELSE run_at END
       |  FROM a WHERE $isHeld AND j.attempts < j.max_attempts
       |  RETURNING j.id, j.token
       |)
       |SELECT id, token, true FROM gone UNION ALL SELECT id, token, false FROM again""".stripMargin
  }

  /** Of the jobs that were still the caller's, whether each is dead now. */
  def nack(
      connection: Connection,
      unordered: Vector[Failure],
      locked: Locked = Locked.Wait
  ): Map[(Long, Int), Boolean] =
    val failures = unordered.sortBy(_.job.id)
    Jdbc
      .query(connection, settings + nackSql(locked)) { statement =>
        names(statement, failures.map(_.job))
        array(statement, 3, "int8", failures.map(failure => Long.box(failure.delayMillis)))
        array(statement, 4, "text", failures.map(f => Storable.error(f.error, connection)))
      }(row => key(row) -> row.getBoolean(3))
      .toMap

  /** The jobs that the caller holds, as a table `a`.
    *
    * @param lock
    *   the lock of what follows: an update of other columns than the key waits for no transaction
    *   that refers to the row by a foreign key
    * @param locked
    *   what to do with the rows that another transaction has locked
    */
  private def heldJobs(lock: String, locked: Locked): String =
    s"""(
       |  SELECT j.id, j.token FROM $named
       |  JOIN ${tables.jobs} j ON $isHeld $lock OF j ${locked.sql}
       |) AS a""".stripMargin

  private val giveBackSql = Locked.all(locked => s"""WITH again AS (
       |  UPDATE ${tables.jobs} j SET leased_until = NULL, worker = NULL, attempts = attempts - 1
       |  FROM ${heldJobs("FOR NO KEY UPDATE", locked)} WHERE $isHeld RETURNING j.id, j.token
       |)
       |SELECT id, token${tables.notification} FROM again""".stripMargin)

  /** The jobs can be taken at once, and the attempt does not count. */
  def giveBack(
      connection: Connection,
      jobs: Vector[PgJob[Any]],
      locked: Locked
  ): Set[(Long, Int)] =
    held(connection, settings + giveBackSql(locked), jobs)

  private val extendSql = Locked.all(locked =>
    s"""UPDATE ${tables.jobs} j
       |SET leased_until = now() + ?::bigint * interval '1 millisecond'
       |FROM ${heldJobs(
        "FOR NO KEY UPDATE",
        locked
      )} WHERE $isHeld RETURNING j.id, j.token""".stripMargin
  )

  /** Extends the leases of the jobs that the caller still holds, to `lease` from now on, and
    * returns their numbers and tokens.
    */
  def extend(
      connection: Connection,
      jobs: Vector[PgJob[Any]],
      lease: Long,
      locked: Locked
  ): Set[(Long, Int)] =
    Jdbc
      .query(connection, settings + extendSql(locked)) { statement =>
        statement.setLong(1, lease)
        names(statement, jobs.sortBy(_.id), 2)
      }(key)
      .toSet

  private val promoteSql =
    s"""UPDATE ${tables.jobs} SET is_due = true WHERE ctid = ANY (ARRAY(
       |  SELECT ctid FROM ${tables.jobs} WHERE NOT is_due AND run_at <= now()
       |  ORDER BY run_at LIMIT $promotedAtOnce FOR UPDATE SKIP LOCKED
       |)) RETURNING 1""".stripMargin

  /** Makes jobs ready whose time has come. */
  def promote(connection: Connection): Int =
    Jdbc.query(connection, settings + promoteSql)(_ => ())(_ => ()).size

  private val nextSql =
    s"""SELECT ceil(extract(epoch FROM run_at - clock_timestamp()) * 1000) FROM ${tables.jobs}
       |WHERE NOT is_due ORDER BY run_at LIMIT 1""".stripMargin

  /** Returns the number of milliseconds until the next job that is not ready is due. */
  def untilNext(connection: Connection): Option[Long] =
    Jdbc.query(connection, settings + nextSql)(_ => ())(_.getLong(1)).headOption

  private val presentSql = s"SELECT id, token FROM ${tables.jobs} WHERE id = ANY (?::bigint[])"

  /** Returns the numbers and tokens of the jobs that are in the queue, whoever holds them. Waits
    * for no lock.
    */
  def present(connection: Connection, jobs: Vector[PgJob[Any]]): Map[Long, Int] =
    Jdbc
      .query(connection, settings + presentSql)(
        array(_, 1, "int8", jobs.map(job => Long.box(job.id)))
      )(key)
      .toMap

  private val stillHeldSql = s"$presentSql AND leased_until IS NOT NULL"

  /** Returns the numbers and tokens of the jobs that the caller still holds. Waits for no lock. */
  def stillHeld(connection: Connection, jobs: Vector[PgJob[Any]]): Set[(Long, Int)] =
    Jdbc
      .query(connection, settings + stillHeldSql)(
        array(_, 1, "int8", jobs.map(job => Long.box(job.id)))
      )(key)
      .toSet
      .intersect(jobs.map(_.taken).toSet)

  private def held(
      connection: Connection,
      sql: String,
      jobs: Vector[PgJob[Any]]
  ): Set[(Long, Int)] =
    Jdbc.query(connection, sql)(names(_, jobs.sortBy(_.id)))(key).toSet

private[queue] object QueueCalls:
  /** The behaviour of a statement at a row that another transaction has locked. A stream skips the
    * row, so that one job does not hold up the others.
    */
  enum Locked(val sql: String):
    case Wait extends Locked("")
    case Skip extends Locked("SKIP LOCKED")

  object Locked:
    /** Makes a statement for each. */
    def all(sql: Locked => String): Map[Locked, String] =
      Locked.values.map(locked => locked -> sql(locked)).toMap

  /** An attempt that failed. */
  final case class Failure(job: PgJob[Any], delayMillis: Long, error: String)

  /** Returns true if the job has no attempt left, and so must be moved to the dead jobs. */
  def isSpent(job: PgJob[Any]): Boolean = job.attempt > job.maxAttempts

  /** Returns true if a take may begin at the job: the time of the job can be sent to the server
    * unchanged. Times before the Gregorian calendar cannot, nor can infinity.
    */
  def isPlace(job: PgJob[Any]): Boolean =
    job.runAt.isAfter(firstPlace) && job.runAt.isBefore(lastPlace)

  private val firstPlace = Instant.parse("1600-01-01T00:00:00Z")
  private val lastPlace = Instant.parse("9999-01-01T00:00:00Z")

  /** Returns the decoder of the payload in a column. */
  private[tables] def payload[A](codec: PgCodec[A], row: ResultSet, column: Int): () => A =
    val stored: AnyRef =
      if codec.column == PgCodec.Column.Bytes then row.getBytes(column) else row.getString(column)
    () => codec.decode(stored)

  private def key(row: ResultSet): (Long, Int) = (row.getLong(1), row.getInt(2))

  /** That in which jobs go, as the index has it. */
  private val order: Ordering[PgJob[Any]] = (one, other) =>
    if one.priority != other.priority then Integer.compare(other.priority, one.priority)
    else
      val byTime = one.runAt.compareTo(other.runAt)
      if byTime != 0 then byTime else java.lang.Long.compare(one.id, other.id)

  private val promotedAtOnce = 1000

  /** The jobs with their tokens, as two parameters. They come in the order of their numbers, so
    * that two transactions with the same jobs are likely to lock them in one order.
    */
  private def names(statement: PreparedStatement, jobs: Vector[PgJob[Any]], at: Int = 1): Unit =
    array(statement, at, "int8", jobs.map(job => Long.box(job.id)))
    array(statement, at + 1, "int4", jobs.map(job => Int.box(job.token)))

  private[tables] def array(
      statement: PreparedStatement,
      at: Int,
      kind: String,
      values: Seq[Any]
  ): Unit =
    array(statement, at, kind, values.map(_.asInstanceOf[AnyRef]).toArray[AnyRef])

  private def array(
      statement: PreparedStatement,
      at: Int,
      kind: String,
      values: Array[AnyRef]
  ): Unit =
    statement.setArray(at, statement.getConnection.createArrayOf(kind, values))
