package weir.testkit

import java.nio.file.{Files, Path}
import java.util.concurrent.atomic.AtomicInteger
import weir.{Queue, Ref, Task}
import weir.testkit.explore.Schedule

class StorySuite extends munit.FunSuite:

  private def lostUpdate: Task[Any] =
    for
      count <- Ref.of(0)
      add = count.get.flatMap(n => count.set(n + 1))
      _ <- Task.both(add, add)
      n <- count.get
    yield assert(n == 2, s"the count is $n")

  private def failure(task: => Task[Any]): ExploreFailure =
    intercept[ExploreFailure](TestRuntime.explore()(task))

  private def withSchedule[A](schedule: String)(body: => A): A =
    System.setProperty("weir.test.schedule", schedule): Unit
    try body
    finally System.clearProperty("weir.test.schedule"): Unit

  test("a story has a column for each fiber, and a line for each step with what it has seen"):
    val lines = failure(lostUpdate).story.linesIterator.toVector
    def cells(line: String) = line.trim.split("  +").toList
    val line = "StorySuite.scala:13"
    assertEquals(
      lines.slice(2, lines.length - 2).map(cells).toList.drop(1),
      List(
        List(line, "Ref 1.get → 0"),
        List("is pre-empted"),
        List(line, "Ref 1.get → 0"),
        List(line, "Ref 1.set = 1"),
        List(line, "Ref 1.set = 1"),
        List("StorySuite.scala:15", "Ref 1.get → 1")
      )
    )
    assertEquals(cells(lines(0)), List("fiber 1 (the test)", s"fiber 2, $line", s"fiber 3, $line"))
    assert(lines.last.contains("the count is 1"), lines.last)

  test("a story tells what plain code touches: variables, locks, atomics"):
    val story = failure(Task.defer {
      val n = AtomicInteger()
      Task.both(Task(n.set(n.get + 1)), Task(n.set(n.get + 1))).map(_ => assertEquals(n.get, 2))
    }).story
    assert(story.contains("AtomicInteger 1.get → 0"), story)
    assert(story.contains("AtomicInteger 1.set = 1"), story)

  test("the schedule of a failure gives the same story, a hundred times of a hundred"):
    val error = failure(lostUpdate)
    withSchedule(error.schedule) {
      for _ <- 1 to 100 do assertEquals(failure(lostUpdate).story, error.story)
    }

  test("the schedule of a failure that random priorities have found gives the same story"):
    def program = Task.defer {
      val n = AtomicInteger()
      val add = Task { for _ <- 1 to 4 do n.set(n.get + 1) }
      Task.parTraverse(1 to 3)(_ => add).map(_ => assert(n.get > 3, s"${n.get}"))
    }
    val limits = ExploreLimits(preemptions = 0)
    val found =
      try
        TestRuntime.explore(limits)(program): Unit
        None
      catch case error: ExploreFailure => Some(error)
    for error <- found do
      withSchedule(error.schedule)(assertEquals(failure(program).story, error.story))

  test("a failure writes its story as a page"):
    val folder = Files.createTempDirectory("weir-stories")
    System.setProperty("weir.test.stories", folder.toString): Unit
    try
      val error = failure(lostUpdate)
      val file = Path.of(error.getMessage.linesIterator.toList.last.stripPrefix("As a page: "))
      val page = Files.readString(file)
      assert(page.contains("<td>Ref 1.get → 0</td>"), page)
      assert(page.contains(error.schedule), page)
    finally System.clearProperty("weir.test.stories"): Unit

  test("a story is as short as can be: no pre-emption that the failure does not need"):
    val error = failure {
      for
        queue <- Queue.unbounded[Int]
        fibers <- Task.traverse(1 to 3)(n => queue.offer(n).start)
        _ <- Task.foreach(fibers)(_.join)
        first <- queue.take
      yield assert(first == 1, s"$first came first")
    }
    assertEquals(error.preemptions, 0)

  test("a program that takes random numbers of its own is told so, and where"):
    val runs = AtomicInteger() // for chance: every third run has one fiber less
    val error = intercept[AssertionError](TestRuntime.explore() {
      for
        ref <- Ref.of(0)
        n <- Task(scala.util.Random.nextInt(1) + runs.incrementAndGet())
        update = ref.update(_ + 1)
        _ <- if n % 3 == 1 then update else Task.both(update, update)
      yield ()
    })
    assert(error.getMessage.contains("differ with the same choices"), error.getMessage)
    assert(error.getMessage.contains("Random.nextInt at StorySuite.scala"), error.getMessage)

  test("where runs may differ, the report says why, and that nothing is exhaustive"):
    val report = TestRuntime.explore()(Task(java.util.UUID.randomUUID()))
    assert(!report.isExhaustive && !report.isComplete, s"$report")
    assert(report.toString.contains("UUID.randomUUID at StorySuite.scala"), s"$report")

  test("a schedule that is none is refused"):
    val error = intercept[IllegalArgumentException](Schedule.parse("5.x,"))
    assert(error.getMessage.contains("weir.test.schedule"), error.getMessage)
