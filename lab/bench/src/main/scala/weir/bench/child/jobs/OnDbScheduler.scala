package weir.bench.child.jobs

import com.github.kagkarlsson.scheduler.Scheduler
import com.github.kagkarlsson.scheduler.task.helper.Tasks
import com.zaxxer.hikari.{HikariConfig, HikariDataSource}
import java.time.Duration

/** db-scheduler with what its README recommends for high throughput: `pollUsingLockAndFetch` with
  * 1.0 and 4.0, which takes jobs ahead by SKIP LOCKED; a pool with a connection for each thread.
  */
object OnDbScheduler extends JobSystem:
  private val name = "bench"

  def create(url: String): Unit = JobSystem.withConnection(url): connection =>
    JobSystem.execute(connection, "DROP TABLE IF EXISTS scheduled_tasks")
    // As in the project's postgresql_tables.sql.
    JobSystem.execute(
      connection,
      """CREATE TABLE scheduled_tasks (
        |  task_name text not null,
        |  task_instance text not null,
        |  task_data bytea,
        |  execution_time timestamp with time zone not null,
        |  picked boolean not null,
        |  picked_by text,
        |  last_success timestamp with time zone,
        |  last_failure timestamp with time zone,
        |  consecutive_failures int,
        |  last_heartbeat timestamp with time zone,
        |  version bigint not null,
        |  priority smallint,
        |  primary key (task_name, task_instance)
        |);
        |CREATE INDEX execution_time_idx ON scheduled_tasks (execution_time);
        |CREATE INDEX last_heartbeat_idx ON scheduled_tasks (last_heartbeat);
        |CREATE INDEX priority_execution_time_idx
        |  ON scheduled_tasks (priority desc, execution_time asc)""".stripMargin
    )

  /** Inserts all at once the rows that `scheduler.schedule` inserts, with Java's serialization of a
    * `String`.
    */
  def fill(url: String, count: Int): Unit = JobSystem.withConnection(url): connection =>
    val bytes = java.io.ByteArrayOutputStream()
    val serializer = java.io.ObjectOutputStream(bytes)
    serializer.writeObject(JobSystem.payload)
    serializer.close()
    val statement = connection.prepareStatement(
      s"""INSERT INTO scheduled_tasks
         |  (task_name, task_instance, task_data, execution_time, picked, version)
         |SELECT '$name', n::text, ?, now(), false, 1 FROM generate_series(1, ?) n""".stripMargin
    )
    statement.setBytes(1, bytes.toByteArray)
    statement.setInt(2, count)
    statement.executeUpdate(): Unit

  def work(url: String, parallelism: Int, done: () => Unit): AutoCloseable =
    val config = HikariConfig()
    config.setJdbcUrl(url)
    config.setMaximumPoolSize(parallelism.min(50))
    val pool = HikariDataSource(config)
    val task = Tasks.oneTime(name, classOf[String]).execute((_, _) => done())
    val scheduler = Scheduler
      .create(pool, task)
      .threads(parallelism)
      .pollUsingLockAndFetch(1.0, 4.0)
      .pollingInterval(Duration.ofSeconds(1))
      .build()
    scheduler.start()
    () => {
      scheduler.stop()
      pool.close()
    }

  def left: String = "SELECT count(*) FROM scheduled_tasks"
