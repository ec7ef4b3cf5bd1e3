package weir.cli.feeds.run

import scala.concurrent.duration.*

import weir.cli.feeds.fetch.Failure

/** How long to leave a feed alone after a check, beyond what `--stale` asks for.
  *
  * **After a failure**: the first failure counts as any check, so that a feed that was down for a
  * moment is not missed for long; each further one doubles the pause, up to a week. A server that
  * asks for a pause gets it.
  *
  * **After a success**: as long as the server or the feed says that nothing changes, up to a day.
  */
object HoldOff:
  private val shortest = 5.minutes
  private val longest = 7.days
  private val longestFresh = 1.day

  /** The pause after a success, of all that `asked` for one. */
  def fresh(asked: Iterable[FiniteDuration]): FiniteDuration =
    asked.maxOption.getOrElse(Duration.Zero) max Duration.Zero min longestFresh

  /** The pause after `failures` failures in a row, the last of which was `failure`. */
  def after(failures: Int, stale: FiniteDuration, failure: Failure): FiniteDuration =
    val doubled =
      if failures < 2 then Duration.Zero
      else ((stale max shortest min longest) * (1L << (failures - 1).min(11))) min longest
    doubled max failure.retryAfter.getOrElse(Duration.Zero)
