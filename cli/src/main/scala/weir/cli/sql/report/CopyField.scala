package weir.cli.sql.report

/** Finds the field of a row of COPY data that the server quotes. */
object CopyField:
  private val separators = Vector('\t', ',', '|', ';')
  private val cutMark = "..."

  /** Returns the place at which the field `value` begins; none if no field, or more than one, has
    * that value.
    */
  def indexOf(row: String, value: String): Option[Int] =
    separators.iterator
      .map(separator => matching(row, value, separator))
      .collectFirst { case Vector(one) => one }

  private def matching(row: String, value: String, separator: Char): Vector[Int] =
    val starts = 0 +: row.indices.filter(row(_) == separator).map(_ + 1).toVector
    starts.filter: start =>
      val end = row.indexOf(separator, start)
      isQuoted(row.substring(start, if end < 0 then row.length else end), value)

  /** The server quotes about a hundred characters. */
  private def isQuoted(field: String, value: String): Boolean =
    val plain = field.stripPrefix("\"").stripSuffix("\"")
    plain == value || value.endsWith(cutMark) && plain.startsWith(value.stripSuffix(cutMark))
