package weir.rules

/** The rule that every module outside of `core` keeps: it uses what its authors' own users can use.
  *
  * @param witness
  *   a class of the module, in the module's own package
  * @param measured
  *   inner packages that the module uses all the same, since it measures them
  */
abstract class OutsideOfCoreSuite(witness: Class[?], measured: Set[String] = Set.empty)
    extends munit.FunSuite:
  protected val module: CompiledModule = CompiledModule.of(witness)

  test("only public API of other modules is used"):
    val rule = PublicUse("weir", own = witness.getPackageName, InnerPackages.all -- measured)
    assertEquals(rule.breaking(module), Nil)
