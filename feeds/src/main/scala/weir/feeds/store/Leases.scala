package weir.feeds.store

import java.sql.{Connection, SQLException}
import java.util.concurrent.{ConcurrentHashMap, ThreadLocalRandom}
import scala.concurrent.duration.*

/** Records in the database which feeds this process fetches, for the other processes.
  *
  *   - **A worker** is one run of one process. Its row says until when it can be believed to live,
  *     by the database's clock; it renews that, so its feeds need no renewal of their own.
  *   - **A lease** gives a feed to a worker. It holds for as long as the worker lives and has not
  *     given it up. Storing a check removes the lease in the same transaction, and is refused where
  *     there is none: so no check is stored twice, also not that of a process that was asleep.
  *   - **A permit of a host** is a lease with the host's name in it. Takes for a host come one
  *     after the other, so counting them is safe.
  *   - **A host that is held** has no permit: the statement that gives one looks at [[HostHolds]],
  *     and a hold is written before the permit that led to it is given up.
  *   - **A killed process** is missed when its time is over; on its own machine at once, since its
  *     number is no longer that of a process.
  *
  * @param lifeMillis
  *   the time for which a worker counts as alive after its last sign of life
  */
final class Leases private[store] (
    store: FeedStore,
    database: Database,
    lifeMillis: Long,
    process: WorkerProcess
) extends AutoCloseable:
  import Leases.*

  /** The number of this run. */
  val worker: Long = ThreadLocalRandom.current().nextLong(1, Long.MaxValue)
  private val now = database.now
  // With many writers, takes need not wait for checks that are being stored, and the sign of life
  // waits for nothing.
  private val line = if database.hasManyWriters then store.another() else store
  private val pulse = if database.hasManyWriters then store.another() else store
  private val holds = HostHolds(database)
  // By `System.nanoTime`, and never later than the database says. So most feeds of a host that is
  // held cost no query.
  private val heldUntilNanos = ConcurrentHashMap[String, Long]()
  private val living = Leases.living(database)
  @volatile private var sweptNanos = System.nanoTime()

  /** Says that this process lives. */
  def renew(): Unit = pulse.writing: connection =>
    val _ = Sql.update(
      connection,
      s"""INSERT INTO worker (id, name, machine, pid, since_ms, until_ms)
         |VALUES (?, ?, ?, ?, $now, $now + ?)
         |ON CONFLICT (id) DO UPDATE SET until_ms = excluded.until_ms""".stripMargin
    )(worker, process.name, process.machine, process.pid, lifeMillis)

  /** Returns the number of other processes that are believed to be alive. */
  def others(): Int = line.reading: connection =>
    Sql.query(connection, s"SELECT count(*) FROM ($living AND id <> ?) o")(worker)(_.getInt(1)).head

  /** Asks for the lease of the feed, and for a permit of its host.
    *
    * @param perHost
    *   the number of permits that the host has, over all processes; none if that is not limited
    *   here
    */
  def take(feed: DueFeed, due: DueQuery, perHost: Option[Int]): Answer =
    perHost
      .flatMap(_ => knownHold(feed.url.host))
      .fold(asked(feed, due, perHost))(Answer.HostHeld(_))

  private def asked(feed: DueFeed, due: DueQuery, perHost: Option[Int]): Answer =
    val isOurs = perHost match
      case None => line.reading(insert(_, feed, due, None))
      case Some(_) =>
        line.writing: connection =>
          database.lock(connection, s"host ${feed.url.host}")
          insert(connection, feed, due, perHost)
    val result =
      if isOurs then Answer.Ours
      else
        line
          .reading(whyNot(_, feed, due))
          .orElse(perHost.flatMap(_ => hold(feed.url.host)).map(Answer.HostHeld(_)))
          .getOrElse(Answer.HostBusy)
    if result == Answer.Leased then sweepSometimes()
    result

  /** Returns the time for which `host` is still held, as far as this process knows without a query.
    */
  def knownHold(host: String): Option[FiniteDuration] =
    Option(heldUntilNanos.get(host)).flatMap: until =>
      val left = (until - System.nanoTime()).nanos
      if left > Duration.Zero then Some(left)
      else
        heldUntilNanos.remove(host, until): Unit
        None

  /** Returns the time for which `host` is still held. */
  def hold(host: String): Option[FiniteDuration] =
    knownHold(host).orElse:
      val left = line.reading(holds.left(_, host))
      left.foreach(note(host, _))
      left

  /** Keeps all processes from `host`, for as long as it has asked for, or for a growing time.
    * Returns for how long.
    */
  def holdHost(host: String, asked: Option[FiniteDuration]): FiniteDuration =
    val left = line.writing(holds.hold(_, host, asked))
    note(host, left)
    left

  private def note(host: String, left: FiniteDuration): Unit =
    heldUntilNanos.put(host, System.nanoTime() + left.toNanos): Unit

  /** Returns true if the lease was inserted. The statement itself checks all conditions. */
  private def insert(
      connection: Connection,
      feed: DueFeed,
      due: DueQuery,
      perHost: Option[Int]
  ): Boolean =
    val host = perHost.map(_ => feed.url.host)
    val permits = s"""SELECT count(*) FROM lease t
      |WHERE t.host = ? AND t.feed_id <> feed.id AND t.worker_id IN ($living)""".stripMargin
    val (hasTurn, more) = perHost match
      case None => ("", Seq.empty)
      case Some(limit) =>
        val isHeld = s"SELECT 1 FROM host_hold h WHERE h.host = ? AND ${holds.isHeld}"
        (
          s"AND ($permits) < ? AND NOT EXISTS ($isHeld)",
          Seq(feed.url.host, limit, feed.url.host)
        )
    1 == Sql.update(
      connection,
      s"""INSERT INTO lease (feed_id, worker_id, host, since_ms)
         |SELECT id, CAST(? AS BIGINT), CAST(? AS TEXT), $now FROM feed
         |WHERE id = ? AND ${DueQuery.isDue}
         |  AND NOT EXISTS (SELECT 1 FROM lease l
         |    WHERE l.feed_id = feed.id AND l.worker_id <> ? AND l.worker_id IN ($living))
         |  $hasTurn
         |ON CONFLICT (feed_id) DO UPDATE SET worker_id = excluded.worker_id,
         |  host = excluded.host, since_ms = excluded.since_ms
         |WHERE lease.worker_id = excluded.worker_id
         |  OR lease.worker_id NOT IN ($living)""".stripMargin
    )(Seq(worker, host, feed.id) ++ due.values ++ Seq(worker) ++ more*)

  /** Why the feed could not be taken; none if there was no free permit of its host. */
  private def whyNot(connection: Connection, feed: DueFeed, due: DueQuery): Option[Answer] =
    Sql
      .query(
        connection,
        s"""SELECT ${DueQuery.isDue}, EXISTS (SELECT 1 FROM lease
           |  WHERE feed_id = feed.id AND worker_id <> ? AND worker_id IN ($living))
           |FROM feed WHERE id = ?""".stripMargin
      )(due.values ++ Seq(worker, feed.id)*): row =>
        if !row.getBoolean(1) then Some(Answer.Done)
        else Option.when(row.getBoolean(2))(Answer.Leased)
      .headOption
      .getOrElse(Some(Answer.Done))

  /** Gives the permit of the feed's host to others, and keeps the feed. */
  def rest(feed: DueFeed): Unit = line.reading: connection =>
    val _ = Sql.update(
      connection,
      "UPDATE lease SET host = NULL WHERE feed_id = ? AND worker_id = ?"
    )(feed.id, worker)

  /** Gives the feed up, which stays due. */
  def giveUp(feed: DueFeed): Unit = line.reading(remove(_, feed.id): Unit)

  /** Stores the check, as `FeedStore.record` does, and gives the feed up. None if the feed was not
    * this process's any more: then nothing is stored.
    *
    * @param answeredBy
    *   the host whose answer was good, if there was one
    */
  def record(check: Check, answeredBy: Option[String] = None): Option[Recorded] =
    store.recordIf(check): connection =>
      val isOurs = remove(connection, check.feed.id)
      if isOurs then answeredBy.foreach(holds.answered(connection, _))
      isOurs

  /** Returns true if this process had the lease of the feed. */
  private def remove(connection: Connection, feedId: Long): Boolean =
    Sql.update(connection, "DELETE FROM lease WHERE feed_id = ? AND worker_id = ?")(
      feedId,
      worker
    ) == 1

  /** Frees the leases of processes of this machine that have ended, and of dead processes of other
    * machines.
    */
  def sweep(): Unit =
    val gone = line
      .reading(connection =>
        Sql.query(connection, "SELECT id, pid FROM worker WHERE machine = ? AND id <> ?")(
          process.machine,
          worker
        )(row => (row.getLong(1), row.getLong(2)))
      )
      .collect { case (id, pid) if !WorkerProcess.isAlive(pid) => id }
    line.writing: connection =>
      database.lock(connection, "workers")
      gone.foreach(id => Sql.update(connection, "DELETE FROM worker WHERE id = ?")(id))
      val _ = Sql.update(connection, s"DELETE FROM lease WHERE worker_id NOT IN ($living)")()
      val _ =
        Sql.update(connection, s"DELETE FROM worker WHERE until_ms < $now - ?")(rememberMillis)
      holds.sweep(connection)

  private def sweepSometimes(): Unit =
    if System.nanoTime() - sweptNanos > sweepEveryNanos then
      sweptNanos = System.nanoTime()
      sweep()

  /** Gives back what this process has: others can have it at once. If the database is away, others
    * can have it when the time of this process has run out.
    */
  def close(): Unit =
    store.stopWaiting()
    try
      line.writing: connection =>
        val _ = Sql.update(connection, "DELETE FROM lease WHERE worker_id = ?")(worker)
        val _ = Sql.update(connection, "DELETE FROM worker WHERE id = ?")(worker)
    catch case error: SQLException if database.isAway(error) => ()
    for own <- List(line, pulse) if own ne store do own.close()

object Leases:
  /** Returns the numbers of the runs that are believed to live, as a query. */
  private[store] def living(database: Database): String =
    s"SELECT id FROM worker WHERE until_ms > ${database.now}"

  enum Answer:
    /** The feed is this process's. */
    case Ours

    /** It is not due any more: another process has checked it. */
    case Done

    /** Another process has it. */
    case Leased

    /** No process has the lease, but all permits of the host are taken. */
    case HostBusy

    /** Its host has asked for a pause, which lasts for `left`. */
    case HostHeld(left: FiniteDuration)

  /** The name of a worker that died stays to be seen for so long. */
  private val rememberMillis = 3_600_000L

  private val sweepEveryNanos = 1_000_000_000L
