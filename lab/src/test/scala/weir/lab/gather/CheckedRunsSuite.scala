package weir.lab.gather

import scala.concurrent.duration.*

class CheckedRunsSuite extends munit.FunSuite:
  test("the rate of runs that take 2 ms is at most 500 a second"):
    val end = CheckedRuns(1, () => { Thread.sleep(2); 1L }).rate(50.millis)
    assert(end > 1 && end <= 500, end)

  test("one run is made even if it takes longer than the time"):
    var runs = 0
    val rate = CheckedRuns(1, () => { runs += 1; Thread.sleep(20); List(1) }).rate(1.milli)
    assertEquals(runs, 1)
    assert(rate > 0 && rate <= 50, rate)

  test("every run is checked, also one in the middle of a batch"):
    var runs = 0
    val checked = CheckedRuns(2, () => { runs += 1; if runs == 1001 then List(1) else List(1, 1) })
    val error = intercept[IllegalStateException](checked.rate(10.seconds))
    assertEquals(error.getMessage, "a run added up to 1, not to 2")

  test("the time that the check takes does not count"):
    val slowToAdd = new Iterable[Int]:
      def iterator: Iterator[Int] =
        Thread.sleep(20)
        Iterator(1)
    val rate = CheckedRuns(1, () => slowToAdd).rate(100.millis)
    assert(rate > 1000, rate)
