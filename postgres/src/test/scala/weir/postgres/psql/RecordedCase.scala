package weir.postgres.psql

import java.nio.charset.StandardCharsets.UTF_8
import scala.util.Using

/** A small script with commands of psql, and what psql 15 did with it.
  *
  * @param printed
  *   what it printed, without its own messages
  * @param sent
  *   the statements that it sent
  */
final case class RecordedCase(
    name: String,
    script: String,
    printed: String,
    warned: String,
    sent: Vector[String]
):
  /** The case as it is in a file. A newline of a statement is written ⏎, one that is missing ␀. */
  def show: String =
    def section(title: String, text: String) =
      if text.isEmpty then "" else s"--- $title\n${RecordedCase.ended(text)}"
    val statements = sent.map(_.replace("\n", "⏎") + "\n").mkString
    s"=== $name\n${RecordedCase.ended(script)}${section("printed", printed)}" +
      s"${section("warned", warned)}${section("sent", statements)}"

object RecordedCase:
  /** The files, of which each holds cases of one kind. */
  val files: Vector[String] = Vector("arguments", "variables", "sql", "if")

  /** The cases of a file. */
  def of(file: String): Vector[RecordedCase] =
    val name = s"commands/$file.txt"
    read(Using.resource(getClass.getResourceAsStream(name))(in => String(in.readAllBytes(), UTF_8)))

  def read(text: String): Vector[RecordedCase] =
    text.split("(?m)^=== ").toVector.drop(1).map(parse)

  private def parse(text: String): RecordedCase =
    val (name, body) = text.span(_ != '\n')
    val parts = body.drop(1).split("(?m)^--- ").toVector
    val sections = parts.drop(1).map(_.span(_ != '\n')).map((title, rest) => title -> rest.drop(1))
    def section(title: String) = exact(sections.toMap.getOrElse(title, ""))
    val statements = section("sent").linesIterator.map(_.replace("⏎", "\n")).toVector
    RecordedCase(name, exact(parts.head), section("printed"), section("warned"), statements)

  private def ended(text: String) = if text.endsWith("\n") then text else s"$text␀\n"
  private def exact(text: String) = text.stripSuffix("␀\n")

  def bytes(text: String): Array[Byte] = text.getBytes(UTF_8)
