package weir.rules

import java.nio.file.Files

/** `planted.reader` uses what `planted.library` keeps to itself, in each way that there is. */
class PublicUseSuite extends munit.FunSuite:
  private val planted = CompiledModule.of(classOf[_root_.planted.library.Library])
  private lazy val found =
    PublicUse("planted", "planted.reader", Set("planted.library.engine")).breaking(planted)

  /** The faults that the rule reports, by their lines in the file. */
  private def saidOf(name: String): List[String] =
    val file = Checkout.root.resolve("rules/src/test/scala/planted/reader/Wrong.scala")
    val lines = Files.readString(file).linesIterator.toVector
    val from = lines.indexOf(s"object $name:") + 1
    val next = lines.indexWhere(_.startsWith("object "), from)
    val until = if next < 0 then lines.size else next
    found.filter: line =>
      val at = line.stripPrefix("Wrong.scala:").takeWhile(_.isDigit).toIntOption
      at.exists(number => number >= from && number <= until)

  for (name, reason) <- List(
      "ByMember" -> "is private to planted",
      "ByConstructor" -> "is private to planted",
      "ByRename" -> "is private to planted",
      "ByImportOfAMember" -> "is private to planted",
      "ByConstant" -> "is private to planted",
      "ByQualifiedName" -> "is in the inner package planted.library.engine",
      "ByRelativeName" -> "is in the inner package planted.library.engine",
      "ByType" -> "is in the inner package planted.library.engine",
      "ByParent" -> "is in the inner package planted.library.engine",
      "ByPattern" -> "is in the inner package planted.library.engine",
      "ByChain" -> "is private to planted"
    )
  do
    test(s"a use is found: $name"):
      val said = saidOf(name)
      assert(said.exists(_.contains(reason)), s"of $name: $said, of all: $found")

  test("what is public is not found, nor what a module keeps to itself, nor what is inlined"):
    assertEquals(found.filter(_.startsWith("Clean.scala")), Nil)

  test("the module that has them may use them"):
    val own = PublicUse("planted", "planted.library", Set("planted.library.engine"))
    assertEquals(own.breaking(planted), Nil)
