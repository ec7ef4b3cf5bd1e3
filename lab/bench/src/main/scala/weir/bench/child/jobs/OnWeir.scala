package weir.bench.child.jobs

import java.sql.DriverManager
import scala.concurrent.duration.*

import weir.Task
import weir.postgres.queue.{PgCodec, PgOffer, PgQueue}

/** A stream of `PgQueue`. */
object OnWeir extends JobSystem:
  private[jobs] val table = "weir_bench_jobs.jobs"

  private[jobs] def queue(url: String): PgQueue[String] =
    PgQueue(() => DriverManager.getConnection(url), "jobs", PgCodec.text, "weir_bench_jobs")

  def create(url: String): Unit =
    JobSystem.withConnection(url)(
      JobSystem.execute(_, "DROP SCHEMA IF EXISTS weir_bench_jobs CASCADE")
    )
    queue(url).create.runSync()

  def fill(url: String, count: Int): Unit =
    for part <- (1 to count).grouped(1000) do
      queue(url).offerAll(part.map(_ => PgOffer(JobSystem.payload))).runSync(): Unit

  def work(url: String, parallelism: Int, done: () => Unit): AutoCloseable =
    val fiber =
      queue(url).stream(parallelism, lease = 30.seconds)(_ => Task(done())).drain.start.runSync()
    () => fiber.cancel.runSync()

  def left: String = s"SELECT count(*) FROM $table"
