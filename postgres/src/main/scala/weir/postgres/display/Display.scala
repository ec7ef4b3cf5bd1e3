package weir.postgres.display

import java.util.Locale
import weir.postgres.psql.{CommandProblem, Special, Variables}

/** The settings of psql's `\pset`, of those formats that are printed here. */
private[postgres] final case class Display(
    format: Display.Format = Display.Format.Aligned,
    border: Int = 1,
    expanded: Display.Expanded = Display.Expanded.Off,
    tuplesOnly: Boolean = false,
    hasFooter: Boolean = true,
    nullText: String = "",
    fieldSeparator: String = "|",
    recordSeparator: String = "\n",
    csvSeparator: Char = ',',
    title: Option[String] = None,
    columns: Int = 0,
    groupsDigits: Boolean = false,
    styleName: String = "ascii",
    unicode: LineStyle.Unicode = LineStyle.Unicode()
):
  import Display.*

  def style: LineStyle = styleName match
    case "ascii" => LineStyle.ascii
    case "old-ascii" => LineStyle.oldAscii
    case _ => LineStyle.unicode(unicode)

  /** Returns the text that is shown for a value. */
  private[display] def textOf(value: String | Null, isNumber: Boolean): String =
    if value eq null then nullText
    else if groupsDigits && isNumber then Display.grouped(value)
    else value

  /** Returns the settings after `\pset name value`. **Fails** with a `CommandProblem` if psql would
    * not take it.
    */
  def set(name: String, value: Option[String]): Display = name match
    case "format" => value.fold(this)(word => copy(format = formatOf(word)))
    case "border" => value.fold(this)(text => copy(border = number(text)))
    case "x" | "expanded" | "vertical" => copy(expanded = expandedOf(value))
    case "t" | "tuples_only" => copy(tuplesOnly = toggled(name, value, tuplesOnly))
    case "footer" => copy(hasFooter = toggled(name, value, hasFooter))
    case "null" => value.fold(this)(text => copy(nullText = text))
    case "fieldsep" => value.fold(this)(text => copy(fieldSeparator = text))
    case "fieldsep_zero" => copy(fieldSeparator = "\u0000")
    case "recordsep" => value.fold(this)(text => copy(recordSeparator = text))
    case "recordsep_zero" => copy(recordSeparator = "\u0000")
    case "csv_fieldsep" => value.fold(this)(text => copy(csvSeparator = csvSeparatorOf(text)))
    case "C" | "title" => copy(title = value)
    case "columns" => value.fold(this)(text => copy(columns = number(text)))
    case "linestyle" => value.fold(this)(word => copy(styleName = oneOf(name, word, styles)))
    case "unicode_border_linestyle" => lines(name, value)(is => unicode.copy(border = is))
    case "unicode_column_linestyle" => lines(name, value)(is => unicode.copy(column = is))
    case "unicode_header_linestyle" => lines(name, value)(is => unicode.copy(header = is))
    case "numericlocale" => copy(groupsDigits = toggled(name, value, groupsDigits))
    case "pager" | "pager_min_lines" | "T" | "tableattr" => this
    case _ =>
      throw CommandProblem(
        s"\\pset: unknown option: ${Variables.bytes(name)}",
        "psql 15 has no such option."
      )

  private def lines(name: String, value: Option[String])(
      changed: Boolean => LineStyle.Unicode
  ): Display =
    value.fold(this): word =>
      copy(unicode = changed(oneOf(name, word, List("single", "double")) == "double"))

  private def expandedOf(value: Option[String]): Expanded = value match
    case None => if expanded == Expanded.Off then Expanded.On else Expanded.Off
    case Some(word) if word.equalsIgnoreCase("auto") => Expanded.Auto
    case Some(word) => if bool("expanded", word) then Expanded.On else Expanded.Off

private[postgres] object Display:
  enum Format:
    case Aligned, Wrapped, Unaligned, Csv

    /** A format of psql that is not printed here. */
    case Other(name: String)

  enum Expanded:
    case Off, On, Auto

  private val formats =
    List("aligned", "asciidoc", "csv", "html", "latex", "troff-ms", "unaligned", "wrapped")
  private val styles = List("ascii", "old-ascii", "unicode")

  private def formatOf(word: String): Format = oneOf("format", word, formats) match
    case "aligned" => Format.Aligned
    case "wrapped" => Format.Wrapped
    case "unaligned" => Format.Unaligned
    case "csv" => Format.Csv
    case other => Format.Other(other)

  /** The word that begins so; psql takes the beginning of a word for it. */
  private def oneOf(name: String, begin: String, words: List[String]): String =
    words.filter(_.startsWith(begin.toLowerCase(Locale.ROOT))) match
      case List(one) => one
      case _ =>
        throw CommandProblem(
          s"\\pset: \"${Variables.bytes(begin)}\" is no value of $name",
          s"It takes: ${words.mkString(", ")}."
        )

  private def toggled(name: String, value: Option[String], before: Boolean): Boolean =
    value.fold(!before)(bool(name, _))

  private def bool(name: String, word: String): Boolean =
    Special
      .boolean(word)
      .getOrElse(
        throw CommandProblem(
          s"\\pset: \"${Variables.bytes(word)}\" is no value of $name",
          "It takes: on, off."
        )
      )

  /** Returns the number with a comma after each three digits, as psql does without a locale. */
  private def grouped(number: String): String =
    val digits = number.dropWhile(c => c == '-' || c == '+').takeWhile(_.isDigit)
    val at = number.indexOf(digits)
    val groups = digits.reverse.grouped(3).map(_.reverse).toVector.reverse.mkString(",")
    number.take(at) + groups + number.drop(at + digits.length)

  /** The number that C's `atoi` reads. */
  private def number(text: String): Int =
    "^\\s*[+-]?\\d+".r.findFirstIn(text).flatMap(_.trim.toIntOption).getOrElse(0)

  private def csvSeparatorOf(text: String): Char =
    if text.length != 1 || text.head > 127 then
      throw CommandProblem("\\pset: csv_fieldsep must be a single one-byte character", "Such as ;")
    if "\"\n\r".contains(text.head) then
      throw CommandProblem(
        "\\pset: csv_fieldsep cannot be a double quote, a newline, or a carriage return",
        "Such as ;"
      )
    text.head
