package weir.postgres.queue

import java.lang.ProcessHandle
import java.net.InetAddress
import java.util.concurrent.ThreadLocalRandom
import scala.concurrent.duration.*
import scala.util.Try

import weir.Task
import weir.postgres.queue.tables.Storable

/** The settings of a [[PgQueue]]'s stream.
  *
  * @param name
  *   the name of the holder in the table of jobs, for people who read it
  * @param poll
  *   the time between two checks for jobs whose notification got lost, and for leases that have
  *   ended
  * @param listens
  *   true to hold a second connection that waits for notifications. Without it, only polling finds
  *   jobs, which is necessary behind a PgBouncer that pools transactions. One before 1.21 also
  *   needs `prepareThreshold=0` in the URL of the connections
  * @param pause
  *   returns the wait of a job after its attempt with this number has failed
  * @param stop
  *   when this task ends, with an error too, no more jobs are taken, and the stream ends once the
  *   running jobs have ended
  * @param listener
  *   receives the events of jobs and of the connection, one at a time
  */
final case class PgWorker(
    name: String = PgWorker.processName,
    poll: FiniteDuration = 1.second,
    listens: Boolean = true,
    pause: Int => FiniteDuration = PgWorker.backOff,
    stop: Task[Unit] = Task.never,
    listener: PgWorker.Event => Unit = _ => ()
):
  require(
    poll > Duration.Zero,
    s"PgWorker: poll was $poll. The interval between two polls must be more than 0."
  )
  for problem <- Storable.problemIn(name) do
    throw IllegalArgumentException(
      s"PgWorker: the name has $problem. Postgres cannot store it in text. Remove it."
    )

object PgWorker:
  /** An event of a job of a stream, or of its connection. */
  enum Event:
    /** The attempt has failed. The job waits for `pause`. Without one it is dead, or it is done and
      * failed after the commit of its `ackWithin`.
      */
    case Failed(job: PgJob[Any], error: Throwable, pause: Option[FiniteDuration])

    /** The lease has ended before the job: another worker may have it now. The job was cancelled,
      * or its result was refused.
      */
    case LeaseLost(job: PgJob[Any])

    /** The connection is lost, or the server does not answer or is read-only. Running jobs
      * continue, and the worker reports the ended ones when the server answers again.
      */
    case Disconnected(error: Throwable)

    /** The server answers again. */
    case Reconnected

  /** The host's name and the number of this process. */
  lazy val processName: String =
    val host = Try(InetAddress.getLocalHost.getHostName).getOrElse("localhost")
    s"$host/${ProcessHandle.current().pid()}"

  /** Returns about 1, 2, 4, 8 seconds and so on, at most an hour. The wait has a random part, so
    * that jobs that failed together do not run again together.
    */
  def backOff(attempt: Int): FiniteDuration =
    val longest = (1000L << (attempt - 1).max(0).min(12)).min(3_600_000L)
    ThreadLocalRandom.current().nextLong(longest / 2, longest + 1).millis
