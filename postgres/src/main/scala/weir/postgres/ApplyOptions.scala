package weir.postgres

import scala.concurrent.duration.*
import weir.StreamMonitor

/** How scripts are applied.
  *
  * @param onError
  *   what an error of a statement means for those after it. psql goes on unless it is told
  *   otherwise; this stops.
  * @param singleTransaction
  *   all scripts are one transaction. A script that ends a transaction is refused, at that
  *   statement.
  * @param prefetch
  *   how much of a script may wait, split, for the server
  * @param slowest
  *   how many of the slowest statements the summary holds
  * @param resume
  *   keep a journal in the database of what has been applied, and continue each script after that
  * @param jobs
  *   send the data of a COPY over several connections, where the statement allows it
  * @param stallAfter
  *   how long the server may take with a statement before `ApplyListener.stalled` is called
  * @param monitor
  *   observes the stretches `split`, which reads and splits scripts ahead, and `send`, which waits
  *   for the server
  */
final case class ApplyOptions(
    onError: OnError = OnError.Stop,
    singleTransaction: Boolean = false,
    prefetch: Prefetch = Prefetch.Bytes(1_000_000),
    slowest: Int = 5,
    resume: Option[Resume] = None,
    jobs: Option[MoreConnections] = None,
    stallAfter: FiniteDuration = 30.seconds,
    monitor: Option[StreamMonitor] = None
):
  require(
    !(singleTransaction && onError == OnError.Continue),
    "ApplyOptions: singleTransaction together with OnError.Continue. After an error a " +
      "transaction " +
      "takes no more statements. Use one of the two."
  )
  require(
    !(resume.nonEmpty && onError == OnError.Continue),
    "ApplyOptions: resume together with OnError.Continue. A journal of statements of which some " +
      "have failed would not " +
      "say what there is. To leave a statement out, resume at the one after it."
  )
  require(
    !(singleTransaction && jobs.exists(_.count > 1)),
    "ApplyOptions: singleTransaction together with several connections, each of which has a " +
      "transaction of its own. Use " +
      "one of the two."
  )

/** What an error of a statement means for those after it. */
enum OnError:
  /** They do not run. */
  case Stop

  /** They run. A connection that was lost, and a script that cannot be split, still end it all. */
  case Continue
