package weir.kafka.consumer

import munit.FunSuite

class ClockLooksSuite extends FunSuite:

  /** Returns the largest number of records between two looks, if each comes `micros` after the one
    * before.
    */
  private def most(records: Int, micros: Int): Int =
    var now = 0L
    val looks = ClockLooks(() => now)
    val seen = (0 until records).filter { n =>
      now = n.toLong * micros / 1000
      looks.isDue()
    }
    seen.zip(seen.tail).map((one, next) => next - one - 1).max

  test("a reader that takes a millisecond for a record looks before each"):
    assertEquals(most(100, micros = 1000), 0)

  test("one that takes a third of that looks in each second millisecond at least"):
    assert(most(1000, micros = 333) < 6)

  test("one that takes hardly any time looks before every sixteenth record"):
    assertEquals(most(100_000, micros = 1), ClockLooks.most)

  test("after a wait it looks"):
    val looks = ClockLooks(() => 0)
    while looks.isDue() do ()
    looks.waited()
    assert(looks.isDue())
