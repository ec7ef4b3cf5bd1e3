package weir.testkit

import scala.concurrent.duration.{DurationInt, FiniteDuration}

/** How far `TestRuntime.explore` goes.
  *
  * @param preemptions the most pre-emptions of the orders that are all gone through: first those
  * with none, then those with at most one, and so on
  * @param time the real time after which it stops
  * @param depth the depth of the bugs that random priorities look for, where all orders would take
  * too long: how many steps have to come in a certain order
  * @param seed the seed of those priorities
  * @param steps the most steps of one run: a program that takes more does not come to rest
  * @param plainFields whether plain fields and collections that the program's own classes use are
  * choice points too
  * @param inside the begins of names of classes of Weir's own, each access of which is a choice
  * point: for tests of Weir itself
  */
final case class ExploreLimits(
    preemptions: Int = 2,
    time: FiniteDuration = 8.seconds,
    depth: Int = 3,
    seed: Long = 1,
    steps: Int = 20_000,
    plainFields: Boolean = true,
    inside: List[String] = Nil
):
  require(preemptions >= 0, s"ExploreLimits: preemptions was $preemptions. It must be at least 0.")
  require(depth >= 1, s"ExploreLimits: depth was $depth. It must be at least 1.")
  require(steps >= 1, s"ExploreLimits: steps was $steps. It must be at least 1.")
