package weir.testkit.explore

import java.util.concurrent.atomic.AtomicInteger
import weir.Task
import weir.testkit.{Constructs, TestRuntime}

/** Code that is rewritten does what it did before. */
class RewritingSuite extends munit.FunSuite:
  private val expected = List(
    "[1, 8, 10.0, 7]",
    "[3, 5, 3, true, 3, 6]",
    "xxzin",
    "24",
    "40",
    "13",
    "planned115",
    "green2Point[x=1, y=2]",
    "5",
    "12",
    "6"
  )

  test("Java code of many forms has the same result in each order"):
    val report = TestRuntime.explore() {
      Task(Constructs.all().toArray.toList.map(_.toString)).map(assertEquals(_, expected))
    }
    assert(report.isComplete, s"$report")
    val failed = Instrumentation.failures.keySet.filter(_.startsWith("weir/testkit/"))
    assertEquals(failed, Set.empty[String])

  private trait Counts:
    private var count = 0
    lazy val first: Int = { count += 1; count }
    def next(): Int = { count += 1; count }

  private final class Counter(start: AtomicInteger) extends Counts:
    val begun: Int = start.getAndAdd(10)
    private val cells = Array.tabulate(2, 2)((i, j) => i + j + begun)
    def sum(by: Long): Long =
      cells(1)(1) += by.toInt
      cells.map(_.sum.toLong).sum + (if by > 1 then sum(by - 1) else 0L)

  test("Scala code of many forms has the same result in each order"):
    val report = TestRuntime.explore() {
      Task {
        val counter = Counter(AtomicInteger(1))
        val text = ("a", counter.next()) match
          case ("a", n) if n == 1 => s"one ${counter.first}"
          case (other, n) => s"$other $n"
        val caught =
          try counter.synchronized(if counter.begun == 1 then sys.error("planned") else "none")
          catch case error: RuntimeException => error.getMessage
        (text, counter.sum(3), caught)
      }.map(assertEquals(_, ("one 2", 38L, "planned")))
    }
    assert(report.isComplete, s"$report")
