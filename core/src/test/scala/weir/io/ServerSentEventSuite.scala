package weir
package io

import java.io.IOException
import scala.concurrent.duration.*

class ServerSentEventSuite extends StreamTests:
  private def decoded(blocks: String*): List[ServerSentEvent] =
    bytesDecoded(blocks.map(_.getBytes)*)

  private def bytesDecoded(blocks: Array[Byte]*): List[ServerSentEvent] =
    Stream.fromIterable(blocks).through(ServerSentEvent.decode).toList.runSync()

  test("what was encoded is decoded, however the bytes are cut"):
    val all = List(
      ServerSentEvent("one"),
      ServerSentEvent("two\n\nlines \n", Some("kind"), Some("7"), Some(1500.millis)),
      ServerSentEvent("", id = Some("8")),
      ServerSentEvent("x\nevent: admin\ndata: forged", id = Some("8")),
      ServerSentEvent(" é: ü", id = Some("8"))
    )
    val blocks = Stream.fromIterable(all).through(ServerSentEvent.encode)
    assertEquals(blocks.through(ServerSentEvent.decode).toList.runSync(), all)
    val bytes = blocks.map(_.toList).toList.runSync().flatten
    assertEquals(bytesDecoded(bytes.map(Array(_))*), all)

  test("no end of a line in the data begins another field"):
    for end <- List("\n", "\r", "\r\n") do
      val forged = ServerSentEvent(s"x${end}event: admin${end}${end}data: y", Some("kind"))
      val bytes = Stream(forged).through(ServerSentEvent.encode).toList.runSync()
      val event = ServerSentEvent("x\nevent: admin\n\ndata: y", Some("kind"))
      assertEquals(bytesDecoded(bytes*), List(event))

  test("each end of a line, a mark at the beginning, fields without a space or a value"):
    val event = ServerSentEvent("a\nb\n", Some("x"), Some("1"))
    for end <- List("\n", "\r", "\r\n") do
      val text = s"\uFEFFevent:x${end}id: 1${end}data:a${end}data: b${end}data$end$end"
      assertEquals(decoded(text + text.drop(1)), List(event, event), end.map(_.toInt).toString)

  test("what is no event of its own is left out; its id and its time are the next one's"):
    def only(data: String) = List(ServerSentEvent(data))
    assertEquals(decoded(": comment\n\n", "event: x\n\n", "other: 1\ndata: a\n\n"), only("a"))
    assertEquals(decoded("data: a\n\ndata: cut off\n"), only("a"))
    assertEquals(decoded("data: a\n\n\uFEFFdata: no field after the first line\n\n"), only("a"))
    assertEquals(decoded("retry: 1s\nretry: ١\nretry:\nid: \u0000\ndata: a\n\n"), only("a"))
    assertEquals(decoded("event:\ndata: a\n\n"), only("a"))
    assertEquals(
      decoded("id: 1\nretry: 10\nretry: x\n\ndata: a\n\ndata: b\n\nid\ndata: c\n\n"),
      List(
        ServerSentEvent("a", id = Some("1"), retry = Some(10.millis)),
        ServerSentEvent("b", id = Some("1")),
        ServerSentEvent("c")
      )
    )

  test("a character 0 in the kind of an event, and bytes that are no UTF-8, are no errors"):
    val zero = ServerSentEvent("x", Some("a\u0000"))
    assertEquals(decoded("event: a\u0000\ndata: x\n\n"), List(zero))
    val broken = "data: ".getBytes ++ Array(0xc3.toByte) ++ "\n\n".getBytes
    assertEquals(bytesDecoded(broken, Array(0xc3.toByte)), List(ServerSentEvent("\uFFFD")))

  test("an event that is too large is an error, of one line and of many"):
    val many = Seq.fill(1 << 10)(s"data: ${"x" * 1024}\n")
    for blocks <- List(Seq(s"data: ${"x" * (1 << 20)}\n"), many) do
      intercept[IOException](decoded(blocks*)): Unit

  test("no field ends its own line, and no time is negative"):
    for text <- List("a\nb", "a\rb") do
      intercept[IllegalArgumentException](ServerSentEvent("", event = Some(text))): Unit
      intercept[IllegalArgumentException](ServerSentEvent("", id = Some(text))): Unit
    intercept[IllegalArgumentException](ServerSentEvent("", id = Some("\u0000"))): Unit
    intercept[IllegalArgumentException](ServerSentEvent("", retry = Some(-1.second))): Unit
