package weir.program

import scala.concurrent.duration.*

import munit.FunSuite

class DurationTextSuite extends FunSuite:
  test("units add up, with or without blanks"):
    assertEquals(DurationText.parse("--stale", "250ms"), 250.millis)
    assertEquals(DurationText.parse("--stale", "1h30m"), 90.minutes)
    assertEquals(DurationText.parse("--stale", " 2 d 3 s "), 2.days + 3.seconds)
    assertEquals(DurationText.parse("--stale", "0s"), Duration.Zero)

  test("what is no duration is refused with the option's name"):
    for text <- List("", "5", "5parsecs", "-3s", "1.5h", "s", "3650d1ms", "999999999d") do
      val bad = intercept[BadInput](DurationText.parse("--stale", text))
      assertEquals(bad.place, "--stale")
