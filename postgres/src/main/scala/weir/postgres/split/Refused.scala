package weir.postgres.split

import java.nio.charset.StandardCharsets.ISO_8859_1
import java.util.regex.Pattern

/** Finds settings after which a script could not be split as usual: a backslash would have another
  * meaning.
  */
private[postgres] object Refused:

  /** Returns the problem of a statement that begins with SET, if it has one. */
  def problem(statement: Array[Byte]): Option[String] =
    val text = comments.matcher(String(statement, ISO_8859_1)).replaceAll(" ")
    val matched = setting.matcher(text)
    if !matched.find() then None
    else
      val value = matched.group("value")
      if matched.group("strings") != null then
        Option.when(isFalse(value))(s"standard_conforming_strings = $value is not supported")
      else encoding(value)

  /** Returns the problem of this `client_encoding`, if it has one. */
  def encoding(name: String): Option[String] =
    Option.when(trailing(name.toLowerCase.filter(_.isLetterOrDigit)))(
      s"client_encoding $name is not supported: a byte of a character may be a backslash in it"
    )

  val hint: String =
    "Write the script anew in UTF-8, with standard strings, as pg_dump -E UTF8 of a current " +
      "server does."

  private val comments = Pattern.compile("/\\*.*?\\*/|--[^\r\n]*", Pattern.DOTALL)

  // SET [LOCAL | SESSION] name {= | TO} value, or SET [LOCAL | SESSION] NAMES value
  private val setting = Pattern.compile(
    "^\\s*set\\s+(?:(?:local|session)\\s+)?" +
      "(?:\"?(?:(?<strings>standard_conforming_strings)|client_encoding)" +
      "\"?\\s*(?:=|\\bto\\b)|names\\b)" +
      "\\s*(?:e(?='))?['\"]?(?<value>[\\w-]+)",
    Pattern.CASE_INSENSITIVE
  )

  // The server takes any beginning of a word that is not one of another, too.
  private def isFalse(value: String): Boolean =
    val lower = value.toLowerCase
    lower == "0" || lower == "of" || lower == "off" || "false".startsWith(lower) || "no".startsWith(
      lower
    )

  // Without dashes and such, as the server compares them.
  private val trailing = Set(
    Seq("sjis", "shiftjis", "mskanji", "win932", "windows932", "shiftjis2004", "sjis2004"),
    Seq("big5", "win950", "windows950"),
    Seq("gbk", "win936", "windows936", "gb18030"),
    Seq("uhc", "win949", "windows949", "johab")
  ).flatten
