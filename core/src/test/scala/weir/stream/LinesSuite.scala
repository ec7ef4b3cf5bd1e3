package weir
package stream

import java.io.{BufferedReader, IOException, StringReader}
import java.nio.charset.{Charset, StandardCharsets}
import java.nio.file.Files
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll
import scala.jdk.CollectionConverters.*

class LinesSuite extends munit.ScalaCheckSuite, StreamTests:

  private def linesOf(bytes: Array[Byte], charset: Charset): List[String | Throwable] =
    val file = Files.createTempFile("weir", ".txt")
    try
      Files.write(file, bytes): Unit
      seen(Stream.linesOf(file, charset)).runSync()
    finally Files.delete(file)

  private val texts = Gen.listOf(
    Gen.frequency(
      4 -> Gen.oneOf("a", "b c", "ä", "€", "😀", "x" * 70_000),
      3 -> Gen.oneOf("\n", "\r", "\r\n", "\n\n")
    )
  )

  for charset <- List(StandardCharsets.UTF_8, StandardCharsets.UTF_16LE) do
    property(s"the lines that a BufferedReader has, $charset") {
      forAll(texts) { parts =>
        val text = parts.mkString
        val expected = BufferedReader(StringReader(text)).lines.iterator.asScala.toList
        assertEquals(linesOf(text.getBytes(charset), charset), expected)
      }
    }

  test("characters and ends of lines that lie across the blocks, at each offset"):
    for offset <- 65530 to 65540; end <- List("\n", "\r", "\r\n") do
      val text = "x" * offset + "€" + end + "😀" + end
      val expected = List("x" * offset + "€", "😀")
      assertEquals(linesOf(text.getBytes(StandardCharsets.UTF_8), StandardCharsets.UTF_8), expected)

  for
    (what, bytes) <- List(
      "a byte that no character begins with" -> Array[Byte](-1),
      "a character that ends too early" -> "€".getBytes(StandardCharsets.UTF_8).take(2)
    )
    tail <- List("", "z\n")
  do
    test(s"$what fails in its place, with the number of its line, ${
        if tail.isEmpty then "last" else "not last"
      }"):
      val text = "one\ntwo\nthr".getBytes(StandardCharsets.UTF_8) ++ bytes ++ tail.getBytes
      linesOf(text, StandardCharsets.UTF_8) match
        case List("one", "two", error: IOException) =>
          assert(
            error.getMessage.contains(".txt, line 3: the bytes are not valid UTF-8."),
            error.getMessage
          )
        case other => fail(other.toString)
