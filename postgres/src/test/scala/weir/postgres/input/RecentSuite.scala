package weir.postgres.input

import java.io.ByteArrayInputStream
import java.nio.charset.StandardCharsets.UTF_8
import scala.util.Random
import weir.Tier
import weir.postgres.{Position, SourceLine, SqlScript}

class RecentSuite extends munit.FunSuite:
  /** The `Recent` after `text` has been read in blocks of these lengths. */
  private def read(text: Array[Byte], keepBytes: Long, lengths: Iterator[Int]): Recent =
    val recent = Recent(keepBytes)
    var from = 0
    while from < text.length do
      val length = math.min(lengths.next(), text.length - from)
      recent.append(text.slice(from, from + length), length)
      from += length
    recent

  private def inFile(text: Array[Byte], position: Position): Option[SourceLine] =
    Some(SourceLine.at(ByteArrayInputStream(text), position))

  test("every place and every line is as in the file, however it was read"):
    val seed = sys.props.get("weir.seed").fold(Random.nextLong())(_.toLong)
    val random = Random(seed)
    for _ <- 1 to Tier(4, 20) do
      val text = ("SELECT 'é€';\r\n\n" * random.nextInt(20) + "x\ty" * random.nextInt(9000))
        .getBytes(UTF_8)
      val recent = read(text, 1 << 20, Iterator.continually(1 + random.nextInt(700)))
      for at <- Seq.fill(50)(random.nextInt(text.length + 1)) do
        val place = Position(at, 1, 1)
        assertEquals(recent.lineAt(place), inFile(text, place), s"-Dweir.seed=$seed, $at")
      for number <- 1 to text.count(_ == '\n') + 1 do
        val place = Position(Position.UnknownOffset, number, 1)
        assertEquals(recent.lineAt(place), inFile(text, place), s"-Dweir.seed=$seed, $number")
      assertEquals(recent.lineAt(Position(Position.UnknownOffset, 1000, 1)), None)

  test("what was read before the last bytes is not there, and is not guessed at"):
    val text = (1 to 1000).map(i => f"row $i%05d\n").mkString.getBytes(UTF_8)
    val recent = read(text, 1000, Iterator.continually(64))
    recent.pieceEnds(text.length)
    // blocks of 64 bytes: that of the byte 9000 and those after it
    assertEquals(recent.lineAt(Position(8959, 896, 10)), None)
    assertEquals(recent.lineAt(Position(9000, 901, 1)), Some(SourceLine("", "row 00901")))
    assertEquals(recent.lineAt(Position(-1, 896, 1)), None)
    // the line 897 begins with the block
    assertEquals(recent.lineAt(Position(-1, 898, 1)), Some(SourceLine("", "row 00898")))
    assertEquals(recent.lineAt(Position(-1, 1000, 1)), Some(SourceLine("", "row 01000")))

  test("of a statement that is longer than what is kept, its beginning is there"):
    val recent = Recent(20_000)
    val begin = "SELECT 1;\nSELECT 2; SELECT 'open\n".getBytes(UTF_8)
    recent.append(begin, begin.length)
    recent.pieceEnds(19)
    for _ <- 1 to 1000 do recent.append(("z" * 99 + "\n").getBytes, 100)
    val line = SourceLine("SELECT 2; SELECT ", "'open")
    assertEquals(recent.lineAt(Position(27, 2, 18)), Some(line))
    assertEquals(recent.lineAt(Position(50_000, 600, 1)), None)
    // once it is complete, it runs, and the next one is being read
    recent.pieceEnds(begin.length + 100_000)
    for _ <- 1 to 1000 do recent.append(("y" * 99 + "\n").getBytes, 100)
    assertEquals(recent.lineAt(Position(27, 2, 18)), Some(line))

  test("a script from a stream has the lines of its errors, one from a file those of the file"):
    val text = ("SELECT 1;\n" * 10_000 + "  SELECT é").getBytes(UTF_8)
    val place = Position(100_009, 10_001, 10)
    val streamed = SqlScript.fromInputStream("s")(ByteArrayInputStream(text))
    assertEquals(streamed.lineAt(place), None)
    streamed.pieces.drain.runSync()
    assertEquals(streamed.lineAt(place), Some(SourceLine("  SELECT ", "é")))
    val path = java.nio.file.Files.createTempFile("weir-recent", ".sql")
    java.nio.file.Files.write(path, text): Unit
    val file = SqlScript.file(path)
    assertEquals(file.lineAt(place), Some(SourceLine("  SELECT ", "é")))
    java.nio.file.Files.delete(path)
    assertEquals(file.lineAt(place), None)
