package weir.runtime

import weir.WeirSuite

/** The counts of a JVM in which counting was requested. */
class CountersSuite extends WeirSuite:

  test("nothing is counted unless the property is set"):
    Counters.count(Counters.Slice)
    assert(!Counters.isOn)
    assertEquals(Counters.snapshot, Nil)

  test("events are counted by name, until a reset"):
    val (text, code) = WeirSuite.child("weir.runtime.Counting", "-Dweir.counters=true")
    assertEquals(code, 0, text)
    for event <- Seq("alarms set,200", "alarms removed,", "alarms rung,100", "slices,") do
      assert(text.contains(s"($event"), text)
    assert(text.contains("after a reset: List()"), text)

  test("each event has a name of its own"):
    val (text, code) = WeirSuite.child("weir.runtime.CountingAll", "-Dweir.counters=true")
    assertEquals((text.trim, code), ("36 counters, each 1", 0))
