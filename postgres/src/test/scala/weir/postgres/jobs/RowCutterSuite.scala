package weir.postgres.jobs

import scala.util.Random
import weir.postgres.{Piece, ScriptLimits}
import weir.postgres.split.Splitter
import weir.{Tier, WeirSuite}

class RowCutterSuite extends WeirSuite:

  /** The chunks of `body`, fed in slices that end at `cuts`, with their rows. `told`: what is known
    * of slices without a backslash is said.
    */
  private def chunks(
      body: String,
      size: Long,
      cuts: Seq[Int],
      told: Boolean = false
  ): List[(String, Long)] =
    val bytes = body.getBytes("ISO-8859-1")
    val cutter = RowCutter(size)
    val found = List.newBuilder[(String, Long)]
    var begun = 0
    for Seq(from, until) <- (0 +: cuts :+ bytes.length).sliding(2) do
      var at = from
      val slice = body.substring(from, until)
      cutter.expect(if told && !slice.contains('\\') then slice.count(_ == '\n') else -1)
      while at < until do
        at = cutter.next(bytes, at, until)
        if cutter.chunkEnded then
          found += ((body.substring(begun, at), cutter.rows))
          begun = at
    if begun < bytes.length then found += ((body.substring(begun), cutter.rows))
    found.result()

  /** The same, byte by byte. */
  private def plainly(body: String, size: Long): List[(String, Long)] =
    val found = List.newBuilder[(String, Long)]
    var begun = 0
    var marked = false
    var (rows, i) = (0L, 0)
    while i < body.length do
      if body(i) == '\\' then
        if body.startsWith(".", i + 1) then marked = true
        i += 1
      else if body(i) == '\n' then
        rows += 1
        if i + 1 - begun >= size && !marked then
          found += ((body.substring(begun, i + 1), rows))
          begun = i + 1
          rows = 0
      i += 1
    if begun < body.length then found += ((body.substring(begun), rows))
    found.result()

  test("a chunk ends at the first row end at or after its size"):
    assertEquals(
      chunks("a\nbb\nccc\nd\n", 3, Nil).map(_._1),
      List("a\nbb\n", "ccc\n", "d\n")
    )
    assertEquals(chunks("a\nb\n", 2, Nil).map(_._1), List("a\n", "b\n"))
    assertEquals(chunks("a\nb\n", 1, Nil).map(_._1), List("a\n", "b\n"))

  test("a newline after an odd number of backslashes ends no row"):
    assertEquals(
      chunks("a\\\nb\nc\\\\\nd\\\\\\\ne\n", 1, Nil),
      List(("a\\\nb\n", 1L), ("c\\\\\n", 1L), ("d\\\\\\\ne\n", 1L))
    )

  test("after an end-of-copy marker within the data nothing is cut"):
    assertEquals(
      chunks("a\nb\\\\.\nc\\.\nd\ne\n", 1, Nil),
      List(("a\n", 1L), ("b\\\\.\n", 1L), ("c\\.\nd\ne\n", 3L))
    )

  test("bytes above 127, and bytes one beside newline and backslash, end nothing"):
    val body = "\u00ff\u008a\u00dc\u000b\u0009\u005b\u005d\u000a"
    assertEquals(chunks(body * 3, 1, Nil).map(_._1), List.fill(3)(body))

  test("a body with no newline is one chunk, in memory that does not grow"):
    assertEquals(chunks("a\rb\rc\r", 1, Seq(2, 4)), List(("a\rb\rc\r", 0L)))

  test("chunks do not depend on how the body is cut"):
    val seed = Tier.seed("weir.test.seed")
    val random = Random(seed)
    val rounds = Integer.getInteger("weir.sql.rounds", 2000)
    for round <- 1 to rounds do
      val letters = random.shuffle("\\\\\n\nab.".toList ++ List.fill(random.nextInt(30))('x'))
      val body = String(Array.fill(random.nextInt(200))(letters(random.nextInt(letters.size))))
      val size = 1 + random.nextInt(40)
      val cuts = Seq.fill(random.nextInt(6))(random.nextInt(body.length + 1)).sorted
      for told <- List(false, true) do
        assertEquals(
          chunks(body, size, cuts, told),
          plainly(body, size),
          s"seed $seed, round $round, cuts $cuts, size $size, told $told, ${body.toSeq}"
        )

  test("every cut of a body with every kind of row gives the same chunks"):
    val body = "one\ttwo\n\\N\t\\\\\nthree\\\nfour\n\n\\\\\\\nx\n0123456789abcdef\n"
    for
      size <- 1 to 20
      cut <- 0 to body.length
    do assertEquals(chunks(body, size, Seq(cut)), plainly(body, size), s"$size $cut")

  test("the splitter tells how many newlines data has in which nothing is escaped"):
    val splitter = Splitter("s.sql", ScriptLimits.default)
    val told =
      List("COPY t FROM STDIN;\n", "one\ntwo\nth", "ree\n" * 5, "a\\tb\n", "\\.\n").flatMap:
        block =>
          splitter.feed(block.getBytes, block.length)
          Iterator.continually(splitter.next()).takeWhile(_ ne null).toList
    assertEquals(
      told.collect { case data: Piece.CopyData => data.plainNewlines },
      List(2, 5, -1)
    )
