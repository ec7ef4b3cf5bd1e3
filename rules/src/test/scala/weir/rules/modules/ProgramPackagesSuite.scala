package weir.rules.modules

import weir.rules.PackageCircles
import weir.rules.PackageCircles.Use

/** The packages of each room of the program form no circle, but for those that are known. */
class ProgramPackagesSuite extends munit.FunSuite:

  /** The circles of a room that are there today, each with its reason. */
  private val rooms = List(
    "feeds" -> List(
      // An old database is brought up by the rules by which a run parses and waits today.
      Use("store", "parse"),
      Use("store", "run")
    ),
    "cli" -> Nil,
    "lab" -> Nil
  )

  for (room, known) <- rooms do
    val circles = PackageCircles(s"weir.$room", known)

    test(s"the packages of $room use each other in no circle"):
      assertEquals(Modules.of(room).breaking(circles.none), Nil)

    test(s"each known circle of $room is there"):
      assertEquals(circles.superfluous(Modules.of(room)), Nil)
