package weir.cli

import java.nio.file.{Files, Path}
import scala.jdk.CollectionConverters.*
import weir.program.Main
import weir.rules.{Checkout, OutsideOfCoreSuite, PackageCircles}
import weir.rules.PackageCircles.Use

/** The packages of the program form no circle, and use the public API of the libraries alone. The
  * launcher builds what a command depends on.
  */
class DependencySuite extends OutsideOfCoreSuite(Main.getClass):

  /** Circles that are there today, each with its reason. */
  private val circles = PackageCircles(
    "weir.cli",
    List(
      // A report writes itself in each form, and each form reads the report.
      Use("lab", "lab.report"),
      // An old database is brought up by the rules by which a run parses and waits today.
      Use("feeds.store", "feeds.parse"),
      Use("feeds.store", "feeds.run")
    )
  )

  test("the packages of the program use each other in no circle"):
    assertEquals(module.breaking(circles.none), Nil)

  test("each known circle is there"):
    assertEquals(circles.superfluous(module), Nil)

  test("the launcher builds the measuring JVM for each command that starts one"):
    val launcher = Files.readString(Checkout.root.resolve("weir"))
    val built = "(?m)^    ([a-z |-]+)\\) echo cli bench".r
      .findAllMatchIn(launcher)
      .flatMap(_.group(1).split('|').map(_.trim.replace("-", "")))
      .toSet
    val starting = filesOf(Checkout.root.resolve("cli/src/main/scala/weir/cli"))
      .filter(file => Files.readString(file).contains(" RivalJvm("))
      .map(_.getParent.getFileName.toString)
      .toSet - "lab"
    assert(starting.contains("jobs"), starting)
    assertEquals(starting -- built, Set.empty)

  private def filesOf(folder: Path): Vector[Path] =
    val found =
      Files.walk(folder).iterator.asScala.filter(_.toString.endsWith(".scala")).toVector
    assert(found.nonEmpty, folder)
    found
