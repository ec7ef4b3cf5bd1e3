package weir.postgres

import scala.concurrent.duration.*
import weir.std.StreamMonitor

/** The options for applying scripts.
  *
  * @param onError
  *   decides if the statements after an error still run. By default psql continues, and this
  *   library stops.
  * @param singleTransaction
  *   makes all scripts one transaction. A script that ends a transaction is refused, at that
  *   statement.
  * @param prefetch
  *   how far the splitter may be ahead of the server
  * @param slowest
  *   the number of slowest statements in the summary
  * @param resume
  *   keeps a journal of the applied statements in the database, and continues each script after
  *   them
  * @param jobs
  *   sends the data of a COPY over several connections, if the statement allows it
  * @param pipeline
  *   sends statements before the results of the earlier ones have arrived: in a transaction, where
  *   the server refuses all statements after an error, and with `OnError.Continue` everywhere. It
  *   is for servers that are far away. It has no effect together with `resume` or `jobs`, nor on a
  *   connection of the user.
  * @param stallAfter
  *   the time after which `ApplyListener.stalled` is called for a statement that the server has not
  *   finished
  * @param monitor
  *   observes the stretches `split`, which reads and splits scripts ahead, and `send`, which waits
  *   for the server
  * @param psql
  *   the variables of psql, and the commands that are refused
  */
final case class ApplyOptions(
    onError: OnError = OnError.Stop,
    singleTransaction: Boolean = false,
    prefetch: Prefetch = Prefetch.Bytes(1_000_000),
    slowest: Int = 5,
    resume: Option[Resume] = None,
    jobs: Option[MoreConnections] = None,
    stallAfter: FiniteDuration = 30.seconds,
    monitor: Option[StreamMonitor] = None,
    psql: PsqlOptions = PsqlOptions(),
    pipeline: Boolean = false
):
  require(
    !(singleTransaction && onError == OnError.Continue),
    "ApplyOptions: singleTransaction was set together with OnError.Continue. After an error a " +
      "transaction takes no more statements. Use only one of the two."
  )
  require(
    !(resume.nonEmpty && onError == OnError.Continue),
    "ApplyOptions: resume was set together with OnError.Continue. If statements fail, a journal " +
      "does not show which were applied. To leave a statement out, resume at the one after it."
  )
  require(
    !(singleTransaction && jobs.exists(_.count > 1)),
    "ApplyOptions: singleTransaction was set together with several connections, each of which " +
      "has a transaction of its own. Use only one of the two."
  )

  /** Returns `psql` with the variable that says the same as `onError`, unless it is given. */
  private[postgres] def psqlOptions: PsqlOptions =
    val stops = if onError == OnError.Stop then "on" else "off"
    psql.copy(variables = Map("ON_ERROR_STOP" -> stops) ++ psql.variables)

/** Decides if the statements after an error still run. */
enum OnError:
  /** The next statements do not run. */
  case Stop

  /** The next statements run. But a lost connection, or a script that cannot be split, ends the
    * run.
    */
  case Continue
