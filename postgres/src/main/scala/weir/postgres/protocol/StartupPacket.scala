package weir.postgres.protocol

import java.nio.charset.StandardCharsets.ISO_8859_1

/** The first message of a connection, without the settings that pgjdbc puts there and scripts do
  * not expect.
  *
  * It sets `TimeZone` to the JVM's and `DateStyle` to ISO. Under psql both are those of the server,
  * the database or the role, and a time without a zone, or a date such as 01/02/2024, means
  * something else under others. They cannot be reset later, since a reset goes back to the values
  * in this packet.
  *
  * @param settings
  *   the settings that the session begins with instead
  */
private[postgres] final class StartupPacket(settings: Map[String, String]):
  private val left = Set("TimeZone", "DateStyle", "extra_float_digits") ++ settings.keySet

  /** The packet to send. Bytes that are not a whole startup packet are returned unchanged. */
  def of(packet: Array[Byte]): Array[Byte] =
    val isWhole =
      packet.length > 8 && Bytes.int(packet, 0) == packet.length && packet(4) == 0 && packet(5) == 3
    if !isWhole then packet
    else
      // After length and version: a name and a value each, all of them ended by a zero, and one
      // more zero.
      val words = String(packet, 8, packet.length - 9, ISO_8859_1).split("\u0000", -1).dropRight(1)
      val kept = words.grouped(2).filterNot(pair => left(pair(0))).flatten
      val more = settings.iterator.flatMap((name, value) => List(name, value))
      val body = ((kept ++ more).map(_ + "\u0000").mkString + "\u0000").getBytes(ISO_8859_1)
      val anew = new Array[Byte](8 + body.length)
      Bytes.putInt(anew, 0, anew.length)
      System.arraycopy(packet, 4, anew, 4, 4)
      System.arraycopy(body, 0, anew, 8, body.length)
      anew
