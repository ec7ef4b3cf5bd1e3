package weir.rules.modules

import com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses
import weir.rules.PackageOrder

/** The packages of the library use each other in one direction only: see CONTRIBUTING.md. */
class CorePackagesSuite extends munit.FunSuite:
  private val core = Modules.of("core")

  /** Packages that are API, as the root is. */
  private val api = Set("std", "io", "metrics")

  private val order = PackageOrder(
    "weir",
    List(
      Set("runtime"),
      Set("fiber"),
      Set("trace"),
      Set("sync", "group"),
      Set("task", "stream"),
      Set("app"),
      Set("japi")
    )
  )

  test("no package uses one that is above it or beside it"):
    assertEquals(core.breaking(order.onlyDownwards), Nil)

  test("runtime uses nothing of the API: it runs jobs, and knows no task and no fiber"):
    val rule = noClasses()
      .that()
      .resideInAPackage("weir.runtime..")
      .should()
      .dependOnClassesThat()
      .resideInAnyPackage("weir" :: api.toList.map(name => s"weir.$name..")*)
    assertEquals(core.breaking(rule), Nil)

  test("each folder has a place in the order"):
    assertEquals(core.breaking(order.isComplete(beside = api + "macros")), Nil)
