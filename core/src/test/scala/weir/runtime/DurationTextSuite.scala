package weir.runtime

import munit.FunSuite
import scala.concurrent.duration.*
import weir.io.Text

class DurationTextSuite extends FunSuite:
  test("a duration is shown in the one or two units that matter"):
    val shown = List(
      0.seconds -> "0 ms",
      42.nanos -> "42 ns",
      250.micros -> "250 µs",
      850.millis -> "850 ms",
      5.seconds -> "5 s",
      6_120.millis -> "6.1 s",
      99_949.millis -> "99.9 s",
      99_950.millis -> "1 min 40 s",
      521.seconds -> "8 min 41 s",
      59.minutes -> "59 min",
      3_599_500.millis -> "1 h",
      90.minutes -> "1 h 30 min",
      49.hours -> "2 d 1 h",
      -3.seconds -> "-3 s"
    )
    for (duration, text) <- shown do assertEquals(Text.ofDuration(duration), text)

  test("the least number of nanoseconds is shown"):
    assertEquals(DurationText(Long.MinValue), DurationText(Long.MinValue + 1))
