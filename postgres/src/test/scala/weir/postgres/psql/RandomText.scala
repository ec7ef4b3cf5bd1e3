package weir.postgres.psql

import java.util.regex.Matcher
import scala.util.Random

/** White space, comments, strings and names as people write them, and worse.
  *
  * @param newline
  *   of the file
  * @param characters
  *   that the file's encoding has besides ASCII
  */
final class RandomText(random: Random, newline: String, characters: Vector[String]):

  /** The text must stay on one line. */
  var oneLine = false

  def pick[A](choices: A*): A = choices(random.nextInt(choices.length))

  def chance(percent: Int): Boolean = random.nextInt(100) < percent

  def number(below: Int): Int = random.nextInt(below)

  /** SQL in which each blank of the literal is white space or a comment of any kind. The arguments
    * stay as they are.
    */
  extension (context: StringContext)
    def sql(arguments: Any*): String =
      val literals = context.parts.map(literal =>
        " ".r.replaceAllIn(literal, _ => Matcher.quoteReplacement(gap))
      )
      literals.head + arguments
        .zip(literals.tail)
        .map((argument, literal) => s"$argument$literal")
        .mkString

  /** White space or a comment that may be between two words. */
  def gap: String =
    if chance(75) then " "
    else if oneLine || chance(40) then
      pick("  ", "\t", "\f", s" $inlineComment ", inlineComment, inlineComment)
    else
      pick(newline, s"$newline  ", s"$newline$newline", "\r", s" $lineComment", s" $blockComment ")

  /** White space, comments, empty statements: what may be between two statements. */
  def betweenStatements: String =
    if chance(60) then newline
    else
      pick(
        "",
        " ",
        s"$newline$newline",
        s" $lineComment",
        s" $blockComment",
        ";",
        s"$newline;; ",
        s"\t$newline \f"
      )

  /** A comment to the end of its line. */
  def lineComment: String =
    "--" + pick(
      "",
      " it's; ",
      "/*",
      "*/",
      "$$",
      "\\",
      " \\d",
      "\"",
      " " + words(2),
      "-",
      "\\."
    ) + newline

  def inlineComment: String =
    pick(
      "/*;*/",
      "/**/",
      "/***/",
      "/*/**/*/",
      "/* it's /*;*/ \" */",
      "/*--*/",
      "/*$$*/",
      "/*\\d*/",
      "/*(*/"
    )

  private def blockComment: String =
    if chance(50) then inlineComment
    else s"/* $newline ; '$newline$newline /* ${words(2)} */ -- */"

  /** Some text with nothing in it that would end a comment. */
  private def words(most: Int): String =
    Vector
      .fill(number(most + 1))(pick("a", " ", ";", "'", "COPY t FROM STDIN;", pick(characters*)))
      .mkString

  /** The value of a string: with everything that means something outside of strings. */
  def value: String =
    val parts = Vector.fill(number(5))(
      pick(
        "a",
        " ",
        ";",
        "'",
        "\"",
        "--",
        "/*",
        "*/",
        "$$",
        "$a$",
        "$",
        "(",
        ")",
        "\\",
        "\\.",
        "\t",
        "BEGIN ATOMIC ",
        "COPY t FROM STDIN;",
        "{\"k\": 1}",
        ":x",
        pick(characters*),
        if oneLine then "b" else newline,
        if oneLine then "c" else s"$newline$newline",
        if oneLine then "d" else s"$newline\\.$newline"
      )
    )
    parts.mkString

  /** `value` as a string in one of the ways of SQL. */
  def string(value: String): String = number(8) match
    case 0 => escaped(value)
    case 1 => unicode(value)
    case 2 => dollar(value)
    case 3 if value.length > 1 && !oneLine => continued(value)
    case 4 => "N" + quoted(value)
    case _ => quoted(value)

  def string(): String = string(value)

  private def quoted(value: String) = s"'${value.replace("'", "''")}'"

  private def escaped(value: String): String =
    val quote = pick("\\'", "''")
    val text = value.replace("\\", "\\\\").replace("'", quote).replace("\t", "\\t")
    val more = if chance(50) then pick("\\n", "\\101", "\\x41", "\\u0041", "\\u00e9", "\\;") else ""
    // psql takes the second part of such a string for one without backslashes; what it has must
    // mean the same in both.
    if !oneLine && chance(30) then s"${pick("E", "e")}'$text'$newline'$more;b'"
    else s"${pick("E", "e")}'$text$more'"

  private def unicode(value: String): String =
    if chance(50) then s"U&'${value.replace("\\", "\\\\").replace("'", "''")}\\0061'"
    else s"u&'${value.replace("!", "!!").replace("'", "''")}!0061' UESCAPE '!'"

  private def dollar(value: String): String =
    val tags = Vector("", "a", "b_1", "x", "T").map(tag => s"$$$tag$$") :+ s"$$${characters.head}$$"
    // The first place at which the string closes must be its end.
    val tag = pick(tags*)
    if (value + tag).indexOf(tag) == value.length && !value.endsWith("$") then tag + value + tag
    else quoted(value)

  private def continued(value: String): String =
    val (first, second) = value.splitAt(value.length / 2)
    val between = pick(newline, s" $newline ", s"$lineComment  ", s" $newline$newline")
    s"${quoted(first)}$between${quoted(second)}"

  /** A name that no other has, in one of the ways of SQL. */
  def name(prefix: String, number: Int): String =
    val bare = s"$prefix$number"
    pick(
      bare,
      bare.toUpperCase,
      s"$bare$$",
      s"$bare$$$$x",
      s"${pick(characters*)}$bare",
      s"\"$bare;\"",
      s"\"$bare \"\" ${pick(characters*)}\"",
      s"\"$bare--\"",
      s"\"/*$bare\"",
      s"\"$bare'\"",
      s"\"$$$$$bare\"",
      s"\"$bare\\\"",
      s"\"$bare(\"",
      s"U&\"$bare\\0061;\""
    )
