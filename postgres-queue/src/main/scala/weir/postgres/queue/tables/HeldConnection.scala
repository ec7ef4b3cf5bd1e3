package weir.postgres.queue.tables

import java.sql.{Connection, SQLException}
import java.util.concurrent.TimeoutException
import scala.concurrent.duration.FiniteDuration

import weir.io.Text
import weir.{Resource, Task}

/** A place for one connection, which is closed at the latest when the place is released.
  *
  * The call that opens a connection puts it here itself. So it is closed although its opener was
  * cancelled or too late. All connections of a queue are opened here.
  */
private[queue] final class HeldConnection private (connect: () => Connection):
  /** With the network timeout that it had before, in milliseconds. */
  @volatile private var held = Option.empty[(Connection, Int)]

  def current: Option[Connection] = held.map(_._1)

  /** Opens a connection whose server must answer each call within `patience`.
    *
    * **Cancelled**: interrupts `connect`. **Fails** with a `SQLException` after `limit`: a server
    * may accept a connection and never answer.
    */
  def open(limit: FiniteDuration, patience: FiniteDuration): Task[Connection] =
    Task
      .delay {
        val connection = connect()
        held = Some((connection, 0))
        held = Some((connection, connection.getNetworkTimeout))
        connection.setNetworkTimeout(_.run(), patience.toMillis.toInt)
        // A pool may give out connections that are in a transaction.
        connection.setAutoCommit(true)
        connection
      }
      .timeout(limit)
      .adaptError { case late: TimeoutException =>
        val text = s"no answer to a new connection within ${Text.ofDuration(limit)}"
        SQLException(text, "08001", late)
      }

  /** Closes the connection, if there is one. */
  def close(): Unit =
    for (connection, networkTimeout) <- held do
      held = None
      try
        try if !connection.isClosed then connection.setNetworkTimeout(_.run(), networkTimeout)
        finally connection.close()
      catch case _: SQLException => ()

private[queue] object HeldConnection:
  def apply(connect: () => Connection): Resource[HeldConnection] =
    Resource.make(Task(new HeldConnection(connect)))(held => Task.uninterruptible(held.close()))
