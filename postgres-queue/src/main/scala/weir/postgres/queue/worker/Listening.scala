package weir.postgres.queue.worker

import java.sql.{Connection, SQLException}
import scala.concurrent.duration.*

import org.postgresql.PGConnection
import weir.Task
import weir.postgres.queue.tables.{Jdbc, QueueAccess}

/** Waits for notifications of a queue, on a connection of its own. Polling finds the jobs whose
  * notifications get lost, as while there is no connection.
  */
private[queue] object Listening:
  private val attentive = 20.seconds
  private val retryMillis = 1000L

  /** Never ends; calls `wake` for each notification, and whenever some may have been missed.
    *
    * **Cancelled**: closes the connection.
    */
  def forever(access: QueueAccess, channel: String, wake: () => Unit): Task[Nothing] =
    // Far more than a notification may be late; a connection that is dead is noticed by it.
    val patience = attentive * 2
    access.held
      .use(held =>
        access
          .open(held, QueueAccess.patience, patience)
          .flatMap(connection => Task.delay(listen(connection, channel, wake)))
      )
      .recover { case _: SQLException => () }
      .andThen(Task.delay(Thread.sleep(retryMillis)))
      .forever

  private def listen(connection: Connection, channel: String, wake: () => Unit): Unit =
    try
      Jdbc.execute(connection, s"LISTEN $channel")
      val driver = connection.unwrap(classOf[PGConnection])
      wake()
      while true do
        val notifications = driver.getNotifications(attentive.toMillis.toInt)
        if notifications != null && notifications.nonEmpty then wake()
        else Jdbc.execute(connection, "")
    finally
      // If it fails, a pool sees that and drops the connection.
      try Jdbc.execute(connection, s"UNLISTEN $channel")
      catch case _: SQLException => ()
