package weir.rules.modules

import weir.rules.PackageCircles
import weir.rules.PackageCircles.Use

/** The packages of the program form no circle. */
class CliPackagesSuite extends munit.FunSuite:
  private val module = Modules.of("cli")

  /** Circles that are there today, each with its reason. */
  private val circles = PackageCircles(
    "weir.cli",
    List(
      // A report writes itself in each form, and each form reads the report.
      Use("lab", "lab.report"),
      // An old database is brought up by the rules by which a run parses and waits today.
      Use("feeds.store", "feeds.parse"),
      Use("feeds.store", "feeds.run")
    )
  )

  test("the packages of the program use each other in no circle"):
    assertEquals(module.breaking(circles.none), Nil)

  test("each known circle is there"):
    assertEquals(circles.superfluous(module), Nil)
