package weir.csv

import de.siegmar.fastcsv.reader.{CsvParseException, CsvReader, CsvRecord, FieldMismatchStrategy}
import de.siegmar.fastcsv.writer.{CsvWriter, LineDelimiter}
import java.io.{FilterReader, IOException, InputStream, InputStreamReader, PushbackReader, Reader}
import java.io.{StringWriter, UncheckedIOException}
import java.nio.charset.{Charset, CodingErrorAction, StandardCharsets}
import scala.jdk.CollectionConverters.*
import weir.{Stream, throughInputStream}

/** Comma-separated values (RFC 4180) as streams, read and written by FastCSV.
  *
  * {{{
  * val cities: Task[List[String]] =
  *   Stream.fromPath(path).through(Csv.named()).map(_("city")).toList
  * }}}
  */
object Csv:

  /** The format of records.
    *
    * @param separator between the fields of a record
    * @param quote around fields with a separator, a quote or the end of a line; doubled inside
    * @param charset a byte order mark at the beginning is left out
    * @param longestField in characters: a record with a longer one fails
    */
  final case class Format(
      separator: Char = ',',
      quote: Char = '"',
      charset: Charset = StandardCharsets.UTF_8,
      longestField: Int = 16 * 1024 * 1024
  ):
    require(
      separator != quote && !"\r\n".contains(separator) && !"\r\n".contains(quote),
      s"Csv.Format: the separator was '$separator' and the quote '$quote'. They must be " +
        "different, and no end of a line."
    )
    require(
      longestField >= 1,
      s"Csv.Format: the longest field was $longestField. It must be at least 1."
    )

  /** A record.
    *
    * @param line the number of its first line, from 1
    */
  final case class Row(line: Long, fields: Vector[String])

  /** A record of a file whose first record has the names of the fields.
    *
    * @param line the number of its first line, from 1
    */
  final class NamedRow private[csv] (
      val line: Long,
      val fields: Vector[String],
      header: Map[String, Int]
  ):
    /** Returns the field of this name. **Fails** with a `NoSuchElementException` if there is none.
      */
    def apply(name: String): String = get(name).getOrElse(
      throw java.util.NoSuchElementException(
        s"Csv: there is no field '$name' in line $line. The header has " +
          s"${header.toList.sortBy(_._2).map(_._1).mkString(", ")}."
      )
    )

    /** Returns the field of this name, if there is one. */
    def get(name: String): Option[String] = header.get(name).map(fields)

    /** Returns the fields by their names. */
    def toMap: Map[String, String] = header.map((name, index) => (name, fields(index)))

    override def toString: String = s"NamedRow($line, ${fields.mkString(", ")})"

  /** Parses bytes, whose blocks may end anywhere, into records. Empty lines are left out.
    *
    * The parser blocks a separate fiber. **Fails**, after the records before it, with an
    * `IOException` that names the line: if a quote is not closed, a field is too long, or the bytes
    * are not valid in this charset. **Cancelled** while it waits for bytes.
    */
  def rows(format: Format = Format()): Stream[Array[Byte]] => Stream[Row] = bytes =>
    bytes.throughInputStream(
      input =>
        Stream
          .fromIterator(reader(input, format).iterator.asScala)
          .map(record => Row(record.getStartingLineNumber, record.getFields.asScala.toVector)),
      adapt
    )

  /** Parses as `rows` does, a file whose first record has the names of the fields. **Fails** also
    * if a name occurs twice, or if a record has more or fewer fields than names.
    */
  def named(format: Format = Format()): Stream[Array[Byte]] => Stream[NamedRow] = bytes =>
    rows(format)(bytes)
      .mapAccumulate(Option.empty[Map[String, Int]]) {
        case (None, row) => (Some(header(row)), None)
        case (Some(names), row) => (Some(names), Some(checked(row, names)))
      }
      .unNone

  private def header(row: Row): Map[String, Int] =
    row.fields.diff(row.fields.distinct).headOption.foreach { twice =>
      throw IOException(s"Csv: line ${row.line}: the header has '$twice' twice.")
    }
    row.fields.zipWithIndex.toMap

  private def checked(row: Row, names: Map[String, Int]): NamedRow =
    if row.fields.size != names.size then
      throw IOException(
        s"Csv: line ${row.line}: ${row.fields.size} fields, and ${names.size} names in the header."
      )
    NamedRow(row.line, row.fields, names)

  private def reader(input: InputStream, format: Format): CsvReader[CsvRecord] =
    val decoder = format.charset
      .newDecoder()
      .onMalformedInput(CodingErrorAction.REPORT)
      .onUnmappableCharacter(CodingErrorAction.REPORT)
    CsvReader
      .builder()
      .fieldSeparator(format.separator)
      .quoteCharacter(format.quote)
      .extraFieldStrategy(FieldMismatchStrategy.IGNORE)
      .missingFieldStrategy(FieldMismatchStrategy.IGNORE)
      .allowUnclosedQuote(false)
      .maxBufferSize(format.longestField)
      .ofCsvRecord(WithoutMark(InputStreamReader(input, decoder)))

  private def adapt: PartialFunction[Throwable, Throwable] = {
    case error: CsvParseException => IOException(message(error), error)
    case error: UncheckedIOException => IOException(message(error.getCause.nn), error)
    case error: IOException => IOException(message(error), error)
  }

  private def message(error: Throwable): String =
    val all = Iterator.iterate[Throwable | Null](error)(e => if e == null then null else e.getCause)
    all
      .takeWhile(_ != null)
      .flatMap(e => Option(e.nn.getMessage))
      .distinct
      .mkString("Csv: ", ": ", "")

  /** Formats records as text, each with the end of its line, `\r\n`. Fields are quoted if
    * necessary.
    */
  def write(format: Format = Format()): Stream[Iterable[String]] => Stream[String] = records =>
    Stream.suspend {
      val text = StringWriter()
      val writer = CsvWriter
        .builder()
        .fieldSeparator(format.separator)
        .quoteCharacter(format.quote)
        .lineDelimiter(LineDelimiter.CRLF)
        .bufferSize(0)
        .build(text)
      records.map { record =>
        text.getBuffer.setLength(0)
        writer.writeRecord(record.asJava): Unit
        text.toString
      }
    }

/** The text without a byte order mark at its beginning. */
private final class WithoutMark(text: Reader) extends FilterReader(PushbackReader(text)):
  private var begun = false

  override def read(into: Array[Char], offset: Int, length: Int): Int =
    if !begun && length > 0 then
      begun = true
      val pushback = in.asInstanceOf[PushbackReader]
      val first = pushback.read()
      if first >= 0 && first != '\uFEFF' then pushback.unread(first)
    super.read(into, offset, length)
