package weir.feeds.run

import scala.concurrent.duration.*

import munit.FunSuite

class BoundSuite extends FunSuite:
  test("the bound is the longest chain, or all answers over the places, whichever is longer"):
    assertEquals(Bound(5.seconds, 100.seconds, 10).time, 10.seconds)
    assertEquals(Bound(15.seconds, 100.seconds, 10).time, 15.seconds)
    assertEquals(Bound(5.seconds, 100.seconds, 10).ratio(12.seconds), 1.2)
