package weir.postgres.psql

/** The line of a command of psql, after the backslash, each byte a character.
  *
  * @param mask
  *   replaces the bytes of each character that is none of ASCII by some that mean nothing: in the
  *   encoding of the script one of them may be a backslash
  * @param hasStandardStrings
  *   false if a backslash escapes in the strings of a query
  * @param shown
  *   returns the text that bytes are in the encoding of the script
  */
private[postgres] final case class CommandLine(
    text: String,
    mask: String => String = identity,
    hasStandardStrings: Boolean = true,
    shown: String => String = Variables.text
):
  /** The line as to its syntax. */
  val marks: String = mask(text)
