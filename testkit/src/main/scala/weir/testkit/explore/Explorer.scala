package weir.testkit.explore

import scala.concurrent.duration.{DurationInt, DurationLong, FiniteDuration}
import weir.Task
import weir.testkit.{ExploreFailure, ExploreLimits, ExploreReport}

/** One exploration: runs a program in one order after the other until one fails, all have been run,
  * or the time is over.
  *
  * It runs first all orders without pre-emptions, then all with at most one, and so on. So a
  * failure that is found has as few pre-emptions as possible. If the time would be over before that
  * is done, the rest of it is used for random priorities.
  */
private[explore] final class Explorer(
    execution: Execution,
    program: () => Task[Any],
    limits: ExploreLimits
):
  private val start = System.nanoTime()
  private val end = start + limits.time.toNanos
  private val endOfSearch = start + limits.time.toNanos / 10 * 6

  /** The number of orders of the latest search. */
  private var orders = 0L

  /** The most yields in a row of a strand in the orders that were run; none for no limit. */
  private var yields: Option[Int] = None
  private var probability = 0.0
  private var steps = 0
  private var strands = 0

  def explore(): ExploreReport =
    Schedule.wanted match
      case Some(choices) => replay(choices)
      case None =>
        run(Replay(Nil)): Unit // the first run loads classes, and initializes objects
        search()

  private def took: FiniteDuration = (System.nanoTime() - start).nanos

  private def run(strategy: Strategy): Run =
    val run = execution.run(program, strategy, null)
    steps = math.max(steps, run.steps)
    strands = math.max(strands, run.strands)
    run

  private def check(run: Run): Unit =
    orders += 1
    if run.failure ne null then throw told(run)

  // ---- strategies ----

  private def search(): ExploreReport =
    var bound = 0
    var covered = -1
    var isComplete = false
    var coveredOrders = 0L
    while bound <= limits.preemptions && covered == bound - 1 && !isComplete do
      val search = BoundedSearch(bound)
      if exhaust(search) then
        covered = bound
        coveredOrders = orders
        isComplete = !search.isCut
        yields = Option.when(search.isHeldBack)(search.yieldsInRow)
      bound += 1
    if yields.nonEmpty then for more <- moreYields(covered) do coveredOrders = more
    if isComplete || covered == limits.preemptions then
      report(covered, coveredOrders, isComplete, 0)
    else report(covered, coveredOrders, isComplete, random())

  /** Returns the number of orders in which a strand may yield more often, if there is time to run
    * them. A loop that yields may have infinitely many: so there is about as much time again as was
    * needed before.
    */
  private def moreYields(bound: Int): Option[Long] =
    val end = math.min(endOfSearch, System.nanoTime() + took.max(500.millis).toNanos)
    var found: Option[Long] = None
    var goesOn = true
    while goesOn && yields.exists(_ < Explorer.mostYields) do
      val search = BoundedSearch(bound, yieldsInRow = yields.get * 2)
      goesOn = exhaust(search, end)
      if goesOn then
        found = Some(orders)
        yields = Option.when(search.isHeldBack)(search.yieldsInRow)
    found

  /** Runs the orders of `search`. Returns true once all have been run. */
  private def exhaust(search: BoundedSearch, end: Long = endOfSearch): Boolean =
    var more = true
    orders = 0
    while more && System.nanoTime() < end do
      val run = this.run(search)
      search.ended(run.steps)
      check(run)
      for (step, what) <- Option(search.divergence) do throw disobeys(step, what)
      more = search.next()
    !more

  /** Runs orders of random priorities, and returns their number. */
  private def random(): Long =
    val strategy = RandomPriorities(limits.seed, limits.depth)
    orders = 0
    while System.nanoTime() < end do
      strategy.begin(steps)
      check(run(strategy))
    probability = strategy.probability(orders, strands, steps)
    orders

  private def report(
      covered: Int,
      coveredOrders: Long,
      isComplete: Boolean,
      random: Long
  ): ExploreReport =
    val differs = NotCovered.byName(execution)
    ExploreReport(
      coveredOrders,
      isExhaustive = differs.isEmpty && (isComplete || covered == limits.preemptions),
      isComplete = differs.isEmpty && isComplete && yields.isEmpty,
      covered,
      yields,
      random,
      limits.depth,
      probability,
      strands,
      steps,
      took,
      differs,
      NotCovered(execution)
    )

  // ---- failures ----

  private def told(run: Run): ExploreFailure =
    val smallest = Smaller(execution, program, run)
    ExploreFailure.of(smallest, Story.of(execution, program, smallest))

  private def replay(choices: Vector[(Int, Int)]): ExploreReport =
    run(Replay(Nil)): Unit // as above
    val strategy = Replay(choices)
    val again = run(strategy)
    if strategy.misfits > 0 then
      throw disobeys(again.steps, s"${strategy.misfits} choices of the schedule were not possible")
    if again.failure ne null then
      throw ExploreFailure.of(again, Story.of(execution, program, again))
    orders = 1
    report(-1, 1, isComplete = false, 0)

  private def disobeys(step: Int, what: String): AssertionError =
    AssertionError(
      s"Two runs of the program differ with the same choices: at step $step $what. Create the " +
        "objects that the program uses inside of the task, take random numbers from a seed, and " +
        "start no platform threads." +
        NotCovered.byName(execution).map(line => s"\n  $line").mkString
    )

private[explore] object Explorer:
  /** A loop that yields more often in a row waits for another strand, it is supposed. */
  private inline val mostYields = 64
