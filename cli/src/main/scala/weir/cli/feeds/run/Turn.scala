package weir.cli.feeds.run

import scala.concurrent.duration.*

import weir.cli.feeds.store.DueFeed

/** A feed that a run is fetching, with the time that its tries have taken so far.
  *
  * @param tries
  *   how many have ended
  * @param service
  *   how long the server took over them
  * @param waited
  *   the back-off between them
  */
final case class Turn(
    feed: DueFeed,
    tries: Int = 0,
    service: FiniteDuration = Duration.Zero,
    waited: FiniteDuration = Duration.Zero
):
  /** From the first request to the last answer: no run can end this feed sooner. */
  def chain: FiniteDuration = service + waited

  def afterTry(took: FiniteDuration): Turn = copy(tries = tries + 1, service = service + took)

  def afterWait(wait: FiniteDuration): Turn = copy(waited = waited + wait)
