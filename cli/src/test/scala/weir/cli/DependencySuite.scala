package weir.cli

import java.nio.file.{Files, Path}
import scala.jdk.CollectionConverters.*

/** Outside of `core` and its test kit only the public packages of weir are used; the launcher
  * builds what a command depends on.
  */
class DependencySuite extends munit.FunSuite:
  private val root =
    if Files.isDirectory(Path.of("cli")) then Path.of(".") else Path.of("..")

  test("no module but the test kit imports an inner package of core"):
    val inner = "(?m)^ *import weir\\.(fiber|runtime|sync|group|task|stream|trace|app)\\b".r
    val wrong =
      for
        module <- Vector("cli", "lab", "macros", "bench", "bench-ce2", "slf4j", "kafka")
        file <- filesOf(root.resolve(module).resolve("src/main/scala"))
        if inner.findFirstIn(Files.readString(file)).nonEmpty
      yield file.toString
    assertEquals(wrong, Vector.empty)

  test("the launcher builds the measuring JVM for each command that starts one"):
    val launcher = Files.readString(root.resolve("weir"))
    val built = "(?m)^    ([a-z |-]+)\\) echo cli bench".r
      .findAllMatchIn(launcher)
      .flatMap(_.group(1).split('|').map(_.trim.replace("-", "")))
      .toSet
    val starting = filesOf(root.resolve("cli/src/main/scala/weir/cli"))
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
