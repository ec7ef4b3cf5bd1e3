package weir.feeds.input

import java.io.ByteArrayOutputStream
import java.nio.charset.StandardCharsets.UTF_8

/** Percent-encodes the characters that an address may not contain.
  *
  * After the WHATWG URL standard, which says what browsers send. Two differences: `|`, `[` and `]`
  * in a path, and `^`, a backtick, `{`, `|` and `}` in a query are encoded, since the JDK refuses
  * them; so is a `%` that no two hexadecimal digits follow. Valid `%XX` stay as they are.
  */
private[input] object PercentCode:
  private val alphanumeric = ('a' to 'z').toSet ++ ('A' to 'Z') ++ ('0' to '9')

  private val inPath = alphanumeric ++ "-._~!$&'()*+,;=:@/"
  private val inQuery = inPath ++ "?[]"

  def path(text: String): String = encode(text, inPath)

  def query(text: String): String = encode(text, inQuery)

  /** `text` with each `%XX` decoded as a byte of UTF-8. */
  def decode(text: String): String =
    val bytes = text.getBytes(UTF_8)
    val out = ByteArrayOutputStream()
    var at = 0
    while at < bytes.length do
      if isCode(bytes, at) then
        out.write(Integer.parseInt(String(bytes, at + 1, 2, UTF_8), 16))
        at += 3
      else
        out.write(bytes(at).toInt)
        at += 1
    out.toString(UTF_8)

  private def encode(text: String, kept: Set[Char]): String =
    val bytes = text.getBytes(UTF_8)
    val out = StringBuilder()
    for at <- bytes.indices do
      val char = (bytes(at) & 0xff).toChar
      if kept(char) || isCode(bytes, at) then out += char
      else out ++= f"%%${bytes(at) & 0xff}%02X"
    out.toString

  private def isCode(bytes: Array[Byte], at: Int): Boolean =
    bytes(at) == '%' && at + 2 < bytes.length && isHex(bytes(at + 1)) && isHex(bytes(at + 2))

  private def isHex(byte: Byte): Boolean = Character.digit(byte.toInt, 16) >= 0
