package weir.bench.child.jobs

import java.sql.{Connection, DriverManager}

/** A queue of jobs in Postgres, as its documentation recommends it for many short jobs. */
trait JobSystem:
  /** Creates its tables, and empties existing ones. */
  def create(url: String): Unit

  /** Adds jobs, each with a payload of 100 bytes. */
  def fill(url: String, count: Int): Unit

  /** Works on jobs until it is closed, and calls `done` in each. */
  def work(url: String, parallelism: Int, done: () => Unit): AutoCloseable

  /** A query for the number of jobs that are not done. */
  def left: String

object JobSystem:
  val all: Map[String, JobSystem] = Map(
    "weir" -> OnWeir,
    "sql-loop" -> SqlLoop,
    "db-scheduler" -> OnDbScheduler,
    "jobrunr" -> OnJobRunr
  )

  val payload: String = "x" * 100

  def withConnection[A](url: String)(body: Connection => A): A =
    val connection = DriverManager.getConnection(url)
    try body(connection)
    finally connection.close()

  def execute(connection: Connection, sql: String): Unit =
    val statement = connection.createStatement()
    try statement.execute(sql): Unit
    finally statement.close()

  /** Returns the number that `sql` asks for. */
  def ask(connection: Connection, sql: String): Long =
    val statement = connection.createStatement()
    try
      val rows = statement.executeQuery(sql)
      rows.next(): Unit
      rows.getLong(1)
    finally statement.close()
