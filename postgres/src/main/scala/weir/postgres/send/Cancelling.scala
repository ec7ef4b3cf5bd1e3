package weir.postgres.send

import java.util.concurrent.{CountDownLatch, TimeUnit}
import weir.Task
import weir.postgres.ScriptConnection

/** Makes what a session waits for end: by a cancel request, which the server answers with an error; by closing the connection
  * where that takes too long, as when the network is gone.
  */
private[postgres] object Cancelling:
  val GraceMillis = 10000L

  /** Nothing, once `ended`, or once the connection is closed, after `graceMillis`. */
  def task(connection: ScriptConnection, ended: CountDownLatch, graceMillis: Long): Task[Unit] =
    Task.uninterruptible {
      // The request is a connection of its own, which may wait as long as anything else.
      Thread.ofVirtual().name("weir-cancel-request").start { () =>
        try connection.driver.cancelQuery()
        catch case _: java.sql.SQLException => () // the wait below ends it
      }: Unit
      if !ended.await(graceMillis, TimeUnit.MILLISECONDS) then connection.abort()
    }
