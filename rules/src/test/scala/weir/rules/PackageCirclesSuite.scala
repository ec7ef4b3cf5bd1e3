package weir.rules

import weir.rules.PackageCircles.Use

class PackageCirclesSuite extends munit.FunSuite:
  private val planted = CompiledModule.of(classOf[_root_.planted.circles.Root])

  test("a circle of three packages is found, and not the package that only uses one of it"):
    val found = planted.breaking(PackageCircles("planted.circles").none)
    assertEquals(found.size, 1, found)
    for name <- List("first", "second", "third") do assert(found.head.contains(name), found)
    assert(!found.head.contains("alone"), found)

  test("a known use that closes the circle is left out, and is not superfluous"):
    val circles = PackageCircles("planted.circles", List(Use("third", "first")))
    assertEquals(planted.breaking(circles.none), Nil)
    assertEquals(circles.superfluous(planted), Nil)

  test("a known use that closes no circle is superfluous"):
    val uses = List(Use("third", "first"), Use("alone", "first"))
    val circles = PackageCircles("planted.circles", uses)
    assertEquals(circles.superfluous(planted), List(Use("alone", "first")))
