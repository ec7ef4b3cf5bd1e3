package weir.testkit

import scala.concurrent.duration.{DurationInt, FiniteDuration}

/** The limits of a `TestRuntime.explore`.
  *
  * @param preemptions the largest number of pre-emptions for which all orders are run: first those
  *   without any, then those with at most one, and so on
  * @param time the real time after which it stops
  * @param depth the depth of the bugs that random priorities look for, if running all orders would
  *   take too long: the number of steps that must come in a certain order
  * @param seed the seed of those priorities
  * @param steps the largest number of steps of one run: a program that takes more counts as one
  *   that does not end
  * @param plainFields true if accesses to plain fields and collections in the program's own classes
  *   are choice points too
  * @param inside prefixes of the names of classes of Weir's own, of which each access is a choice
  *   point, those to plain fields too: for tests of Weir itself
  * @param earlyTimers true if a sleep or a timeout may end while other fibers can still run, as if
  *   their steps took that long; false if time passes only when nothing can run. With it there are
  *   many more orders, so it is for programs of a few steps.
  */
final case class ExploreLimits(
    preemptions: Int = 2,
    time: FiniteDuration = 8.seconds,
    depth: Int = 3,
    seed: Long = 1,
    steps: Int = 20_000,
    plainFields: Boolean = true,
    inside: List[String] = Nil,
    earlyTimers: Boolean = false
):
  require(preemptions >= 0, s"ExploreLimits: preemptions was $preemptions. It must be at least 0.")
  require(depth >= 1, s"ExploreLimits: depth was $depth. It must be at least 1.")
  require(steps >= 1, s"ExploreLimits: steps was $steps. It must be at least 1.")
