package weir.postgres.psql

import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.util.Comparator
import scala.util.Using

/** A small script with commands of psql, and what psql 15 did with it.
  *
  * @param files
  *   the names and the texts of files in the folder of the script
  * @param printed
  *   what it printed, without its own messages
  * @param sent
  *   the statements that it sent
  */
final case class RecordedCase(
    name: String,
    script: String,
    files: Vector[(String, String)],
    printed: String,
    warned: String,
    sent: Vector[String]
):
  /** The case as it is in a file. A newline of a statement is written ⏎, one that is missing ␀. */
  def show: String =
    def section(title: String, text: String) =
      if text.isEmpty then "" else s"--- $title\n${RecordedCase.ended(text)}"
    val statements = sent.map(_.replace("\n", "⏎") + "\n").mkString
    val others = files.map((file, text) => section(s"file $file", text)).mkString
    s"=== $name\n${RecordedCase.ended(script)}$others${section("printed", printed)}" +
      s"${section("warned", warned)}${section("sent", statements)}"

object RecordedCase:
  /** The files, of which each holds cases of one kind. */
  val files: Vector[String] =
    Vector("arguments", "variables", "sql", "if", "include", "copy", "echo")

  /** The files of cases that depend on what a server answers. */
  val answered: Vector[String] = Vector("answers", "connect", "shell", "queries")

  /** The files of cases that print rows. */
  val printing: Vector[String] = Vector("display")

  /** The files of cases with commands that psql 15 does not have; they print rows, too. */
  val latest: Vector[String] = Vector("extended", "pipeline")

  /** Returns true if psql has sent the statement by itself, to show what `\gdesc` shows. */
  def describes(sql: String): Boolean = sql.contains("pg_catalog.format_type(")

  /** A database to which cases connect. */
  val otherDatabase = "other_db"

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
    val files = sections.collect { case (s"file $file", text) => file -> exact(text) }
    RecordedCase(name, exact(parts.head), files, section("printed"), section("warned"), statements)

  /** Runs `body` with a folder that has the files of the case, and the script as `s.sql`. */
  def inFolder[A](recorded: RecordedCase)(body: Path => A): A =
    val folder = Files.createTempDirectory("weir-psql")
    try
      for (name, text) <- recorded.files :+ ("s.sql" -> recorded.script) do
        val file = folder.resolve(name)
        Files.createDirectories(file.getParent)
        Files.write(file, bytes(text)): Unit
      body(folder)
    finally
      Using.resource(Files.walk(folder)):
        _.sorted(Comparator.reverseOrder()).forEach(Files.delete(_))

  private def ended(text: String) = if text.endsWith("\n") then text else s"$text␀\n"
  private def exact(text: String) = text.stripSuffix("␀\n")

  def bytes(text: String): Array[Byte] = text.getBytes(UTF_8)
