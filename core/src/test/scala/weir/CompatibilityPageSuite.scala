package weir

import java.nio.file.{Files, Path}
import scala.jdk.CollectionConverters.*
import weir.rules.{Checkout, InnerPackages}

/** The page says of each artifact that is published which of its packages are API. */
class CompatibilityPageSuite extends WeirSuite:

  /** Folders of modules, by artifact, as the build publishes them. */
  private lazy val published: Map[String, String] =
    sys.props("weir.published").split(',').map(_.split('=')).map(p => p(0) -> p(1)).toMap

  private lazy val promised: Map[String, Set[String]] =
    val row = "[|] `(weir-[a-z0-9-]+)` [|] (.*) [|]".r
    Files
      .readString(Checkout.root.resolve("docs/compatibility.md"))
      .linesIterator
      .collect { case row(artifact, packages) =>
        artifact -> packages.split(',').map(_.trim.stripPrefix("`").stripSuffix("`")).toSet
      }
      .toMap

  test("the page names the artifacts that the build publishes, and no other"):
    assert(published.size >= 10, published)
    assertEquals(promised.keySet, published.keySet)

  test("the page promises the packages of an artifact that are no inner ones"):
    val there = published.view.mapValues(packagesIn).toMap
    assertEquals(promised, there)

  /** Another library's packages, for classes that have to be there, are promised by nobody. */
  private def packagesIn(module: String): Set[String] =
    val folders = List("scala", "java").map(language => s"$module/src/main/$language")
    for
      folder <- folders.map(Checkout.root.resolve(_)).toSet.filter(Files.isDirectory(_))
      name <- packagesBelow(folder)
      if name.startsWith("weir") && !InnerPackages.contain(InnerPackages.all, name)
    yield name

  private def packagesBelow(folder: Path): Set[String] =
    val files = Files.walk(folder)
    try
      files.iterator.asScala
        .filter(file => file.toString.endsWith(".scala") || file.toString.endsWith(".java"))
        .map(file =>
          folder.relativize(file.getParent).toString.replace(java.io.File.separator, ".")
        )
        .toSet
    finally files.close()
