package weir.rules

/** The rules that every published module outside of `core` keeps. */
abstract class PublishedSuite(witness: Class[?]) extends OutsideOfCoreSuite(witness):

  test("public signatures name public types alone"):
    assertEquals(PublicSignatures("weir", InnerPackages.all).breaking(module), Nil)
