package weir.postgres.split

import java.nio.charset.StandardCharsets.ISO_8859_1

/** The settings of a session that decide where the strings of a statement end.
  *
  * @param standardStrings
  *   `standard_conforming_strings`: a backslash in a plain string is an ordinary character
  * @param characters
  *   `Utf8`, or those of a client encoding in which a byte of a character may be a backslash
  */
private[postgres] final case class Reading(standardStrings: Boolean, characters: Characters):

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
    Reading(standardStrings, Characters.hidden(encoding))
