package weir.postgres.queue

import java.sql.DriverManager
import scala.concurrent.duration.*

import weir.Task
import weir.postgres.*

/** A worker in a JVM that a test kills: `URL PARALLELISM LEASE_MILLIS`. The effect of a job is a
  * row of the table `effect`, on a connection of its own, so that it is there although the job's
  * end was never reported.
  */
object QueueProgram:
  def main(args: Array[String]): Unit =
    val url = args(0)
    val queue = PgQueue(() => DriverManager.getConnection(url), "work", PgCodec.text)
    val effects = DriverManager.getConnection(url)
    val insert = effects.prepareStatement("INSERT INTO effect (job, attempt) VALUES (?, ?)")
    println("begun")
    queue
      .stream(args(1).toInt, args(2).toInt.millis, PgWorker(poll = 50.millis))(job =>
        Task {
          insert.synchronized {
            insert.setLong(1, job.id)
            insert.setInt(2, job.attempt)
            insert.executeUpdate()
          }
        } >> Task.sleep(2.millis)
      )
      .drain
      .runSync()
