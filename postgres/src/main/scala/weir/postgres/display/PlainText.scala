package weir.postgres.display

/** The text of formats in which each row can be printed as it comes. */
private[display] abstract class PlainText(display: Display, columns: Vector[TableText.Column])
    extends TableText:
  protected val text: StringBuilder = StringBuilder()

  protected def put(texts: String*): Unit = texts.foreach(part => text.append(part): Unit)

  def size: Int = text.length

  def take(): String =
    val taken = text.result()
    text.clear()
    taken

  /** Returns the texts that are shown for the values of a row. */
  protected def shown(row: Array[String | Null]): Vector[String] =
    columns.zip(row).map((column, value) => display.textOf(value, column.isNumber))

  /** The last record ends with a newline, or with a zero byte if that separates records. */
  protected def endRecord(): Unit =
    put(if display.recordSeparator == "\u0000" then "\u0000" else "\n")

/** `\pset format unaligned`. */
private[display] final class UnalignedRows(display: Display, columns: Vector[TableText.Column])
    extends PlainText(display, columns):
  private var rows = 0L
  private var wantsSeparator = false

  if !display.tuplesOnly then
    display.title.foreach(title => put(title, display.recordSeparator))
    put(columns.map(_.name).mkString(display.fieldSeparator))
    wantsSeparator = true

  def add(row: Array[String | Null]): Unit =
    rows += 1
    if columns.nonEmpty then
      if wantsSeparator then put(display.recordSeparator)
      put(shown(row).mkString(display.fieldSeparator))
      wantsSeparator = true

  def end(): String =
    if !display.tuplesOnly && display.hasFooter then
      if wantsSeparator then put(display.recordSeparator)
      put(Footer.of(rows))
      wantsSeparator = true
    if wantsSeparator then endRecord()
    take()

/** `\pset format unaligned` with `\pset expanded`: a line for each value. */
private[display] final class UnalignedRecords(display: Display, columns: Vector[TableText.Column])
    extends PlainText(display, columns):
  private var wantsSeparator = false

  if !display.tuplesOnly then
    display.title.foreach: title =>
      put(title)
      wantsSeparator = true

  def add(row: Array[String | Null]): Unit =
    if columns.nonEmpty then
      if wantsSeparator then put(display.recordSeparator, display.recordSeparator)
      val lines = columns.iterator
        .zip(shown(row))
        .map((column, value) => column.name + display.fieldSeparator + value)
      put(lines.mkString(display.recordSeparator))
      wantsSeparator = true

  def end(): String =
    if wantsSeparator then endRecord()
    take()

/** `\pset format csv`, without a title and a footer, as in psql. */
private[display] final class CsvText(display: Display, columns: Vector[TableText.Column])
    extends PlainText(display, columns):
  private val isExpanded = display.expanded == Display.Expanded.On
  private val separator = display.csvSeparator
  private val names = columns.map(column => field(column.name))

  if !display.tuplesOnly && !isExpanded then line(names)

  def add(row: Array[String | Null]): Unit =
    val values = shown(row).map(field)
    if isExpanded then names.zip(values).foreach((name, value) => line(Vector(name, value)))
    else if columns.nonEmpty then line(values)

  def end(): String = take()

  private def line(fields: Vector[String]): Unit =
    put(fields.mkString(separator.toString), "\n")

  /** Quotes also what COPY would take for the end of its data. */
  private def field(value: String): String =
    val mustQuote = value.exists(c => c == separator || c == '"' || c == '\n' || c == '\r') ||
      value == "\\." || separator == '\\' || separator == '.'
    if mustQuote then s"\"${value.replace("\"", "\"\"")}\"" else value

private[display] object Footer:
  def of(rows: Long): String = if rows == 1 then "(1 row)" else s"($rows rows)"
