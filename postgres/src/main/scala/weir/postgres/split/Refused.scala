package weir.postgres.split

import java.util.Locale

/** Finds settings after which a script could not be split as usual: a backslash would have another
  * meaning.
  */
private[postgres] object Refused:

  /** Returns the problem of a statement that begins with SET, if it has one: `SET [LOCAL | SESSION]
    * name {= | TO} value`, or `SET [LOCAL | SESSION] NAMES value`.
    */
  def problem(statement: Array[Byte]): Option[String] =
    val tokens = Tokens(statement)
    if !tokens.next() || tokens.word != "SET" || !tokens.next() then None
    else
      if tokens.word == "LOCAL" || tokens.word == "SESSION" then tokens.next(): Unit
      val name = tokens.name.toLowerCase(Locale.ROOT)
      if tokens.hasEscapes then Some(s"SET ${tokens.raw} is not supported: $escapes")
      else if name == "names" && tokens.isWord then value(tokens).flatMap(encodingOf)
      else if name == "client_encoding" && assigns(tokens) then value(tokens).flatMap(encodingOf)
      else if name == strings && assigns(tokens) then value(tokens).flatMap(stringsOf)
      else None

  /** Returns the problem of this `client_encoding`, if it has one. */
  def encoding(name: String): Option[String] =
    Option.when(trailing(name.toLowerCase(Locale.ROOT).filter(_.isLetterOrDigit)))(
      s"client_encoding $name is not supported: a byte of a character may be a backslash in it"
    )

  val hint: String =
    "Write the script anew in UTF-8, with standard strings, as pg_dump -E UTF8 of a current " +
      "server does."

  private val strings = "standard_conforming_strings"
  private val escapes = "it has escapes, which are not read here"

  private final case class Value(text: String, hasEscapes: Boolean)

  private def assigns(tokens: Tokens): Boolean =
    tokens.next() && (tokens.is('=') || tokens.word == "TO")

  /** Reads the value. Strings that follow one another are one. */
  private def value(tokens: Tokens): Option[Value] = Option.when(tokens.next()) {
    if tokens.isString then
      var value = Value(tokens.value, tokens.hasEscapes)
      while tokens.next() && tokens.isString do
        value = Value(value.text + tokens.value, value.hasEscapes || tokens.hasEscapes)
      value
    else Value(tokens.value, tokens.hasEscapes)
  }

  private def encodingOf(value: Value): Option[String] =
    if value.hasEscapes then Some(s"client_encoding ${value.text} is not supported: $escapes")
    else encoding(value.text)

  private def stringsOf(value: Value): Option[String] =
    Option.when(value.hasEscapes || !isOn(value.text))(
      s"$strings = ${value.text} is not supported"
    )

  /** Returns true for what the server takes for `on`, and for DEFAULT. It takes the beginnings of
    * `true` and `yes`, too.
    */
  private def isOn(value: String): Boolean =
    val lower = value.toLowerCase(Locale.ROOT)
    Set("on", "1", "default")(lower) ||
    lower.nonEmpty && ("true".startsWith(lower) || "yes".startsWith(lower))

  // Without dashes and such, as the server compares them.
  private val trailing = Set(
    Seq("sjis", "shiftjis", "mskanji", "win932", "windows932", "shiftjis2004", "sjis2004"),
    Seq("big5", "win950", "windows950"),
    Seq("gbk", "win936", "windows936", "gb18030"),
    Seq("uhc", "win949", "windows949", "johab")
  ).flatten
