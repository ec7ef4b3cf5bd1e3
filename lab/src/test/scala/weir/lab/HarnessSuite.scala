package weir.lab

import scala.concurrent.duration.*

class HarnessSuite extends munit.FunSuite:
  test("the median is the middle value, or the mean of the two in the middle"):
    assertEquals(Harness.median(Seq(5.0, 1.0, 100.0)), 5.0)
    assertEquals(Harness.median(Seq(4.0, 1.0, 2.0, 100.0)), 3.0)
    assertEquals(Harness.median(Seq(7.0)), 7.0)

  test("a run that takes 20 ms takes at least 20 ms"):
    val millis = Harness(10.millis, 50.millis, 3).millis(() => Thread.sleep(20))
    assert(millis >= 20, millis)

  test("a round has a run even if it is longer than the round"):
    var runs = 0
    val rate = Harness(1.nano, 1.nano, 3).opsPerSecond: () =>
      runs += 1
      Thread.sleep(5)
    assertEquals(runs, 4)
    assert(rate > 0 && rate <= 200, rate)

  test("no rounds are refused"):
    interceptMessage[IllegalArgumentException](
      "requirement failed: Harness: rounds was 0. It must be at least 1."
    )(Harness(1.second, 1.second, 0))
