package weir.program

import munit.FunSuite

class ByteSizeSuite extends FunSuite:
  private def bytes(text: String): Long = ByteSize.parse("--x", text, 1, 2_000_000_000L)

  test("a size is a number with a unit of any case"):
    assertEquals(bytes("16MB"), 16_000_000L)
    assertEquals(bytes("512 kb"), 512_000L)
    assertEquals(bytes("1gb"), 1_000_000_000L)
    assertEquals(bytes("7B"), 7L)

  test("what is none, or out of range, is refused in a line that names the option"):
    for text <- List("", "16", "MB", "-1MB", "1.5MB", "0B", "3GB", "999999999999999GB") do
      val bad = intercept[BadInput](bytes(text))
      assert(bad.getMessage.startsWith("--x:"), bad.getMessage)

  test("a size without a unit is refused in a line that says which unit to write"):
    val bad = intercept[BadInput](ByteSize.parse("--max-body", "1048576", 1, 2_000_000_000L))
    assertEquals(
      bad.getMessage,
      "--max-body: '1048576' has no unit. Write 1048576B if it is bytes, or a unit such as kB or " +
        "MB behind the number."
    )

  test("a plain number counts, and one with a unit measures"):
    assertEquals(ByteSize.countOrBytes("--x", "3", 8, 1000), Left(3))
    assertEquals(ByteSize.countOrBytes("--x", "0", 8, 1000), Left(0))
    assertEquals(ByteSize.countOrBytes("--x", "3B", 8, 1000), Right(3L))
    for text <- List("9", "", "2kB", "many") do
      intercept[BadInput](ByteSize.countOrBytes("--x", text, 8, 1000)): Unit

  test("a size is shown with three digits at most"):
    assertEquals(ByteSize.show(0), "0 B")
    assertEquals(ByteSize.show(999), "999 B")
    assertEquals(ByteSize.show(1000), "1 kB")
    assertEquals(ByteSize.show(1250), "1.25 kB")
    assertEquals(ByteSize.show(12_540), "12.5 kB")
    assertEquals(ByteSize.show(105_432_000), "105 MB")
    assertEquals(ByteSize.show(5_000_000_000L), "5 GB")
    assertEquals(ByteSize.show(1_230_000_000_000L), "1.23 TB")
