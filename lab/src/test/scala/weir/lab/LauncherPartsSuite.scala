package weir.lab

import java.nio.file.{Files, Path}
import scala.jdk.CollectionConverters.*
import weir.rules.Checkout

/** The launcher builds what a command depends on. */
class LauncherPartsSuite extends munit.FunSuite:

  test("the launcher builds the measuring JVM for each command that starts one"):
    val launcher = Files.readString(Checkout.root.resolve("weir"))
    val built = "(?m)^    ([a-z |-]+)\\) echo bench".r
      .findAllMatchIn(launcher)
      .flatMap(_.group(1).split('|').map(_.trim.replace("-", "")))
      .toSet
    val starting = filesOf(Checkout.root.resolve("lab/src/main/scala/weir/lab"))
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
