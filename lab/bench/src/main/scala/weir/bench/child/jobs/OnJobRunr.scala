package weir.bench.child.jobs

import com.zaxxer.hikari.{HikariConfig, HikariDataSource}
import java.util.concurrent.atomic.AtomicReference
import java.time.Duration
import org.jobrunr.configuration.JobRunr
import org.jobrunr.jobs.lambdas.{JobRequest, JobRequestHandler}
import org.jobrunr.scheduling.BackgroundJobRequest
import org.jobrunr.server.BackgroundJobServerConfiguration
import org.jobrunr.storage.sql.postgres.PostgresStorageProvider
import org.jobrunr.utils.mapper.gson.GsonJsonMapper
import scala.jdk.CollectionConverters.*

/** JobRunr with its own storage for Postgres and its job requests, polled as often as it allows
  * with SQL, each five seconds, on virtual threads, its default on this JDK.
  */
object OnJobRunr extends JobSystem:
  private val onDone = AtomicReference[() => Unit](() => ())

  final class Request(val text: String) extends JobRequest:
    def this() = this("")
    def getJobRequestHandler: Class[Handler] = classOf[Handler]

  final class Handler extends JobRequestHandler[Request]:
    def run(request: Request): Unit = onDone.get()()

  private def pool(url: String): HikariDataSource =
    val config = HikariConfig()
    config.setJdbcUrl(url)
    config.setMaximumPoolSize(20)
    HikariDataSource(config)

  def create(url: String): Unit =
    JobSystem.withConnection(url): connection =>
      val drop = """DO $$ DECLARE t text; BEGIN
        |FOR t IN SELECT quote_ident(c.relname) FROM pg_class c
        |  WHERE c.relkind IN ('r', 'v') AND c.relname LIKE 'jobrunr%' ORDER BY c.relkind DESC LOOP
        |  BEGIN EXECUTE 'DROP TABLE ' || t || ' CASCADE';
        |  EXCEPTION WHEN OTHERS THEN EXECUTE 'DROP VIEW IF EXISTS ' || t || ' CASCADE'; END;
        |END LOOP; END $$""".stripMargin
      JobSystem.execute(connection, drop)
    val source = pool(url)
    try PostgresStorageProvider(source).close()
    finally source.close()

  def fill(url: String, count: Int): Unit =
    val source = pool(url)
    try
      JobRunr
        .configure()
        .useJsonMapper(GsonJsonMapper())
        .useStorageProvider(PostgresStorageProvider(source))
        .initialize(): Unit
      for part <- (1 to count).grouped(5000) do
        BackgroundJobRequest.enqueue(
          part.map(_ => Request(JobSystem.payload): JobRequest).asJava.stream
        )
      JobRunr.destroy(): Unit
    finally source.close()

  def work(url: String, parallelism: Int, done: () => Unit): AutoCloseable =
    onDone.set(done)
    val source = pool(url)
    JobRunr
      .configure()
      .useJsonMapper(GsonJsonMapper())
      .useStorageProvider(PostgresStorageProvider(source))
      .useBackgroundJobServer(
        BackgroundJobServerConfiguration
          .usingStandardBackgroundJobServerConfiguration()
          .andWorkerCount(parallelism)
          .andPollInterval(Duration.ofSeconds(5))
      )
      .initialize(): Unit
    () => {
      JobRunr.destroy(): Unit
      source.close()
    }

  def left: String = "SELECT count(*) FROM jobrunr_jobs WHERE state <> 'SUCCEEDED'"
