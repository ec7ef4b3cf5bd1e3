package weir.csv

import java.io.IOException
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll
import weir.*

class CsvSuite extends munit.ScalaCheckSuite, WeirSuite:

  private def cut(bytes: Array[Byte], size: Int): Stream[Array[Byte]] =
    Stream.emits(bytes.grouped(size).toList)

  private def rowsOf(text: String, format: Csv.Format = Csv.Format()): List[Vector[String]] =
    cut(text.getBytes(format.charset), 2).through(Csv.rows(format)).map(_.fields).toList.runSync()

  private def failure(stream: Stream[Any]): (List[Any], String) =
    val seen = List.newBuilder[Any]
    val error = stream.evalTap(a => Task(seen += a)).drain.attempt.runSync().left.toOption.get
    assert(error.isInstanceOf[IOException], error)
    (seen.result(), error.getMessage.nn)

  private val field = Gen
    .stringOf(Gen.oneOf('a', 'é', ',', '"', '\n', '\r', ' ', ';'))
  private val records = Gen.choose(1, 4).flatMap(n => Gen.listOf(Gen.listOfN(n, field)))

  property("what is written is read again, cut anywhere") {
    forAll(records, Gen.choose(1, 9)) { (records, size) =>
      // A record of one empty field is an empty line, which is left out.
      val kept = records.filter(_ != List(""))
      val text = Stream.emits(kept).through(Csv.write()).mkString().runSync()
      val read = cut(text.getBytes("UTF-8"), size).through(Csv.rows()).map(_.fields.toList)
      assertEquals(read.toList.runSync(), kept)
    }
  }

  test("the examples of RFC 4180, and what others write"):
    val expected = List(Vector("aaa", "b\r\nbb", "c\"c"), Vector("zzz", "", "xxx"))
    assertEquals(rowsOf("\"aaa\",\"b\r\nbb\",\"c\"\"c\"\r\nzzz,,xxx\r\n"), expected)
    assertEquals(rowsOf("\uFEFFaaa,\"b\r\nbb\",\"c\"\"c\"\nzzz,,xxx"), expected)
    assertEquals(
      rowsOf("a;'b;c'\n\n\nd;e\n", Csv.Format(';', '\'')),
      List(Vector("a", "b;c"), Vector("d", "e"))
    )
    val latin = Csv.Format(charset = java.nio.charset.StandardCharsets.ISO_8859_1)
    assertEquals(rowsOf("é,ü\n", latin), List(Vector("é", "ü")))
    assertEquals(rowsOf(""), Nil)

  test("rows know their line; fields by name, and what is wrong with a name"):
    val text = "id,city\r\n1,\"New\r\nYork\"\r\n2,Bonn\r\n"
    val rows = cut(text.getBytes("UTF-8"), 3).through(Csv.named()).toList.runSync()
    assertEquals(
      rows.map(row => (row.line, row("id"), row("city"))),
      List((2L, "1", "New\r\nYork"), (4L, "2", "Bonn"))
    )
    assertEquals(rows.last.toMap, Map("id" -> "2", "city" -> "Bonn"))
    assertEquals(rows.last.get("zip"), None)
    val error = intercept[NoSuchElementException](rows.last("zip"))
    assert(
      error.getMessage.contains("'zip' in line 4") && error.getMessage.contains("id, city"),
      error
    )

  test("bad input fails in its place, and names the line"):
    def named(text: String) =
      failure(cut(text.getBytes("UTF-8"), 4).through(Csv.named()).map(_("a")))
    assertEquals(
      named("a,b\n1,2\n3\n"),
      (List("1"), "Csv: line 3: 1 fields, and 2 names in the header.")
    )
    assertEquals(named("a,b,a\n1,2,3\n"), (Nil, "Csv: line 1: the header has 'a' twice."))
    val (before, open) = named("a,b\n1,2\n3,\"4\n5")
    assertEquals(before, List("1"))
    assert(open.contains("line 3"), open)
    val long = cut(("a\n" + "b" * 100_000 + "\n").getBytes("UTF-8"), 1000)
    val (_, tooLong) = failure(long.through(Csv.rows(Csv.Format(longestField = 1000))))
    assert(tooLong.contains("line 2"), tooLong)
    val (_, malformed) = failure(Stream("a\nb".getBytes, Array[Byte](-1, 10)).through(Csv.rows()))
    assert(malformed.startsWith("Csv: "), malformed)

  test("an error of the bytes comes as it is, after the records before it"):
    val boom = Boom()
    val bytes = Stream("1,2\n3,4\n5".getBytes) ++ Stream.fail(boom)
    val seen = List.newBuilder[Long]
    val result =
      bytes.through(Csv.rows()).evalTap(row => Task(seen += row.line)).drain.attempt.runSync()
    assertEquals((result, seen.result()), (Left(boom), List(1L, 2L)))

  test("not consumed to the end, and cancelled while it waits: the bytes are closed once"):
    val closed = AtomicInteger()
    val bytes =
      (Stream("1\n2\n".getBytes) ++ Stream.never).onFinalize(Task(closed.incrementAndGet()).void)
    assertEquals(bytes.through(Csv.rows()).take(1).count.runSync(), 1L)
    assertEquals(closed.get, 1)
    val reached = CountDownLatch(2)
    val fiber =
      bytes.through(Csv.rows()).evalTap(_ => Task(reached.countDown())).drain.start.runSync()
    await(reached)
    fiber.cancel.runSync()
    assertEquals(closed.get, 2)

  test("a format that cannot be is refused"):
    for make <- List(
        () => Csv.Format('"'),
        () => Csv.Format('\n'),
        () => Csv.Format(longestField = 0)
      )
    do intercept[IllegalArgumentException](make()): Unit
