package weir.rules

/** In `planted.order`, `low` is within the package of `Api`, and uses classes above it. */
class PackagesApartSuite extends munit.FunSuite:
  private val planted = CompiledModule.of(classOf[_root_.planted.order.Api])

  private def found(inner: String, outer: String): List[List[String]] =
    PackagesApart(inner, outer).rules.map(planted.breaking)

  test("a class of the inner package that uses the outer one is found, and one the other way"):
    val List(outwards, inwards) = found("planted.order.low", "planted.order"): @unchecked
    assert(outwards.exists(_.contains("planted.order.low.Wrong")), outwards)
    assert(inwards.exists(_.contains("planted.order.middle.Middle")), inwards)

  test("packages that do not know each other are not found"):
    assertEquals(found("planted.order.low", "planted.none").flatten, Nil)
