package weir.http.server

import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import weir.WeirSuite

class HandlerTimesSuite extends WeirSuite:
  private def shortAfter(times: HandlerTimes, nanos: Long, limit: Int): Option[Int] =
    (1 to limit).find { _ =>
      times.note(nanos)
      times.areShort
    }

  test("handlers are taken for short once some hundreds have been"):
    val times = HandlerTimes()
    assert(!times.areShort)
    assert(shortAfter(times, 5_000, limit = 1000).exists(_ > 100))

  test("handlers of which one in ten blocks are not short"):
    val times = HandlerTimes()
    for n <- 1 to 10_000 do
      times.note(if n % 10 == 0 then 3_000_000 else 5_000)
      assert(!times.areShort, n)

  test("a long handler among many short ones changes nothing, ten in a row do"):
    val times = HandlerTimes()
    shortAfter(times, 5_000, limit = 1000): Unit
    for n <- 1 to 10_000 do
      times.note(if n % 200 == 0 then 3_000_000 else 5_000)
      if n > 200 then assert(times.areShort, n)
    for _ <- 1 to 10 do times.note(3_000_000)
    assert(!times.areShort)

  test("one handler that may have waited for a processor changes nothing, two do"):
    val times = HandlerTimes()
    for _ <- 1 to 1000 do times.note(5_000)
    times.suspect()
    assert(times.areShort)
    for _ <- 1 to 200 do times.note(5_000)
    times.suspect()
    assert(times.areShort)
    times.suspect()
    assert(!times.areShort)
    assert(shortAfter(times, 5_000, limit = 1000).exists(_ > 100))

  test("after a handler that has kept its thread, handlers have to prove themselves again"):
    val times = HandlerTimes()
    shortAfter(times, 5_000, limit = 1000): Unit
    times.distrust()
    assert(!times.areShort)
    assert(shortAfter(times, 5_000, limit = 1000).exists(_ > 100))

  test("the second of some handlers that keep their thread for a while moves tasks to workers"):
    def keeps(times: HandlerTimes, nanos: Long): Unit =
      times.note(nanos)
      times.kept(nanos)
    for (nanos, pause, areShort) <- List(
        (1_100_000L, 40, false),
        (1_100_000L, 100, true),
        (900_000L, 1, true)
      )
    do
      val times = HandlerTimes()
      for _ <- 1 to 1000 do times.note(5_000)
      keeps(times, nanos)
      assert(times.areShort)
      for _ <- 1 to pause do times.note(5_000)
      keeps(times, nanos)
      assertEquals(times.areShort, areShort, (nanos, pause))

  test("handlers that end on other threads do not undo a loss of trust"):
    val times = HandlerTimes()
    val isOver = AtomicBoolean()
    val noted = AtomicInteger() // at least the notes that have begun
    val others = List.fill(2)(Thread.ofPlatform().start { () =>
      while !isOver.get do
        noted.incrementAndGet(): Unit
        times.note(5_000)
    })
    try
      for round <- 1 to 3000 do
        while !times.areShort do Thread.onSpinWait()
        val before = noted.get
        if round % 2 == 0 then times.distrust()
        // Two are enough, unless a note comes between them when the share is small.
        else for _ <- 1 to 3 do times.suspect()
        val areShort = times.areShort
        val since = noted.get - before
        assert(!areShort || since > 20, (round, since))
    finally
      isOver.set(true)
      others.foreach(_.join())
