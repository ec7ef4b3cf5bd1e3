package weir.rules

class PublicSignaturesSuite extends munit.FunSuite:
  private val planted = CompiledModule.of(classOf[_root_.planted.library.Leaking])
  private lazy val found =
    PublicSignatures("planted", Set("planted.library.engine"))
      .breaking(planted)
      .filter(_.startsWith("planted.library."))

  test("each public signature that names an inner class is found, and no other"):
    val engine = "planted.library.engine.Engine"
    val expected =
      List("inList", "inferred", "orEngine", "returned", "taken", "value")
        .map(name => s"planted.library.Leaking.$name names $engine")
        .prepended(s"planted.library.Inheriting.inheritedEngine names $engine")
    assertEquals(found.filterNot(_.contains(".kept ")), expected)
    assertEquals(found.count(_.contains(".kept names planted.library.Kept")), 1, found)
