package weir.postgres.queue.worker

import java.sql.{Connection, SQLException}
import java.util.concurrent.TimeUnit

import org.postgresql.PGConnection
import weir.Task
import weir.postgres.queue.tables.Jdbc

/** Waits for notifications of a queue, on a connection of its own. Polling finds the jobs whose
  * notifications get lost, as while there is no connection.
  */
private[queue] object Listening:
  private val attentive = TimeUnit.SECONDS.toMillis(20).toInt
  private val retryMillis = 1000L

  /** Never ends; calls `wake` for each notification, and whenever some may have been missed.
    *
    * **Cancelled**: closes the connection.
    */
  def forever(connect: () => Connection, channel: String, wake: () => Unit): Task[Nothing] =
    Task
      .delay(listen(connect, channel, wake))
      .recover { case _: SQLException => () }
      .andThen(Task.delay(Thread.sleep(retryMillis)))
      .forever

  private def listen(connect: () => Connection, channel: String, wake: () => Unit): Unit =
    val connection = connect()
    try
      connection.setAutoCommit(true)
      // Far more than a notification may be late; a connection that is dead is noticed by it.
      connection.setNetworkTimeout(_.run(), 2 * attentive)
      Jdbc.execute(connection, s"LISTEN $channel")
      val driver = connection.unwrap(classOf[PGConnection])
      wake()
      while true do
        val notifications = driver.getNotifications(attentive)
        if notifications != null && notifications.nonEmpty then wake()
        else Jdbc.execute(connection, "")
    finally
      // If it fails, a pool sees that and drops the connection.
      try
        try Jdbc.execute(connection, s"UNLISTEN $channel")
        finally connection.close()
      catch case _: SQLException => ()
