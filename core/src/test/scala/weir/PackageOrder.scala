package weir

import java.nio.file.{Files, Path}
import scala.jdk.CollectionConverters.*

/** Finds the uses of packages in a source folder that go against an order of the packages.
  *
  * `levels` are the packages that are folders under `root`, the lowest first: a package may use
  * those of lower levels only, and neither a sibling nor a higher one. `top` is the name of the
  * package that `root` itself is; its own files may use everything.
  *
  * It reads text, comments and strings left out: import lines, names like `weir.trace.ErrorTrace`,
  * and names like `trace.ErrorTrace`.
  */
final class PackageOrder(root: Path, top: String, levels: List[Set[String]]):
  private val levelOf =
    levels.zipWithIndex.flatMap((packages, level) => packages.map(_ -> level)).toMap

  /** Folders with sources that have no place in the order. */
  def unknown: Set[String] =
    val folders = Files.list(root)
    try
      folders.iterator.asScala
        .filter(Files.isDirectory(_))
        .map(_.getFileName.toString)
        .filterNot(levelOf.contains)
        .toSet
    finally folders.close()

  /** Each use that goes against the order, as `stream/Pull.scala -> task`. */
  def violations: Set[String] =
    for
      (from, level) <- levelOf.toSet
      file <- sources(root.resolve(from))
      to <- PackageOrder.used(Files.readString(file), top, levelOf.keySet)
      if to != from && levelOf(to) >= level
    yield s"${root.relativize(file).toString.replace('\\', '/')} -> $to"

  /** The types of `top` itself that the package `of` uses, as `runtime/Job.scala -> Task`. */
  def usesOfTop(of: String): Set[String] =
    for
      file <- sources(root.resolve(of)).toSet
      to <- PackageOrder.usedOfTop(Files.readString(file), top)
    yield s"${root.relativize(file).toString.replace('\\', '/')} -> $to"

  private def sources(folder: Path): List[Path] =
    if !Files.isDirectory(folder) then Nil
    else
      val files = Files.walk(folder)
      try
        files.iterator.asScala
          .filter(file => file.toString.endsWith(".scala") || file.toString.endsWith(".java"))
          .toList
      finally files.close()

object PackageOrder:
  /** The first folder of that name under the working directory or one above it. */
  def find(path: String): Path =
    Iterator
      .iterate(Path.of("").toAbsolutePath)(_.getParent)
      .takeWhile(_ ne null)
      .map(_.resolve(path))
      .find(Files.isDirectory(_))
      .getOrElse(throw IllegalStateException(s"no folder $path from ${Path.of("").toAbsolutePath}"))

  private val notCode = List(
    "\"\"\"(?s:.*?)\"\"\"",
    "\"(?:\\\\.|[^\"\\\\\\n])*\"",
    "'(?:\\\\.|[^'\\\\])'",
    "//[^\\n]*",
    "/\\*(?s:.*?)\\*/"
  ).mkString("|").r

  private def codeOf(source: String): String =
    notCode
      .replaceAllIn(source, " ")
      .linesIterator
      .filterNot(_.trim.startsWith("package "))
      .mkString("\n")

  /** Returns the names that `code` imports from `top` in braces. */
  private def groupedImports(code: String, top: String): Set[String] =
    s"import\\s+${java.util.regex.Pattern.quote(top)}\\.\\{([^}]*)\\}".r
      .findAllMatchIn(code)
      .flatMap(_.group(1).split(','))
      .map(_.trim.takeWhile(_.isLetterOrDigit))
      .toSet

  /** The types of `top` itself that `source` uses. */
  def usedOfTop(source: String, top: String): Set[String] =
    val code = codeOf(source)
    val qualified = s"(?<![\\w.])${java.util.regex.Pattern.quote(top)}\\.([A-Z]\\w*|\\*)".r
    qualified.findAllMatchIn(code).map(_.group(1)).toSet ++
      groupedImports(code, top).filter(_.headOption.exists(_.isUpper))

  /** Which of `packages`, all of them in `top`, `source` uses. */
  def used(source: String, top: String, packages: Set[String]): Set[String] =
    val code = codeOf(source)
    val name = packages.mkString("(", "|", ")")
    val prefix = java.util.regex.Pattern.quote(top)
    // weir.trace in any place
    val qualified = s"(?<![\\w.])(?:_root_\\.)?$prefix\\.$name\\b".r
    // trace.ErrorTrace, where an import or a package clause makes that visible
    val relative = s"(?<![\\w.])$name\\.(?:[A-Z]|\\{)".r
    qualified.findAllMatchIn(code).map(_.group(1)).toSet ++
      relative.findAllMatchIn(code).map(_.group(1)) ++
      groupedImports(code, top).filter(packages)
