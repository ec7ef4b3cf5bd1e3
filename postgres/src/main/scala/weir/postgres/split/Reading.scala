package weir.postgres.split

import java.nio.charset.Charset
import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_8}
import java.util.Locale
import weir.postgres.Encodings

/** The settings of a session that decide where the strings of a statement end, and what its text
  * is.
  *
  * @param standardStrings
  *   `standard_conforming_strings`: a backslash in a plain string is an ordinary character
  * @param characters
  *   `Utf8`, or those of a client encoding in which a byte of a character may be a backslash
  * @param encoding
  *   the name of the client encoding
  */
private[postgres] final case class Reading(
    standardStrings: Boolean,
    characters: Characters,
    encoding: String = "UTF8"
):
  private lazy val charset: Charset =
    if encoding == "SQL_ASCII" then UTF_8 else Encodings.charset(encoding)

  /** Returns true if statements end at the same places. */
  def endsAs(other: Reading): Boolean =
    standardStrings == other.standardStrings && characters == other.characters

  /** Returns the same with another client encoding, by a name that the server takes. */
  def in(encoding: String): Reading =
    copy(characters = Characters.hidden(encoding), encoding = Reading.nameOf(encoding))

  /** Returns the text that these bytes are. */
  def text(bytes: Array[Byte]): String = String(bytes, charset)

  /** Returns the text whose bytes these characters are. */
  def text(bytes: String): String = text(bytes.getBytes(ISO_8859_1))

  /** Returns a new mask for text in this encoding; null if it needs none. */
  def mask: CharacterMask | Null =
    if characters == Characters.Utf8 then null else CharacterMask(characters)

  /** Returns the text with its characters masked, if that is needed. */
  def masked(text: Array[Byte]): Array[Byte] =
    val needed = mask
    if needed eq null then text else needed.of(text, 0, text.length)

  /** Returns the text, each byte a character, with its characters masked. */
  def maskedText(text: String): String =
    if characters == Characters.Utf8 then text
    else String(masked(text.getBytes(ISO_8859_1)), ISO_8859_1)

private[postgres] object Reading:
  val standard: Reading = Reading(true, Characters.Utf8)

  def of(encoding: String, standardStrings: Boolean): Reading =
    Reading(standardStrings, Characters.hidden(encoding), nameOf(encoding))

  private def nameOf(encoding: String): String =
    if Characters.of(encoding) == Characters.Utf8 then "UTF8" else encoding.toUpperCase(Locale.ROOT)
