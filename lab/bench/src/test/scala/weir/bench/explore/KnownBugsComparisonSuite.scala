package weir.bench.explore

import scala.concurrent.duration.*
import weir.Task
import weir.testkit.bugs.{KnownBug, KnownBugs}
import weir.testkit.{ExploreFailure, ExploreLimits, TestRuntime}

/** Prints which tool finds which known bug, how soon, and how long its story is. Takes minutes, so
  * it runs only on request: `-Dweir.explore.compare=5`, with the seconds for each look.
  *
  * `-Dweir.explore.tools=explore,lincheck` runs these alone; the others are `random`, Weir's random
  * orders, and `threads`, a loop on threads.
  */
class KnownBugsComparisonSuite extends munit.FunSuite:
  override def munitTimeout: Duration = 2.hours

  private val seconds = sys.props.get("weir.explore.compare").map(_.toInt)
  private val tools =
    sys.props.getOrElse("weir.explore.tools", "explore,lincheck,random,threads").split(',').toList

  /** The milliseconds of a look, and the lines of the story; or why there is none. */
  private type Found = Either[String, (Long, Int)]

  for limit <- seconds do
    test("which tool finds which known bug"):
      val looks = for bug <- KnownBugs.all if tools.contains("lincheck") && bug.threads.nonEmpty
      yield
        val look = LincheckRuns.look(bug.name, limit)
        println(s"lincheck: ${bug.name}: $look")
        bug.name -> look
      val looksOfLincheck = looks.toMap
      TestRuntime.run(Task.unit) // loads the agent
      if tools.contains("explore") then TestRuntime.explore()(Task.unit): Unit // rewrites classes
      val rows = for bug <- KnownBugs.all yield tools.map {
        case "explore" => explore(bug, limit.seconds)
        case "random" => repeat(limit.seconds)(seed => ofSeed(bug, seed, limit))
        case "threads" => repeat(limit.seconds)(_ => onThreads(bug, limit))
        case "lincheck" =>
          looksOfLincheck.get(bug.name) match
            case None => Left("tasks")
            case Some(look) => look.toRight("-").map(found => (found.millis, found.lines))
        case other => throw IllegalArgumentException(s"There is no tool $other.")
      }
      println(tools.flatMap(tool => List(tool, "lines")).mkString("| bug | ", " | ", " |"))
      for (bug, row) <- KnownBugs.all.zip(rows) do
        val cells = row.flatMap(
          _.fold(why => List(why, ""), (millis, lines) => List(s"$millis ms", s"$lines"))
        )
        println((bug.name :: cells).mkString("| ", " | ", " |"))
      for (tool, index) <- tools.zipWithIndex do
        val column = rows.map(_(index))
        println(s"$tool: ${column.count(_.isRight)} of ${column.count(_ != Left("tasks"))}")

  private def explore(bug: KnownBug, limit: FiniteDuration): Found =
    val start = System.nanoTime()
    try
      TestRuntime.explore(ExploreLimits(time = limit))(bug.wrong): Unit
      Left("-")
    catch
      case failure: ExploreFailure =>
        Right((millisSince(start), failure.story.linesIterator.size - 4)) // head, rules, end

  /** Calls `run` until it fails. */
  private def repeat(limit: FiniteDuration)(run: Int => Unit): Found =
    val start = System.nanoTime()
    var count = 0
    var found: Found = Left("-")
    while found.isLeft && System.nanoTime() - start < limit.toNanos do
      count += 1
      try run(count)
      catch case _: Throwable => found = Right((millisSince(start), 0))
    found

  private def millisSince(start: Long): Long = (System.nanoTime() - start) / 1_000_000

  private def ofSeed(bug: KnownBug, seed: Int, limitSeconds: Int): Unit =
    val runtime = TestRuntime.seeded(seed, limit = limitSeconds.seconds)
    try runtime.run(bug.wrong)
    finally runtime.close()

  private def onThreads(bug: KnownBug, limitSeconds: Int): Unit = bug.threads match
    case Some(twins) => ThreadRuns.once(twins.wrong(), limitSeconds * 1000L)
    case None => bug.wrong.timeoutAbandon(limitSeconds.seconds).runSync()
