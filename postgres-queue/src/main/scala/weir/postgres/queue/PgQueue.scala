package weir.postgres.queue

import java.sql.Connection
import java.time.Instant
import scala.concurrent.duration.*

import weir.io.Text
import weir.{Resource, Stream, Task}
import weir.postgres.queue.tables.{QueueAccess, QueueCalls, QueueInspection, QueueTables}
import weir.postgres.queue.tables.QueueCalls.Locked
import weir.postgres.queue.worker.QueueWorker

/** A durable queue of jobs in a Postgres database, for any number of processes. `PgQueue.apply`
  * makes one.
  *
  * A job is in the queue from the commit of its offer until it is acknowledged or dead. A worker
  * that takes a job has it for the time of a lease. If the lease ends without a report, as after a
  * kill of the process, the job is taken again. So a job is done at least once, and again only if a
  * worker was lost or too late. The queue refuses the reports of a late worker by the job's token.
  *
  * Each method opens a connection, runs one transaction, and closes the connection: use a pool,
  * such as HikariCP's. It waits for a connection, and for each answer of the server, for at most 30
  * seconds. A cancel ends the wait for a connection at once. A stream keeps two connections while
  * it runs. The queue's own transactions are READ COMMITTED, whatever the default of the database.
  */
final class PgQueue[A] private (
    connect: () => Connection,
    tables: QueueTables,
    codec: PgCodec[A]
):
  private val calls = QueueCalls(tables, codec)
  private val callsWithin = calls.withoutSettings
  private val inspection = QueueInspection(tables, codec)
  private val access = QueueAccess(connect, tables, codec.column)

  // ---- the tables ----

  /** Returns the statements that `create` runs if there are no tables, to create them by other
    * means. The schema must exist.
    */
  def ddl: String = tables.since(0)

  /** Returns the statements that `create` runs if the tables have this version; an empty text if it
    * is the latest version. Run them in one transaction.
    */
  def ddlSince(version: Int): String = tables.since(version)

  /** Creates the queue's schema and its tables, or migrates tables of an earlier version, in one
    * transaction. Does nothing if they have the latest version: then no right to create anything is
    * needed. Several processes may do so at once.
    *
    * **Waits** for other processes that migrate queues of the schema, an hour at most.
    * **Cancelled**: breaks the connection, and the server rolls back. **Fails** with a
    * [[PgQueueException]] if the user may not create or migrate them, or if a newer Weir has
    * migrated them.
    */
  def create: Task[Unit] = access.create

  // ---- offering ----

  /** Adds a job, and returns its number; none if the queue has a job with its key.
    *
    * **Fails** with a [[PgQueueException]], as all methods do, if the tables do not exist or may
    * not be used; with one of `Kind.NotStorable`, before the server is called, if the payload or
    * the key is text that Postgres cannot store, the key has more than 2,600 bytes in UTF-8, or
    * `runAt` is not in the years 1 to 9999; with a `SQLException` for other errors, such as an
    * outage. Only a `stream` waits for the end of an outage.
    * {{{
    * val added: Task[Option[Long]] = queue.offer(PgOffer("hello", key = Some("greet")))
    * }}}
    */
  def offer(job: PgOffer[A]): Task[Option[Long]] = offerAll(Vector(job)).map(_.head)

  /** Adds jobs in one transaction, by one statement. Returns their numbers, in the order of `jobs`;
    * none for each job whose key is in the queue.
    */
  def offerAll(jobs: Iterable[PgOffer[A]]): Task[Vector[Option[Long]]] =
    if jobs.isEmpty then Task.pure(Vector.empty)
    else
      Task.defer {
        val storable = calls.storable(jobs.toVector)
        access.transaction(calls.offer(_, storable))
      }

  /** Adds jobs as `offerAll` does, in the open transaction of `connection`: the jobs are added if
    * and only if that is committed.
    * {{{
    * def order(connection: Connection, item: String): Task[Unit] =
    *   Task(insertOrder(connection, item)) >>
    *     queue.offerWithin(connection)(Vector(PgOffer(item))) >>
    *     Task(connection.commit())
    * }}}
    */
  def offerWithin(connection: Connection)(jobs: Iterable[PgOffer[A]]): Task[Vector[Option[Long]]] =
    if jobs.isEmpty then Task.pure(Vector.empty)
    else
      Task.defer {
        val storable = calls.storable(jobs.toVector)
        access.within(connection)(callsWithin.offer(connection, storable))
      }

  // ---- taking, one by one; see also stream ----

  /** Takes up to `count` due jobs, which the caller holds for the time of `lease`. Does not wait:
    * the result may be empty.
    *
    * **Order**: jobs with a higher priority first, then those that were due first.
    *
    * **Cancelled**: jobs that were taken may be lost to the caller, and can be taken again when
    * their leases have ended.
    */
  def take(count: Int, lease: FiniteDuration): Task[Vector[PgJob[A]]] =
    require(count >= 1, s"PgQueue.take: count was $count. It must be at least 1.")
    checkLease("take", lease)
    access.transaction(calls.take(_, count, lease.toMillis, PgWorker.processName))

  /** Acknowledges the job: it is done, and is removed from the queue.
    *
    * **Fails** with a `PgQueueException` of `Kind.LeaseLost` if the caller no longer holds the job:
    * the caller has reported it already, or its lease has ended and another worker has taken it.
    * Then its work may be done again.
    */
  def ack(job: PgJob[A]): Task[Unit] = ackAll(Vector(job)).map(refuse(_))

  /** Acknowledges the jobs, and returns those that were refused. The others are done, and are
    * removed from the queue.
    */
  def ackAll(jobs: Iterable[PgJob[A]]): Task[Vector[PgJob[A]]] =
    if jobs.isEmpty then Task.pure(Vector.empty)
    else
      val all = jobs.toVector
      access.transaction(calls.ack(_, all)).map(acknowledged(all, _))

  /** Acknowledges the job as `ack` does, in the open transaction of `connection`. If the job's
    * effects are in the same transaction, they happen exactly once: roll it back if this fails.
    * Call it last, just before the commit: a stream cannot renew the lease of the job in between.
    */
  def ackWithin(connection: Connection)(job: PgJob[A]): Task[Unit] =
    access
      .within(connection)(callsWithin.ack(connection, Vector(job)))
      .map(done => refuse(acknowledged(Vector(job), done)))

  /** Reports that the attempt has failed. Returns true if the job can be taken again after `delay`,
    * and false if this was its last attempt, so that it is dead now. `error` is the reason, for the
    * next attempt and for people.
    *
    * **Fails** as `ack`.
    */
  def nack(job: PgJob[A], delay: FiniteDuration, error: String): Task[Boolean] =
    val failure = QueueCalls.Failure(job, delay.toMillis.max(0L), error)
    access
      .transaction(calls.nack(_, Vector(failure)))
      .map(_.get(job.taken) match
        case Some(isDead) => !isDead
        case None => throw leaseLost(job))

  /** Gives the job back to the queue, as if it had not been taken: the attempt does not count.
    *
    * **Fails** as `ack`.
    */
  def giveBack(job: PgJob[A]): Task[Unit] =
    access
      .transaction(calls.giveBack(_, Vector(job), Locked.Wait))
      .map(done => refuse(missing(job, done)))

  /** Extends the lease: the caller holds the job for the time of `lease` from now on. **Fails** as
    * `ack`.
    */
  def extend(job: PgJob[A], lease: FiniteDuration): Task[Unit] =
    checkLease("extend", lease)
    access
      .transaction(calls.extend(_, Vector(job), lease.toMillis, Locked.Wait))
      .map(done => refuse(missing(job, done)))

  // ---- a worker ----

  /** Runs `work` for the jobs of the queue, as they come, and emits each result once its job is
    * acknowledged. At most `parallelism` jobs run. Twice as many may be taken ahead, or wait for
    * their acknowledgement or for the consumer of the stream. The stream does not end by itself.
    * Each run of the stream is a separate worker.
    *
    *   - **While a job runs** its lease is renewed, each time a third of it has passed. If the
    *     lease is lost, as when the server could not be reached for so long, the job is cancelled.
    *   - **A job that fails** is tried again after `worker.pause`, and is dead after its last
    *     attempt. The stream continues.
    *   - **The end**: if the stream is cancelled or its consumer stops, running jobs are cancelled
    *     and given back, so that other workers take them at once, and jobs that were done are
    *     acknowledged. `worker.stop` ends the stream without cancelling running jobs.
    *   - **An outage**: the stream opens a lost connection again, and waits for a server that takes
    *     no writes, without a limit. Running jobs continue.
    *   - **A killed process**: its jobs are taken by others when their leases have ended.
    *
    * **Order**: jobs begin in the order of `take`. While more jobs wait than it can take, it checks
    * every 100 ms for jobs that go before them. So a job of a higher priority may begin up to 100
    * ms late. Results come in the order in which the jobs end. **Fails** if the first connection
    * cannot be opened, and with permanent errors of the server.
    * {{{
    * val sent: Stream[Unit] =
    *   queue.stream(parallelism = 100, lease = 30.seconds)(job => send(job.payload))
    * }}}
    */
  def stream[B](parallelism: Int, lease: FiniteDuration, worker: PgWorker = PgWorker())(
      work: PgJob[A] => Task[B]
  ): Stream[B] =
    require(
      parallelism >= 1,
      s"PgQueue.stream: parallelism was $parallelism. It must be at least 1 job at a time."
    )
    checkLease("stream", lease)
    QueueWorker.results(
      calls,
      tables.channel,
      access,
      worker,
      parallelism,
      lease,
      work
    )

  // ---- looking ----

  /** Returns the number of jobs of each kind. Reads the whole table. */
  def counts: Task[PgQueue.Counts] = access.transaction(inspection.counts)

  /** Returns up to `limit` dead jobs, the latest first. They stay until they are deleted or
    * revived.
    */
  def dead(limit: Int): Task[Vector[PgQueue.Dead[A]]] =
    access.transaction(inspection.dead(_, limit))

  /** Puts the dead jobs with these numbers back into the queue, as new jobs with new numbers, and
    * returns how many. It leaves out a job whose key is in the queue already.
    */
  def revive(ids: Iterable[Long]): Task[Int] =
    access.transaction(inspection.revive(_, ids.toVector))

  /** Deletes the dead jobs with these numbers, and returns how many. */
  def deleteDead(ids: Iterable[Long]): Task[Int] =
    access.transaction(inspection.deleteDead(_, ids.toVector))

  /** Returns the time for which the oldest job that could be taken now has been due; none if there
    * is no such job.
    */
  def oldest: Task[Option[FiniteDuration]] =
    access.transaction(inspection.oldest).map(_.map(seconds => (seconds * 1e9).toLong.max(0).nanos))

  /** Counts the jobs at once and then once in each `every`, and adds the numbers to the metrics of
    * the JVM while the resource is in use: see `weir.metrics.Metrics`. Shows the dead jobs to a
    * console. A count reads the whole table. While the database does not answer there are no
    * metrics of the queue.
    *
    * **Fails** with an `IllegalArgumentException` if `every` is less than a second.
    * {{{
    * val program: Task[Unit] = queue.watched().use(_ => work)
    * }}}
    */
  def watched(every: FiniteDuration = 15.seconds): Resource[Unit] =
    require(
      every >= 1.second,
      s"PgQueue.watched: every was ${Text.ofDuration(every)}. It must be at least 1 second: a " +
        "count reads the whole table."
    )
    QueueFigures(this, tables.jobs, every).watched

  /** Marks the jobs of `jobs` that are done, and returns the others. */
  private def acknowledged(jobs: Vector[PgJob[A]], done: Set[(Long, Int)]): Vector[PgJob[A]] =
    val (acked, refused) = jobs.partition(job => done(job.taken))
    acked.foreach(_.isAcknowledged = true)
    refused

  private def missing(job: PgJob[A], done: Set[(Long, Int)]): Vector[PgJob[A]] =
    if done(job.taken) then Vector.empty else Vector(job)

  private def refuse(refused: Vector[PgJob[A]]): Unit =
    refused.headOption.foreach(job => throw leaseLost(job))

  private def leaseLost(job: PgJob[A]): PgQueueException =
    PgQueueException(
      PgQueueException.Kind.LeaseLost,
      s"PgQueue: ${tables.jobs}: the caller no longer holds $job: it has reported the job, or " +
        "the lease has ended, and since then the job was taken by another worker, done, or moved " +
        "to the dead jobs. In that case its effects may happen again: use longer leases, or " +
        "extend them."
    )

  private def checkLease(method: String, lease: FiniteDuration): Unit =
    require(
      lease >= PgQueue.shortestLease,
      s"PgQueue.$method: the lease was ${Text.ofDuration(lease)}. It must be at least " +
        s"${Text.ofDuration(PgQueue.shortestLease)}. Other workers wait that long for the jobs " +
        "of a worker that has died."
    )

object PgQueue:
  private val shortestLease = 100.millis

  /** Returns a queue with the name `queue`, whose tables are in `schema`. It does not access the
    * database: `create` makes the tables.
    *
    * @param connect
    *   opens a connection of pgjdbc, or takes one out of a pool; it is closed after use
    * @param notifies
    *   true to wake idle workers by a `NOTIFY` with each offer. Postgres commits one transaction
    *   with a `NOTIFY` at a time. Without it, workers find jobs at their next poll
    * {{{
    * val emails: PgQueue[String] = PgQueue(() => dataSource.getConnection, "emails", PgCodec.text)
    * }}}
    */
  def apply[A](
      connect: () => Connection,
      queue: String,
      codec: PgCodec[A],
      schema: String = "weir_queue",
      notifies: Boolean = true
  ): PgQueue[A] =
    new PgQueue(connect, QueueTables(schema, queue, codec.column, notifies), codec)

  /** @param ready
    *   the number of jobs that could be taken now
    * @param delayed
    *   the number of jobs that wait for their time
    */
  final case class Counts(ready: Long, leased: Long, delayed: Long, dead: Long)

  /** A job whose last attempt has failed.
    *
    * @param error
    *   the error of its last attempt
    */
  final class Dead[+A] private[queue] (
      val id: Long,
      val attempts: Int,
      val diedAt: Instant,
      val key: Option[String],
      val error: String,
      decoded: () => A
  ):
    /** The payload. **Fails** with the error that the codec throws for it. */
    lazy val payload: A = decoded()
