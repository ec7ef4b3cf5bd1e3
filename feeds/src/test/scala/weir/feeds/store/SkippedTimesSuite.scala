package weir.feeds.store

import java.time.{DayOfWeek, Instant}

import munit.FunSuite

class SkippedTimesSuite extends FunSuite:
  private def at(text: String) = Instant.parse(text).toEpochMilli
  private val hour = 3_600_000L

  test("an hour is skipped on every day, a day with all its hours"):
    val skips = SkippedTimes.of(Set(0, 23), Set(DayOfWeek.SUNDAY))
    assert(skips.includes(at("2026-11-26T23:59:59Z"))) // a Thursday
    assert(skips.includes(at("2026-11-27T00:00:00Z")))
    assert(!skips.includes(at("2026-11-27T01:00:00Z")))
    assert(skips.includes(at("2026-11-29T12:00:00Z")))
    assert(!skips.includes(at("2026-11-30T12:00:00Z")))

  test("the first free moment is the one asked for, or the start of a later hour"):
    val skips = SkippedTimes.of((8 to 17).toSet, Set(DayOfWeek.SATURDAY, DayOfWeek.SUNDAY))
    assertEquals(skips.firstFree(at("2026-11-26T07:12:00Z")), at("2026-11-26T07:12:00Z"))
    assertEquals(skips.firstFree(at("2026-11-26T08:12:00Z")), at("2026-11-26T18:00:00Z"))
    assertEquals(skips.firstFree(at("2026-11-28T03:12:00Z")), at("2026-11-30T00:00:00Z"))
    val most = SkippedTimes.of((0 to 22).toSet, DayOfWeek.values.toSet - DayOfWeek.MONDAY)
    assertEquals(most.firstFree(at("2026-12-01T00:00:00Z")), at("2026-12-07T23:00:00Z"))

  test("a feed that skips all hours, or all days, is not heard in that"):
    assertEquals(SkippedTimes.of((0 to 23).toSet, Set.empty), SkippedTimes.none)
    assertEquals(SkippedTimes.of(Set.empty, DayOfWeek.values.toSet), SkippedTimes.none)
    assertEquals(SkippedTimes.none.firstFree(5), 5L)

  test("each hour and each day has a bit of its own"):
    val bits = (0 to 23).map(hour => SkippedTimes.of(Set(hour), Set.empty).bits) ++
      DayOfWeek.values.map(day => SkippedTimes.of(Set.empty, Set(day)).bits)
    assertEquals(bits.map(java.lang.Long.bitCount).toSet, Set(1))
    assertEquals(bits.distinct.size, 31)
    assertEquals(SkippedTimes.nextHour(hour), 2 * hour)
