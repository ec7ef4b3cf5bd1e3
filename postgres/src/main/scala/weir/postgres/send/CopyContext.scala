package weir.postgres.send

/** The line of COPY data, and the column, that a server's CONTEXT speaks of, in whatever language.
  *
  * `COPY t, line 17, column c: "x"`, `COPY t, Zeile 17, Spalte c: »x«`, `COPY t, 行 17, 列 c: "x"`: after the name of the table
  * there is always a comma, a word, and the number; then a comma, a word, the name, and a colon.
  */
private[postgres] final case class CopyContext(row: Long, column: Option[String])

private[postgres] object CopyContext:
  private val Line =
    """(?s)COPY (.*?)[,、] ?[^\d,、:]*?(\d+)[^\d,、:]*?(?:[,、] ?\S+ (.*?) ?: ?.*|:.*)?""".r
  // Where the table's name comes first: "tのCOPY、行 17、列 c", "t 복사, 17번째 줄, c 열".
  private val NameFirst =
    """(?s)(.*?) ?(?:のCOPY|복사)[,、] ?[^\d,、:]*?(\d+)[^\d,、:]*?(?:[,、] ?(?:列 (.*?)|(.*?) 열) ?: ?.*|:.*)?""".r

  /** Of the lines of a context the last such one: what stands before it is about code that ran for the row. */
  def of(context: String | Null): Option[CopyContext] =
    if context eq null then None
    else context.linesIterator.flatMap(parse).reduceOption((_, last) => last)

  private def parse(line: String): Option[CopyContext] = line match
    case Line(_, row, column) => row.toLongOption.map(CopyContext(_, Option(column)))
    case NameFirst(_, row, column, korean) =>
      row.toLongOption.map(CopyContext(_, Option(column).orElse(Option(korean))))
    case _ => None
