package weir.postgres.psql

import scala.collection.mutable
import Script.{Data, Part}

/** COPY in its forms, with good data and bad. */
final class RandomCopy(text: RandomText, newline: String):
  import text.{chance, pick, sql, string}

  private var numbers = 0

  /** One or several COPYs that end on one line, and their data. */
  def part(tables: Seq[String], statement: () => String): Part =
    val data = mutable.ArrayBuffer.empty[Data]
    val line = StringBuilder()
    line ++= copy(tables, data) ++= ";"
    text.oneLine = true // what follows the semicolon must end before the data begins
    while chance(25) do
      line ++= pick("", " ", text.inlineComment)
      val next = if chance(60) then copy(tables, data) else statement()
      line.append(next).append(";"): Unit
    if chance(20) then line ++= " -- ';" else if chance(20) then line ++= "; "
    text.oneLine = false
    Part(line.append(newline).result(), data.toVector)

  private def copy(tables: Seq[String], data: mutable.ArrayBuffer[Data]): String =
    val table = if tables.isEmpty || chance(10) then "missing" else pick(tables*)
    val columns = if chance(5) then "(a, missing)" else pick("", "", "(a,b)", " ( a /*;*/, \"b\" )")
    numbers += 1
    val (options, rows) = form()
    data += Data(numbers, rows + "\\." + newline)
    val copy = pick("COPY", "copy", "Copy")
    val stdin = pick("STDIN", "stdin")
    sql"$copy $table$columns ${Script.copyComment(numbers)}FROM $stdin$options"

  /** The end of the statement, and its data. */
  private def form(): (String, String) = text.number(8) match
    case 0 | 1 | 2 => (pick("", " WITH (FORMAT text)", " WITH", ""), textRows("\t", "\\N"))
    case 3 => (" (FORMAT csv, NULL ';' /*)*/)", csvRows(",", ";", header = false))
    case 4 => (" WITH (FORMAT csv, HEADER, DELIMITER ';')", csvRows(";", "", header = true))
    case 5 => (" CSV", csvRows(",", "", header = false))
    case 6 =>
      (pick(" DELIMITER '|' NULL AS 'nil'", " (DELIMITER '|', NULL 'nil')"), textRows("|", "nil"))
    case _ => (sql" WHERE (a > 1 OR b = ${string()})", textRows("\t", "\\N"))

  private def rows(row: => String): String =
    val count = pick(0, 1, 2, 5, 30)
    val badAt = if chance(15) then text.number(count + 1) else -1
    (0 until count).map(i => (if i == badAt then bad else row) + newline).mkString

  private def bad: String = pick("x\ty", "1", "1\t2\t3", "", "\\.x", "\"")

  private def textRows(delimiter: String, nul: String): String = rows {
    val escaped = text.value
      .replace("\\", "\\\\")
      .replace("\r", "\\r")
      .replace("\n", pick("\\n", "\\n", "\\\n".replace("\n", newline)))
      .replace(delimiter, s"\\$delimiter")
    val more = pick("", "", "\\101", "\\x41", "\\.x", "\\\\.", "\\b", long)
    s"${text.number(100)}$delimiter${if chance(10) then nul else escaped + more}"
  }

  private def csvRows(delimiter: String, nul: String, header: Boolean): String =
    val first = if header then s"a${delimiter}b$newline" else ""
    first + rows {
      val field = s"\"${text.value.replace("\"", "\"\"").replace("\\.", "\\.x")}\""
      s"${text.number(100)}$delimiter${if chance(10) then nul else field}"
    }

  /** Longer than a block of the reader, with an end marker that is none. */
  private def long: String = if chance(4) then "x" * 70_000 + "\\\\.\\\\\\." else ""
