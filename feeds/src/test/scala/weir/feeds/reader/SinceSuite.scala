package weir.feeds.reader

import java.time.{Instant, ZoneId}

import munit.FunSuite

import weir.program.BadInput

class SinceSuite extends FunSuite:
  private val now = Instant.parse("2026-03-01T12:00:00Z")

  private def parse(text: String) =
    Instant.ofEpochMilli(Since.parse("--since", text, now, ZoneId.of("Asia/Kolkata"))).toString

  test("a duration is that long ago"):
    assertEquals(parse("1d"), "2026-02-28T12:00:00Z")
    assertEquals(parse("1h30m"), "2026-03-01T10:30:00Z")
    assertEquals(parse("0s"), "2026-03-01T12:00:00Z")

  test("a date begins at midnight of the place, and a time may name its own offset"):
    assertEquals(parse("2026-02-20"), "2026-02-19T18:30:00Z")
    assertEquals(parse("2026-02-20T09:30"), "2026-02-20T04:00:00Z")
    assertEquals(parse("2026-02-20T09:30:00+01:00"), "2026-02-20T08:30:00Z")
    assertEquals(parse("2026-02-20T09:30:00Z"), "2026-02-20T09:30:00Z")

  test("what is neither is refused, with the option and both forms in the message"):
    for text <- Seq("", "yesterday-ish", "2026-02-30", "2026-13-01", "20260220", "-1d", "12") do
      val bad = intercept[BadInput](parse(text))
      assert(bad.getMessage.startsWith("--since: "), bad.getMessage)
      assert(bad.getMessage.contains("2026-11-20"), bad.getMessage)
    assert(intercept[BadInput](parse("5parsecs")).getMessage.startsWith("--since: "))
    assert(intercept[BadInput](parse("99999d")).getMessage.contains("too long"))
