package weir.bench

/** Rivals are compared with what users of Weir can call; the splitter of scripts alone is measured
  * by itself.
  */
class DependencySuite
    extends weir.rules.OutsideOfCoreSuite(classOf[ForkJoin], measured = Set("weir.postgres.split"))
