import sbt._

/** The code examples of scaladoc comments as sources that are compiled: `{{{` to `}}}`, each in a
  * method of its own.
  *
  * What an example names and does not define stands in `examples.Prelude`, which all of them see.
  */
object ScaladocExamples {

  /** Writes one source for each of `sources` that has an example. Returns what it has written. */
  def generate(sources: Seq[File], to: File): Seq[File] =
    for {
      source <- sources.filter(_.getName.endsWith(".scala"))
      examples = read(IO.readLines(source)) if examples.nonEmpty
    } yield {
      val target = to / "examples" / source.getName
      IO.write(target, text(source.base, examples))
      target
    }

  /** The line number and the lines of each example. */
  private def read(lines: Seq[String]): Seq[(Int, Seq[String])] = {
    val code = lines.map(_.trim.stripPrefix("*").stripPrefix(" "))
    val begins = code.indices.filter(code(_).trim == "{{{")
    begins.map(begin => (begin + 2, code.drop(begin + 1).takeWhile(_.trim != "}}}"))).filterNot {
      case (_, lines) => isDiagram(lines)
    }
  }

  /** True for the states of a protocol, which are drawn with arrows. */
  private def isDiagram(lines: Seq[String]): Boolean =
    lines.exists(line => line.contains("-->") || line.contains("---"))

  private def text(name: String, examples: Seq[(Int, Seq[String])]): String = {
    val methods = examples.map { case (line, lines) =>
      s"  def line$line: Unit =\n" + lines.map("    " + _).mkString("\n") + "\n    ()\n"
    }
    s"""package examples
       |
       |import java.io.{BufferedReader, IOException}
       |import java.nio.file.Files
       |import java.sql.SQLException
       |import scala.concurrent.duration.*
       |import weir.*
       |import Prelude.*
       |
       |object ${name}Examples:
       |${methods.mkString("\n")}""".stripMargin
  }
}
