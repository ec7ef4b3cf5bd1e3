import sbt._

/** The Scala code of the pages as sources of the tests of `docs`: each page is a package, and a
  * line has the number that it has in its page.
  *
  * A fence `scala mdoc:compile-only` is a class. So is `scala mdoc:reset:silent`, together with
  * each `scala mdoc:silent` after it: what is between two resets sees the definitions of the first.
  * Its code runs when an instance is made.
  */
object PageExamples {

  /** Writes a source for each of `pages` that has code, and the program `snippets.Main`, which runs
    * what is to run. Returns these files.
    */
  def generate(root: File, pages: Seq[File], to: File): Seq[File] = {
    val found = pages.map(page => new PageExamples(IO.relativize(root, page).get, page))
    val main = to / "snippets" / "Main.scala"
    IO.write(main, program(found.flatMap(_.running)))
    main +: found.filter(_.hasCode).map { page =>
      val source = to / "snippets" / s"${page.name}.scala"
      IO.writeLines(source, page.lines)
      source
    }
  }

  /** Returns the text of a page as its readers see it. */
  def shown(text: String): String = text.replaceAll("(?m)^```scala mdoc:.*$", "```scala")

  private val fence = """```scala mdoc:(.*)""".r

  private def program(classes: Seq[String]): String =
    s"""package snippets
       |
       |object Main:
       |  def main(args: Array[String]): Unit =
       |    val code =
       |      try
       |${classes.map(name => s"        new $name").mkString("\n")}
       |        0
       |      catch
       |        case error: Throwable =>
       |          error.printStackTrace()
       |          1
       |    System.exit(code)
       |""".stripMargin
}

private final class PageExamples(path: String, page: File) {
  import PageExamples.fence

  /** The name of its package. */
  val name: String = path.stripSuffix(".md").replaceAll("[^A-Za-z0-9]", "_")

  // Of the line that is read: the end of its fence, and of the class that runs, in which it is.
  private var endOfFence, endOfRunning = Option.empty[String]

  val lines: Seq[String] = IO.readLines(page).zipWithIndex.map {
    case (_, 0) => s"package snippets.$name"
    case (fence(kind), index) => begin(kind, index + 1)
    case ("```", _) =>
      val end = endOfFence.getOrElse("")
      endOfFence = None
      end
    case (line, _) => if (endOfFence.isEmpty) "" else line
  } ++ endOfRunning

  private def begin(kind: String, line: Int): String = kind match {
    case "compile-only" =>
      endOfFence = Some("}")
      s"class line$line {"
    case "reset:silent" =>
      val before = endOfRunning.fold("")(_ + "; ")
      endOfFence = Some("")
      endOfRunning = Some("}")
      s"${before}class line$line {"
    case "silent" =>
      endOfFence = Some("")
      ""
    case other => sys.error(s"$path:$line: mdoc:$other is none of the kinds of code of pages")
  }

  def hasCode: Boolean = lines.exists(_.contains("class line"))

  /** Returns the classes whose code runs. */
  def running: Seq[String] =
    IO.readLines(page).zipWithIndex.collect { case (fence("reset:silent"), index) =>
      s"snippets.$name.line${index + 1}"
    }
}
