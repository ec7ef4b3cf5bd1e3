package weir.postgres.protocol

import scala.collection.mutable

class ServerMessagesSuite extends munit.FunSuite:
  private def message(kind: Char, body: String): Array[Byte] =
    val bytes = new Array[Byte](5 + body.length)
    bytes(0) = kind.toByte
    Bytes.putInt(bytes, 1, body.length + 4)
    System.arraycopy(body.getBytes("ISO-8859-1"), 0, bytes, 5, body.length)
    bytes

  private final class Reader:
    val notices = mutable.ListBuffer.empty[String]
    val messages = ServerMessages(body => notices += String(body, "ISO-8859-1"))
    private val out = ByteQueue(8)

    def feed(bytes: Array[Byte], part: Int): this.type =
      bytes.grouped(part).foreach(cut => messages.feed(cut, cut.length, out))
      this

    def passed: List[Byte] = out.takeAll().toList

  private def all(parts: Array[Byte]*): Array[Byte] = parts.flatten.toArray

  private val notice = message('N', "SWARNING\u0000Mhello\u0000\u0000")
  private val error = message('E', "SERROR\u0000Mno\u0000\u0000")
  private val ready = message('Z', "I")
  private val copyIn = message('G', "\u0000\u0000\u0000")
  private val done = message('C', "COPY 3\u0000")
  private val encoding = message('S', "client_encoding\u0000UTF8\u0000")
  private val dateStyle = message('S', "DateStyle\u0000German\u0000")
  private val row = message('D', "abc")
  private val empty = message('I', "")

  /** Fed in parts of every size, `input` comes out as `passed`. */
  private def everyCut(input: Array[Byte], passed: Array[Byte], dropsRows: Boolean = false)(
      check: Reader => Unit = _ => ()
  ): Unit =
    for part <- 1 to input.length do
      val reader = Reader()
      reader.messages.dropsRows = dropsRows
      assertEquals(reader.feed(input, part).passed, passed.toList, s"in parts of $part")
      check(reader)

  test("notices and DateStyle are taken out, the rest passes as it is"):
    everyCut(
      all(notice, encoding, dateStyle, empty, row, notice, error, done, ready),
      all(encoding, empty, row, error, done, ready)
    )(reader =>
      assertEquals(reader.notices.toList, List.fill(2)("SWARNING\u0000Mhello\u0000\u0000"))
    )

  test("rows pass, but where they are dropped"):
    val copyOut = all(message('H', "\u0000"), message('d', "x"), message('c', ""))
    everyCut(
      all(message('T', "t"), row, copyOut, done, ready),
      all(done, ready),
      dropsRows = true
    )()
    everyCut(all(message('T', "t"), row, done, ready), all(message('T', "t"), row, done, ready))()

  test("a COPY is open from the server's yes to its ready, and has failed from the error on"):
    val reader = Reader()
    def state = (reader.messages.copyIsOpen, reader.messages.copyFailed)
    assertEquals(state, (false, false))
    reader.feed(copyIn, 3): Unit
    assertEquals(state, (true, false))
    reader.feed(error.init, 2): Unit
    assertEquals(state, (true, false))
    reader.feed(error.takeRight(1), 1): Unit
    assertEquals(state, (true, true))
    reader.feed(ready, 1): Unit
    assertEquals(state, (false, true))
    reader.feed(copyIn, 8): Unit
    assertEquals(state, (true, false))

  test("the last error is kept"):
    everyCut(all(error, ready), all(error, ready)) { reader =>
      assertEquals(String(reader.messages.lastError.nn), "SERROR\u0000Mno\u0000\u0000")
    }

  test("a notice of many megabytes is cut, and the next message is found"):
    val reader = Reader()
    val input = all(message('N', "M" + "x" * (8 << 20)), ready)
    // munit would compare eight million bytes line by line.
    assert(reader.feed(input, 16384).passed == ready.toList)
    assert(reader.notices.head.length < (2 << 20), reader.notices.head.length)

  test("the answer to whether the server encrypts is one byte"):
    for part <- 1 to 4 do
      val plain = Reader()
      plain.messages.expectAnswer()
      plain.feed(Array('N'.toByte), part): Unit
      assertEquals(plain.feed(all(notice, ready), part).passed, 'N'.toByte +: ready.toList)
      val encrypted = Reader()
      encrypted.messages.expectAnswer()
      encrypted.feed(Array('S'.toByte), 1): Unit
      assertEquals(encrypted.feed(notice, part).passed, 'S'.toByte +: notice.toList)
      assert(encrypted.messages.isOpaque)
      val old = Reader()
      old.messages.expectAnswer()
      assertEquals(old.feed(error, part).passed, error.toList)
