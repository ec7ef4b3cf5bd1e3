package weir.postgres.protocol

import java.io.{ByteArrayOutputStream, IOException, OutputStream}

class WatchedOutputSuite extends munit.FunSuite:
  private val plain = StartupPacket(Map.empty)

  test("what the driver sends for a statement is replaced, once"):
    for size <- List(0, 3, 64 << 10, (64 << 10) + 1, 1 << 20) do
      val out = ByteArrayOutputStream()
      val output = WatchedOutput(out, ServerMessages(_ => ()), plain, () => ())
      val statement = Array.fill(size)('x'.toByte)
      output.write("Q...-0".getBytes, 0, 6)
      output.flush()
      output.sendInstead(statement)
      output.write("Q...".getBytes, 0, 4)
      output.write("-0".getBytes, 0, 2)
      output.flush()
      output.write("rest".getBytes, 0, 4)
      output.flush()
      val sent = out.toByteArray
      assertEquals(String(sent.take(6)), "Q...-0")
      assertEquals(sent(6).toChar, 'Q')
      assertEquals(Bytes.int(sent, 7), size + 5)
      assert(java.util.Arrays.equals(sent.slice(11, 11 + size), statement))
      assertEquals(sent.drop(11 + size).toList, 0.toByte +: "rest".getBytes.toList)

  test("the first messages say whether an answer of one byte comes, or all is encrypted"):
    def after(writes: Array[Byte]*) =
      val messages = ServerMessages(_ => ())
      val output = WatchedOutput(ByteArrayOutputStream(), messages, plain, () => ())
      writes.foreach(bytes => output.write(bytes, 0, bytes.length))
      val out = ByteQueue(8)
      if !messages.isOpaque then messages.feed("Sxyz".getBytes, 4, out)
      messages.isOpaque
    val ask = Array[Byte](0, 0, 0, 8, 4, -46, 22, 47)
    val startup = Array[Byte](0, 0, 0, 9, 0, 3, 0, 0, 0)
    assert(after(ask))
    assert(after(ask, ask))
    assert(!after(startup))
    assert(!after(startup, ask))
    assert(after(Array[Byte](22, 3, 1)))

  test("a socket that cannot be written is told of before the driver hears it, if it can be read"):
    val startup = Array[Byte](0, 0, 0, 9, 0, 3, 0, 0, 0)
    val encrypted = Array[Byte](22, 3, 1)
    for (first, times) <- List(startup -> 1, encrypted -> 0) do
      var told = 0
      val broken = new OutputStream:
        def write(byte: Int): Unit = throw IOException("Broken pipe")
      val output = WatchedOutput(broken, ServerMessages(_ => ()), plain, () => told += 1)
      intercept[IOException](output.write(first, 0, first.length)): Unit
      assertEquals(told, times)
