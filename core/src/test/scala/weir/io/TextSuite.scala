package weir
package io

import java.io.{BufferedReader, IOException, StringReader}
import java.nio.charset.StandardCharsets
import java.nio.charset.StandardCharsets.UTF_8
import java.util.Base64
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll
import scala.jdk.CollectionConverters.*

class TextSuite extends munit.ScalaCheckSuite, StreamTests:

  override def scalaCheckTestParameters =
    super.scalaCheckTestParameters.withMinSuccessfulTests(Tier(50, 1_000))

  private val texts = Gen
    .listOf(
      Gen.frequency(
        8 -> Gen.oneOf("a", "b c", "ä", "€", "😀"),
        1 -> Gen.const("x" * 9_000),
        6 -> Gen.oneOf("\n", "\r", "\r\n", "\n\n")
      )
    )
    .map(_.mkString)
  private val sizes = Gen.oneOf(1, 2, 3, 7, 100_000)

  private def cut(bytes: Array[Byte], size: Int): Stream[Array[Byte]] =
    Stream.fromIterable(bytes.grouped(size).toList)
  private def cut(text: String, size: Int): Stream[String] =
    Stream.fromIterable(text.grouped(size).toList)
  private def all(bytes: Stream[Array[Byte]]): List[Byte] =
    bytes.toList.runSync().flatMap(_.toList)

  for charset <- List(UTF_8, StandardCharsets.UTF_16LE) do
    property(s"decode and encode, cut anywhere, are the text and its bytes: $charset") {
      forAll(texts, sizes) { (text, size) =>
        val bytes = text.getBytes(charset)
        assertEquals(Text.decode(charset)(cut(bytes, size)).toList.runSync().mkString, text)
        assertEquals(all(Text.encode(charset)(cut(text, size))), bytes.toList)
      }
    }

  property("utf8Decode leaves out the mark at the beginning alone") {
    forAll(texts, sizes) { (text, size) =>
      for (mark, expected) <- List("" -> text, "\uFEFF" -> text, "\uFEFF\uFEFF" -> s"\uFEFF$text")
      do
        val bytes = (mark + text).getBytes(UTF_8)
        assertEquals(Text.utf8Decode(cut(bytes, size)).toList.runSync().mkString, expected)
    }
  }

  test("decode keeps the mark"):
    val text = "\uFEFFa"
    assertEquals(Text.decode(UTF_8)(cut(text.getBytes(UTF_8), 2)).toList.runSync().mkString, text)

  test("a half of a surrogate pair without the other is replaced"):
    assertEquals(all(Text.utf8Encode(Stream("a\ud83d", "b", "\ud83d"))), "a?b?".getBytes.toList)

  test("malformed bytes fail in their place"):
    for tail <- List(Array[Byte](), "z".getBytes); size <- List(1, 100) do
      val bytes = "ab€".getBytes(UTF_8) ++ "€".getBytes(UTF_8).take(2) ++ tail
      val result = seen(Text.utf8Decode(cut(bytes, size))).runSync()
      assertEquals(result.collect { case text: String => text }.mkString, "ab€")
      result.last match
        case error: IOException =>
          assert(error.getMessage.contains("after the first 5"), error.getMessage)
        case other => fail(s"$other")

  property("lines are those that a BufferedReader has, wherever the text is cut") {
    forAll(texts, sizes) { (text, size) =>
      val expected = BufferedReader(StringReader(text)).lines.iterator.asScala.toList
      assertEquals(Text.lines(cut(text, size)).toList.runSync(), expected)
    }
  }

  test("a line over the limit fails in its place, before its end has come"):
    val text = "abc\nabcd\r\nabcde"
    for size <- List(1, 2, 100) do
      seen(Text.linesOfAtMost(4)(cut(text, size) ++ Stream.never)).runSync() match
        case List("abc", "abcd", error: IOException) =>
          assert(error.getMessage.contains("line 3 is longer than 4"), error.getMessage)
        case other => fail(other.toString)
    intercept[IllegalArgumentException](Text.linesOfAtMost(0)): Unit

  private val bytes = Gen.listOf(Gen.choose(Byte.MinValue, Byte.MaxValue)).map(_.toArray)

  property("base64 and hex there and back, cut anywhere") {
    forAll(bytes, sizes) { (bytes, size) =>
      val base64 = Base64.getEncoder.encodeToString(bytes)
      val hex = bytes.map(b => f"${b & 0xff}%02x").mkString
      assertEquals(Text.base64Encode(cut(bytes, size)).toList.runSync().mkString, base64)
      assertEquals(Text.hexEncode(cut(bytes, size)).toList.runSync().mkString, hex)
      assertEquals(all(Text.base64Decode(cut(base64, size))), bytes.toList)
      assertEquals(
        all(Text.base64Decode(cut(base64.stripSuffix("=").stripSuffix("="), size))),
        bytes.toList
      )
      assertEquals(all(Text.hexDecode(cut(hex, size))), bytes.toList)
    }
  }

  test("what is no base64 or no hex fails in its place"):
    for
      decoded <- List(
        Text.base64Decode(Stream("YWJj", "YW!j")),
        Text.hexDecode(Stream("616263", "6x"))
      )
      odd = Text.hexDecode(Stream("616263", "6"))
      stream <- List(decoded, odd)
    do
      seen(stream).runSync() match
        case List(abc: Array[Byte], error: IOException) =>
          assertEquals(String(abc, UTF_8), "abc")
          assert(error.getMessage.contains("the text is not"), error.getMessage)
        case other => fail(other.toString)

  test("base64 after its padding fails, wherever it is cut"):
    for size <- List(1, 4, 100) do
      val result = seen(Text.base64Decode(cut("YQ==YQ==", size))).runSync()
      assert(result.last.isInstanceOf[IOException], s"$result")

  test("an error upstream comes after what was complete before it; upstream is closed once"):
    val boom = Boom()
    val log = Log()
    val source = log.resource("bytes")(Stream("a\nb".getBytes(UTF_8)) ++ Stream.fail(boom))
    assertEquals(seen(Text.lines(Text.utf8Decode(source))).runSync(), List("a", boom))
    assertEquals(log.lines, List("+bytes", "-bytes"))
    assertEquals(Text.lines(Text.utf8Decode(source)).take(1).toList.runSync(), List("a"))
    assertEquals(log.lines.size, 4)
    log.assertNested()
