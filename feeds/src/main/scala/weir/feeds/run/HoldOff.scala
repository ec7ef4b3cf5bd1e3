package weir.feeds.run

import scala.concurrent.duration.*

import weir.feeds.fetch.{Failure, Reason}

/** Computes for how long not to fetch a feed after a check, beyond the time of `--stale`.
  *
  * **After a failure**: the first failure has the pause of any check, so that a feed that was down
  * for a moment is fetched again soon. Each further failure doubles the pause, up to a week. A
  * server that asks for a pause gets it. A feed that is gone (410) is not fetched for a month.
  *
  * **After a success**: as long as the server or the feed says that nothing changes, up to a day.
  */
object HoldOff:
  private val shortest = 5.minutes
  private val longest = 7.days
  private val longestFresh = 1.day

  /** After a 410. */
  private[feeds] val gone: FiniteDuration = 30.days

  /** Returns the pause after a success, of all that `asked` for one. */
  def fresh(asked: Iterable[FiniteDuration]): FiniteDuration =
    asked.maxOption.getOrElse(Duration.Zero) max Duration.Zero min longestFresh

  /** Returns the pause after `failures` failures in a row, the last of which was `failure`. */
  def after(failures: Int, stale: FiniteDuration, failure: Failure): FiniteDuration =
    if failure.reason == Reason.Gone then gone
    else doubled(failures, stale) max failure.retryAfter.getOrElse(Duration.Zero)

  /** Returns the pause after `failures` failures in a row, if no server has asked for one. */
  def doubled(failures: Int, stale: FiniteDuration): FiniteDuration =
    if failures < 2 then Duration.Zero
    else ((stale max shortest min longest) * (1L << (failures - 1).min(11))) min longest
