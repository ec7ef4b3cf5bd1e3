import sbt._

/** The code examples of scaladoc comments as sources that are compiled: `{{{` to `}}}`, each in a
  * method of its own.
  *
  * `examples.Prelude`, which all of them see, defines the names that an example uses and does not
  * define.
  */
object ScaladocExamples {

  /** The files in which every public method has an example, except for the named ones: variants
    * that would repeat the example of another method.
    */
  private val complete: Map[String, Set[String]] = Map(
    "Bytes" -> Set(),
    "Command" -> Set(),
    "Signal" -> Set("unsafe"),
    "Sinks" -> Set(),
    "Stream" -> Set("never"),
    "StreamChanges" -> Set("withFilter", "void"), // the compiler calls withFilter
    "StreamCombinations" -> Set(),
    "StreamConcurrency" -> Set("mergeHaltRight", "mergeHaltBoth", "parJoinUnbounded"),
    "StreamEnds" -> Set("forall", "toVector"),
    "StreamInputs" -> Set("fromChannel"),
    "StreamParallelMaps" -> Set("parEvalMapUnbounded"),
    "StreamTimes" -> Set(),
    "StreamValues" -> Set("emits", "fromOption", "fromTry", "iterateEval", "rangeLong"),
    "Tcp" -> Set("port", "remote"), // plain values
    "TerminationSignals" -> Set(),
    "Text" -> Set(),
    "Topic" -> Set("subscriberCount", "unsafe")
  )

  /** Writes one source for each of `sources` that has an example. Returns what it has written. */
  def generate(sources: Seq[File], to: File): Seq[File] = {
    val absent = complete.keySet -- sources.map(_.base)
    if (absent.nonEmpty)
      sys.error(
        s"ScaladocExamples.scala: there is no file ${absent.toSeq.sorted.mkString(", ")}.scala " +
          "among the API's. Correct its name, or the folders that build.sbt reads."
      )
    for {
      source <- sources.filter(_.getName.endsWith(".scala"))
      lines = IO.readLines(source)
      _ = check(source.base, lines)
      examples = read(lines) if examples.nonEmpty
    } yield {
      val target = to / "examples" / source.getName
      IO.write(target, text(source.base, examples))
      target
    }
  }

  /** Fails if a public method of a complete file has no example, or a variant that is named here
    * has one or is not there.
    */
  private def check(file: String, lines: Seq[String]): Unit =
    for (variants <- complete.get(file)) {
      val without = withoutExample(lines).toSet
      val missing = without -- variants
      if (missing.nonEmpty)
        sys.error(
          s"$file.scala: ${missing.toSeq.sorted.mkString(", ")} has no example. Add one to the " +
            "comment, between {{{ and }}}; or name it in ScaladocExamples.scala."
        )
      val wrong = variants -- without
      if (wrong.nonEmpty)
        sys.error(s"ScaladocExamples.scala: not without an example: ${wrong.mkString(", ")}")
    }

  private val method = """( *)(?:final |inline |override )*(?:def|val) ([^\s\[(:]+).*""".r

  /** Returns the public methods and values that have no example: those with a comment, and those
    * that are members of the file's outermost classes and objects, which need one.
    */
  private def withoutExample(lines: Seq[String]): Seq[String] = {
    var comment = Option.empty[Seq[String]] // of what comes next
    var isComment = false
    lines.flatMap { line =>
      val code = line.trim
      if (code.startsWith("/**")) { isComment = true; comment = Some(Nil) }
      if (isComment) {
        comment = comment.map(_ :+ code)
        isComment = !code.endsWith("*/")
        None
      } else {
        val above = comment
        comment = if (code.startsWith("@")) above else None
        line match {
          case method(indent, name)
              if (above.nonEmpty || indent.length == 2) && !above.exists(_.exists(_ == "* {{{")) =>
            Some(name)
          case _ => None
        }
      }
    }
  }

  /** Returns the line number and the lines of each example. */
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
       |import java.nio.charset.StandardCharsets
       |import java.nio.file.{Files, Path}
       |import java.sql.SQLException
       |import scala.concurrent.duration.*
       |import weir.*
       |import weir.io.*
       |import weir.metrics.*
       |import weir.std.*
       |import Prelude.*
       |
       |object ${name}Examples:
       |${methods.mkString("\n")}""".stripMargin
  }
}
