package weir.postgres

/** The line and the column of COPY data in a server's CONTEXT, in any language.
  *
  * `COPY t, line 17, column c: "x"`, `COPY t, Zeile 17, Spalte c: »x«`, `COPY t, 行 17, 列 c: "x"`:
  * the name of the table is always followed by a comma, a word and the number, then by a comma, a
  * word, the name and a colon.
  */
private[postgres] final case class CopyContext(row: Long, column: Option[String])

private[postgres] object CopyContext:
  // A column's value is quoted, in one of many ways. If it is null, some words without a quote take
  // its place.
  private val Value = """ ?: ?(?:["«»„“「].*|[^"«»„“「:]*)"""
  private val Row = """[,、] ?[^\d,、:]*?(\d+)[^\d,、:]*?"""
  private val Line = s"(?s)COPY .*?$Row(?:[,、] ?\\S+ (.*?)$Value|:.*)?".r

  // Matches texts with the table's name first: "tのCOPY、行 17、列 c", "t 복사, 17번째 줄, c 열".
  private val NameFirst =
    s"(?s).*? ?(?:のCOPY|복사)$Row(?:[,、] ?(?:列 (.*?)|(.*?) 열)$Value|:.*)?".r

  /** Finds the last such line of a context: the lines before it are about code that ran for the
    * row.
    */
  def of(context: String | Null): Option[CopyContext] =
    if context eq null then None
    else context.linesIterator.flatMap(parse).reduceOption((_, last) => last)

  private def parse(line: String): Option[CopyContext] = line match
    case Line(row, column) => row.toLongOption.map(CopyContext(_, Option(column)))
    case NameFirst(row, column, korean) =>
      row.toLongOption.map(CopyContext(_, Option(column).orElse(Option(korean))))
    case _ => None
