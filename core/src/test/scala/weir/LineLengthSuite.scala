package weir

import java.nio.file.{FileVisitResult, Files, Path, SimpleFileVisitor}
import java.nio.file.attribute.BasicFileAttributes
import scala.collection.mutable

/** No line of the project is longer than 100 columns. Scalafmt checks code alone, and not comments,
  * strings, pages or scripts. Left out: addresses; and in pages, tables and blocks in fences, such
  * as the output of a program.
  */
class LineLengthSuite extends WeirSuite:
  private val most = 100
  private val root = weir.rules.Checkout.root

  test(s"no line is longer than $most columns"):
    val files = sources()
    assert(files.size > 500, files.size)
    val long =
      for
        file <- files
        (line, number) <- lines(file).zipWithIndex
        if line.codePointCount(0, line.length) > most && !line.contains("://")
      yield s"${root.relativize(file)}:${number + 1}"
    assertEquals(long, Nil)

  private def sources(): List[Path] =
    val found = mutable.ListBuffer[Path]()
    val visitor = new SimpleFileVisitor[Path]:
      override def preVisitDirectory(folder: Path, attributes: BasicFileAttributes) =
        val name = folder.getFileName.toString
        if folder != root && (name == "target" || name.startsWith(".")) then
          FileVisitResult.SKIP_SUBTREE
        else FileVisitResult.CONTINUE
      override def visitFile(file: Path, attributes: BasicFileAttributes) =
        if isSource(file) then found += file
        FileVisitResult.CONTINUE
    Files.walkFileTree(root, visitor): Unit
    found.toList

  private def isSource(file: Path): Boolean =
    val name = file.getFileName.toString
    file == root.resolve("weir") ||
    List(".scala", ".sbt", ".java", ".sh", ".md").exists(name.endsWith)

  private def lines(file: Path): List[String] =
    val all = Files.readString(file).linesIterator.toList
    if file.toString.endsWith(".md") then outsideOfFences(all) else all

  /** An empty line for each that is left out. */
  private def outsideOfFences(page: List[String]): List[String] =
    var isInside = false
    page.map { line =>
      val isFence = line.stripLeading.startsWith("```")
      if isFence then isInside = !isInside
      if isFence || isInside || line.startsWith("|") then "" else line
    }
