package weir.postgres.psql

import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_8}
import scala.collection.mutable
import scala.util.Random

import Script.Part

/** The script of a seed: what it does may fail at any point, so that what comes after an error is
  * tested as well.
  */
final class RandomScript private (random: Random):
  private val latin1 = random.nextInt(10) == 0
  private val newline = if random.nextInt(5) == 0 then "\r\n" else "\n"
  private val characters =
    if latin1 then Vector("é", "ß", "¿") else Vector("é", "漢字", "😀", "ß", "\u0301")
  private val text = RandomText(random, newline, characters)
  private val statements = RandomStatement(text, newline)
  private val copies = RandomCopy(text, newline)

  private def script(): Script =
    val parts = mutable.ArrayBuffer.empty[Part]
    for _ <- 0 to text.number(3) do parts += Part(s"${statements.createTable()};$newline")
    for _ <- 0 until 3 + random.nextInt(20) do parts += part()
    val end = text.pick(
      "",
      "",
      newline,
      "-- end",
      "/* end */",
      s"SELECT 1${newline}",
      "SELECT 2 -- end",
      "\t"
    )
    Script(parts.toVector, if latin1 then ISO_8859_1 else UTF_8, newline, text.chance(10), end)

  private def part(): Part =
    if text.chance(22) then copies.part(statements.tables.toSeq, () => statements.plain())
    else if text.chance(4) then
      Part(s"$newline\\restrict abc$newline${statements.plain()};$newline\\unrestrict abc$newline")
    else
      val (sql, ends) = statements.any()
      val joined = if text.chance(5) then s"$sql \\; ${statements.plain()}" else sql
      Part(
        s"$joined${text.pick("", "", "", text.gap)};${text.betweenStatements}",
        endsTransaction = ends
      )

object RandomScript:
  def apply(seed: Long): Script = new RandomScript(Random(seed)).script()
