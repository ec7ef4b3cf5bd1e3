package weir.postgres.queue.worker

import java.sql.SQLException

/** Recognizes the errors of the server that pass by themselves: a lost connection, a restart, a
  * failover, no resources, a deadlock, a limit of time.
  */
private[queue] object TransientErrors:
  private val classes = Set("08", "40", "53", "55", "57", "58")

  /** These errors pass by themselves, while others of their class (25) do not: the server is
    * read-only, as a standby is, or has ended a session whose transaction was idle or open for too
    * long.
    */
  private val states = Set("25006", "25P03", "25P04")

  /** The errors after which the connection can still be used. */
  private val harmless = Set("40001", "40P01", "55P03", "57014")

  def includes(error: SQLException): Boolean = error.getSQLState match
    case null => true
    case state => classes(state.take(2)) || states(state) || isIo(error)

  def keepConnection(error: SQLException): Boolean =
    error.getSQLState match
      case null => false
      case state => harmless(state)

  private def isIo(error: Throwable): Boolean =
    Iterator.iterate(error.getCause)(_.getCause).takeWhile(_ ne null).take(10).exists {
      case _: java.io.IOException => true
      case _ => false
    }
