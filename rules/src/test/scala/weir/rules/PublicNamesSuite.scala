package weir.rules

class PublicNamesSuite extends munit.FunSuite:
  private lazy val found =
    PublicNames("planted", Set("planted.library.engine"))
      .breaking(CompiledModule.of(classOf[planted.library.Library]))
      .filter(_.startsWith("planted.library\t"))
      .map(_.split("\t").last)

  test("public types and their public members are listed, and no others"):
    val expected = List(
      "final class Library",
      "def open: Int",
      "inline def inlined: Int",
      "object Library",
      "def apply(): Library",
      "final class Inheriting",
      "def inherited: Int",
      "def taken(engine: Engine): Int",
      "def inList: List[Map[Int, Engine]]"
    )
    assertEquals(expected.filterNot(found.contains), Nil, found.mkString("\n"))
    val hidden = List("hidden", "counted", "constant", "object Kept", "local", "final class Engine")
    for name <- hidden do assert(!found.exists(_.contains(name)), s"$name: $found")
