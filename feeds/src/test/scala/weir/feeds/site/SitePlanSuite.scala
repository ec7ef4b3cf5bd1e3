package weir.feeds.site

import munit.FunSuite

class SitePlanSuite extends FunSuite:
  test("a seed gives the same site every time, and another seed another"):
    assertEquals(SitePlan.make(1, 500, 1), SitePlan.make(1, 500, 1))
    assertNotEquals(SitePlan.make(1, 500, 1), SitePlan.make(2, 500, 1))

  test("there is every kind of feed, and most are good"):
    val kinds = SitePlan.make(1, 500, 1).feeds.groupBy(_.kind).view.mapValues(_.size).toMap
    assertEquals(kinds.keySet, Kind.values.toSet - Kind.Large)
    assertEquals(kinds.values.sum, 500)
    assert(kinds(Kind.Plain) > 300)

  test("large feeds take the places of good ones, and change no other"):
    val plain = SitePlan.make(1, 500, 1).feeds
    val large = SitePlan.make(1, 500, 1, large = 50).feeds
    val changed = plain.zip(large).filter(_ != _)
    assertEquals(changed.size, 50)
    for (before, after) <- changed do
      assertEquals((before.kind, after), (Kind.Plain, before.copy(kind = Kind.Large)))

  test("latencies are from 10 to 2,000 ms, divided by the speed"):
    val latencies = SitePlan.make(1, 500, 1).feeds.map(_.latencyMillis)
    assert(latencies.min >= 10 && latencies.max <= 2000)
    assert(latencies.max > 1900)
    assert(SitePlan.make(1, 500, 10).feeds.map(_.latencyMillis).max <= 200)
