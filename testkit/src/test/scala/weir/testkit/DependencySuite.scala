package weir.testkit

import weir.rules.{CompiledModule, InnerPackages, PublicSignatures}

/** The test kit drives the runtime from within, so it may use what is private to Weir. Its users
  * may not.
  */
class DependencySuite extends munit.FunSuite:
  test("public signatures name public types alone"):
    val module = CompiledModule.of(classOf[TestRuntime])
    assertEquals(PublicSignatures("weir", InnerPackages.all).breaking(module), Nil)
