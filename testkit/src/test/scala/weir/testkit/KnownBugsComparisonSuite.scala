package weir.testkit

import java.util.concurrent.atomic.AtomicReference
import scala.concurrent.duration.*
import weir.Task
import weir.testkit.bugs.{KnownBug, KnownBugs}

/** Prints which tool finds which known bug, how soon, and how long its story is. Takes minutes, so
  * it runs only on request: `-Dweir.explore.compare=2`, with the seconds for each.
  */
class KnownBugsComparisonSuite extends munit.FunSuite:
  override def munitTimeout: Duration = 2.hours

  private val seconds = sys.props.get("weir.explore.compare").map(_.toInt)

  for limit <- seconds.map(_.seconds) do
    test("which tool finds which known bug"):
      TestRuntime.run(Task.unit) // loads the agent
      println("| bug | explore | its story | random orders | threads |")
      println("|---|---|---|---|---|")
      val rows = for bug <- KnownBugs.all yield
        val explored = explore(bug, limit)
        val random = repeat(limit)(seed => ofSeed(bug, seed))
        val threads = repeat(limit)(_ => onThreads(bug))
        val cells = List(
          bug.name,
          explored.fold("-")((millis, _) => s"$millis ms"),
          explored.fold("-")((_, lines) => s"$lines lines"),
          random.fold("-")(millis => s"$millis ms"),
          threads.fold("-")(millis => s"$millis ms")
        )
        println(cells.mkString("| ", " | ", " |"))
        cells
      def found(column: Int) = rows.count(_(column) != "-")
      println(
        s"found of ${rows.size}: explore ${found(1)}, random ${found(3)}, threads ${found(4)}"
      )
      assertEquals(found(1), rows.size)

  /** The milliseconds, and the lines of the story. */
  private def explore(bug: KnownBug, limit: FiniteDuration): Option[(Long, Int)] =
    val start = System.nanoTime()
    try
      TestRuntime.explore(ExploreLimits(time = limit))(bug.wrong): Unit
      None
    catch
      case failure: ExploreFailure =>
        Some((millisSince(start), failure.story.linesIterator.size - 4)) // head, rules, end

  /** The milliseconds until `run` fails. */
  private def repeat(limit: FiniteDuration)(run: Int => Unit): Option[Long] =
    val start = System.nanoTime()
    var count = 0
    var found = Option.empty[Long]
    while found.isEmpty && System.nanoTime() - start < limit.toNanos do
      count += 1
      try run(count)
      catch case _: Throwable => found = Some(millisSince(start))
    found

  private def millisSince(start: Long): Long = (System.nanoTime() - start) / 1_000_000

  private def ofSeed(bug: KnownBug, seed: Int): Unit =
    val runtime = TestRuntime.seeded(seed, limit = 2.seconds)
    try runtime.run(bug.wrong)
    finally runtime.close()

  private def onThreads(bug: KnownBug): Unit = bug.threads match
    case Some(twins) => runThreads(twins.wrong())
    case None => bug.wrong.timeoutAbandon(2.seconds).runSync()

  private def runThreads(program: KnownBug.Program): Unit =
    val failure = AtomicReference[Throwable]()
    val threads = program.threads.map(body =>
      Thread
        .ofPlatform()
        .daemon()
        .start(() =>
          try body()
          catch case error: Throwable => failure.compareAndSet(null, error): Unit
        )
    )
    threads.foreach { thread =>
      thread.join(2000)
      if thread.isAlive then throw AssertionError("A thread has not ended after 2 s.")
    }
    if failure.get ne null then throw failure.get
    program.after()
