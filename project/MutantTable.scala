import sbt._

/** A change of a few lines that makes the code wrong.
  *
  * @param file the source, below the package `weir` of the module
  * @param lines whole lines that the file has once; their common indentation does not count
  * @param instead the lines that the mutant has in their place
  * @param also sources to compile with it, since they have code of it inlined
  * @param suites the suites that must fail, in the package `weir`
  */
final case class Mutant(
    name: String,
    why: String,
    file: String,
    lines: Seq[String],
    instead: Seq[String],
    also: Seq[String],
    suites: Seq[String]
) {

  private def indented(indent: String, line: String) = if (line.isEmpty) line else indent + line

  /** Returns the source with the change, or the reason why there is none. */
  def applied(source: String): Either[String, String] = {
    val all = source.linesIterator.toVector
    def isAt(index: Int): Boolean = all(index).endsWith(lines.head) && {
      val indent = all(index).stripSuffix(lines.head)
      indent.forall(_ == ' ') &&
      all.slice(index, index + lines.size) == lines.map(indented(indent, _))
    }
    all.indices.filter(isAt) match {
      case Seq(index) =>
        val indent = all(index).takeWhile(_ == ' ')
        Right(
          all.patch(index, instead.map(indented(indent, _)), lines.size).mkString("", "\n", "\n")
        )
      case found => Left(s"whose lines occur ${found.size} times in $file")
    }
  }
}

/** Reads mutants. In a table a mutant is a name, and below it, indented:
  * {{{
  * name-of-the-mutant
  *   What goes wrong with it, in a sentence or two.
  *   in stream/Accumulate.scala
  *   - lines of that file
  *   + lines that the mutant has in their place
  *   also stream/Other.scala
  *   killed by stream.SomeSuite stream.OtherSuite
  * }}}
  * `also` may be left out, as may the lines with `+`. A line that begins with `#` is a comment.
  */
object MutantTable {
  def read(files: Seq[File]): Seq[Mutant] = {
    val mutants = files.flatMap(file => blocks(IO.readLines(file)).map(mutant(file, _)))
    val twice = mutants.map(_.name).diff(mutants.map(_.name).distinct)
    require(twice.isEmpty, s"There are two mutants of the name ${twice.mkString(", ")}.")
    mutants
  }

  private def blocks(lines: Seq[String]): Seq[Seq[String]] =
    lines
      .filterNot(line => line.isBlank || line.startsWith("#"))
      .foldLeft(Vector.empty[Vector[String]]) {
        case (blocks :+ last, line) if line.startsWith(" ") => blocks :+ (last :+ line)
        case (blocks, line) => blocks :+ Vector(line)
      }

  private def mutant(table: File, block: Seq[String]): Mutant = {
    val (name, body) = (block.head.trim, block.tail.map(_.stripPrefix("  ")))
    def after(key: String): Seq[String] =
      body.filter(line => line == key.trim || line.startsWith(key)).map(_.drop(key.length))
    def words(key: String): Seq[String] = after(key).flatMap(_.split(' '))
    val keys = Seq("in ", "also ", "killed by ", "- ", "+ ")
    val why = body.filterNot(line => line == "+" || keys.exists(line.startsWith)).mkString(" ")
    val mutant =
      Mutant(
        name,
        why,
        after("in ").mkString,
        after("- "),
        after("+ "),
        words("also "),
        words("killed by ")
      )
    require(
      mutant.file.nonEmpty && mutant.lines.nonEmpty && mutant.suites.nonEmpty && why.nonEmpty,
      s"$table: $name has no file, no lines, no suites, or no reason."
    )
    mutant
  }
}
