package weir.postgres.protocol

import java.nio.charset.StandardCharsets.ISO_8859_1

class StartupPacketSuite extends munit.FunSuite:
  private def packet(words: String*): Array[Byte] =
    val body = (words.map(_ + "\u0000").mkString + "\u0000").getBytes(ISO_8859_1)
    val bytes = new Array[Byte](8 + body.length)
    Bytes.putInt(bytes, 0, bytes.length)
    bytes(5) = 3
    System.arraycopy(body, 0, bytes, 8, body.length)
    bytes

  private def same(got: Array[Byte], wanted: Array[Byte]): Unit =
    assertEquals(String(got, ISO_8859_1), String(wanted, ISO_8859_1))

  private val drivers =
    packet("user", "me", "client_encoding", "UTF8", "DateStyle", "ISO", "TimeZone", "Asia/Tokyo")

  test(
    "the driver's zone and date style are left out, and what the session is to begin with is in"
  ):
    same(StartupPacket(Map.empty).of(drivers), packet("user", "me", "client_encoding", "UTF8"))
    same(
      StartupPacket(Map("client_encoding" -> "LATIN1")).of(drivers),
      packet("user", "me", "client_encoding", "LATIN1")
    )
    same(
      StartupPacket(Map("TimeZone" -> "UTC")).of(drivers),
      packet("user", "me", "client_encoding", "UTF8", "TimeZone", "UTC")
    )

  test("what is no whole startup packet stays as it is"):
    val cancel = Array[Byte](0, 0, 0, 16, 4, -46, 22, 46, 0, 0, 0, 1, 0, 0, 0, 2)
    for bytes <- List(cancel, drivers.init, Array[Byte](0, 0, 0, 8, 4, -46, 22, 47)) do
      same(StartupPacket(Map("TimeZone" -> "UTC")).of(bytes), bytes)
