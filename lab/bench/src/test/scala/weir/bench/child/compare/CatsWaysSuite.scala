package weir.bench.child.compare

import java.util.concurrent.ConcurrentLinkedQueue
import scala.jdk.CollectionConverters.*

import weir.lab.compare.{Course, Load, Plan, SideBySide, Way}
import weir.lab.compare.SideBySide.{Listener, Place}

/** The rivals' programs do what Weir's do. */
class CatsWaysSuite extends munit.FunSuite:

  private val plan = Plan.of(Load.Balanced, seed = 3, speed = 1000)

  Way.values
    .filter(_ != Way.Hang)
    .foreach: way =>
      test(s"${way.name} consumes every task once"):
        val course = Course(plan, tasksPerLetter = 1)
        CatsWays.run(way, plan, course)
        assertEquals(course.mistake, None)
        assertEquals(course.progress, "1000 of 1000 tasks produced, 1000 consumed")

  // Chance decides how far it gets before both threads block.
  test("two consumers that block in a pool of two threads hang") {
    val heard = ConcurrentLinkedQueue[String]()
    SideBySide(CatsWays, tasksPerLetter = 1, Hearing(heard))
      .run(Seq(Load.Balanced), Seq(Way.Hang), _ => plan)
    assert(heard.asScala.exists(_.startsWith("hangs: after ")), heard.toString)
  }

  /** Notes how each way ends. */
  private final class Hearing(heard: ConcurrentLinkedQueue[String]) extends Listener:
    def progress(place: Place, letters: String): Unit = ()
    def ended(place: Place, millis: Double): Unit = hear("ended")
    def failed(place: Place, why: String): Unit = hear(s"failed: $why")
    def hung(place: Place, why: String): Unit = hear(why)

    private def hear(what: String): Unit =
      val _ = heard.add(what)
