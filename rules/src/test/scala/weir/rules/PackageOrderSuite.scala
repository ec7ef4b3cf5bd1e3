package weir.rules

/** The order is kept by all of `planted.order`, but for what is called wrong there. */
class PackageOrderSuite extends munit.FunSuite:
  private val planted = CompiledModule.of(classOf[_root_.planted.order.Api])
  private val order =
    PackageOrder("planted.order", List(Set("low"), Set("middle", "beside"), Set("high")))

  private def classesNamed(lines: List[String]): Set[String] =
    lines.flatMap("planted[.]order[.][\\w.$]+".r.findFirstIn).toSet

  test("a class that uses a higher package is found, by whatever name it does so"):
    val found = classesNamed(planted.breaking(order.onlyDownwards))
    val wrong = Set(
      "ByField",
      "ByParent",
      "ByBraces",
      "ByRename",
      "ByRelativeName",
      "ByTypeArgument",
      "InsideOfAFunction",
      "ByExtension"
    ).map(name => s"planted.order.low.Wrong$$$name")
    val missed = wrong.filterNot(name => found.exists(_.startsWith(name)))
    assertEquals(missed, Set.empty)

  test("a class that uses the package beside it is found"):
    val found = classesNamed(planted.breaking(order.onlyDownwards))
    assert(found.exists(_.startsWith("planted.order.beside.Beside")), found)

  test("a class that uses lower packages, or the root, is not found"):
    val found = classesNamed(planted.breaking(order.onlyDownwards))
    val right = Set("planted.order.low.Low", "planted.order.middle.Middle", "planted.order.Api")
    assertEquals(found.filter(name => right.exists(name.startsWith)), Set.empty)

  test("a package of the order that has no classes is found"):
    val emptied = PackageOrder("planted.order", List(Set("low"), Set("gone")))
    val said = intercept[AssertionError](emptied.onlyDownwards.check(planted.classes)).getMessage
    assert(said.contains("Layer 'gone' is empty"), said)

  test("a package without a place is found, unless it is one of those beside the order"):
    val found = planted.breaking(order.isComplete())
    assertEquals(found.size, 1, found)
    assert(found.head.contains("planted.order.stray.Stray"), found)
    assertEquals(planted.breaking(order.isComplete(beside = Set("stray"))), Nil)

  test("a package that reaches one above it by way of the root is found"):
    val levels = PackageOrder("planted.through", List(Set("first"), Set("second")))
    assertEquals(planted.breaking(levels.onlyDownwards), Nil)
    val found = levels.neverReachesUpwards.flatMap(planted.breaking)
    assert(found.exists(_.contains("planted.through.second.Second")), found)

  test("a package that reaches only lower ones is not found"):
    val levels = PackageOrder("planted.through", List(Set("second"), Set("first")))
    assertEquals(levels.neverReachesUpwards.flatMap(planted.breaking), Nil)
