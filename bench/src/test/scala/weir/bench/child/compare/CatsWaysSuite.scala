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

  test("two consumers that block in a pool of two threads hang, and nothing is consumed"):
    val heard = ConcurrentLinkedQueue[String]()
    val listener = new Listener:
      def progress(place: Place, letters: String): Unit = ()
      def ended(place: Place, millis: Double): Unit = heard.add("ended"): Unit
      def failed(place: Place, why: String): Unit = heard.add(s"failed: $why"): Unit
      def hung(place: Place, why: String): Unit = heard.add(why): Unit
    SideBySide(CatsWays, tasksPerLetter = 1, listener)
      .run(Seq(Load.Balanced), Seq(Way.Hang), _ => plan)
    assert(
      clue(heard.asScala.toSeq).exists(_.matches("hangs: after .* tasks produced, 0 consumed"))
    )
