package weir.lab.compare

import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch}
import java.util.concurrent.atomic.AtomicInteger
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*

import weir.lab.compare.SideBySide.{Listener, Place}

class SideBySideSuite extends munit.FunSuite:

  /** Nothing takes any time, but for what `doIt` does. */
  private val plan = Plan(Vector(0L), Vector(0L, 0L), parallelism = 1, capacity = 1)

  private final class Doing(doIt: (Way, Course) => Unit) extends Contestant:
    def system(way: Way): String = "mine"
    def mayHang(way: Way): Boolean = way == Way.Hang
    def run(way: Way, plan: Plan, course: Course): Unit = doIt(way, course)

  private final class Heard extends Listener:
    val ends = ConcurrentLinkedQueue[String]()
    val letters = ConcurrentLinkedQueue[String]()

    def progress(place: Place, shown: String): Unit = letters.add(s"${place.name} $shown"): Unit
    def ended(place: Place, millis: Double): Unit = ends.add(s"${place.name} ended"): Unit
    def failed(place: Place, why: String): Unit = ends.add(s"${place.name} failed: $why"): Unit
    def hung(place: Place, why: String): Unit = ends.add(s"${place.name} $why"): Unit

  /** The events when `ways` run on two loads. */
  private def heard(ways: Way*)(doIt: (Way, Course) => Unit): Heard =
    val listener = Heard()
    SideBySide(Doing(doIt), tasksPerLetter = 1, listener)
      .run(Seq(Load.Balanced, Load.SlowConsumer), ways, _ => plan)
    listener

  private def doAll(course: Course): Unit =
    course.produce(2)
    course.consume(0)
    course.consume(1)

  test("all ways of a load, and those of the longest load beside them, run at the same time"):
    val all = CountDownLatch(4)
    val listener = heard(Way.Batch, Way.Queue): (_, course) =>
      all.countDown()
      all.await()
      doAll(course)
    assertEquals(
      listener.ends.asScala.toSet,
      Set(
        "balanced: batch ended",
        "balanced: queue ended",
        "slow-consumer: batch ended",
        "slow-consumer: queue ended"
      )
    )

  test("the shorter loads run one after the other"):
    val atATime = AtomicInteger()
    val most = AtomicInteger()
    val contestant = Doing: (_, course) =>
      most.accumulateAndGet(atATime.incrementAndGet(), math.max)
      doAll(course)
      Thread.`yield`()
      atATime.decrementAndGet(): Unit
    val loads = Seq(Load.SlowProducer, Load.SlowConsumer)
    val listener = Heard()
    (1 to 20).foreach: _ =>
      SideBySide(contestant, tasksPerLetter = 1, listener).run(loads, Seq(Way.Batch), _ => plan)
    assertEquals((most.get, listener.ends.size), (1, 40))

  test("the letters of a run are told before its end is"):
    val listener = heard(Way.Batch)((_, course) => doAll(course))
    assert(listener.letters.contains("balanced: batch PPCC"), clue(listener.letters))

  test("a way that does not consume every task has failed"):
    val listener = heard(Way.Batch)((_, course) => course.consume(0))
    assert(
      listener.ends.contains("balanced: batch failed: task 1 was consumed 0 times"),
      clue(listener.ends)
    )

  test("a way that throws has failed, and the others go on"):
    val listener = heard(Way.Batch, Way.Queue): (way, course) =>
      if way == Way.Batch then throw IllegalStateException("no batches here") else doAll(course)
    assertEquals(
      listener.ends.asScala.toSeq.filter(_.startsWith("balanced")).sorted,
      Seq(
        "balanced: batch failed: java.lang.IllegalStateException: no batches here",
        "balanced: queue ended"
      )
    )

  test("the warm-up runs every way but those that may hang"):
    val run = ConcurrentLinkedQueue[Way]()
    SideBySide(Doing((way, _) => run.add(way): Unit), tasksPerLetter = 1, Heard())
      .warmUp(Seq(Way.Batch, Way.Queue, Way.Hang), 1.milli)
    assertEquals(run.asScala.toSet, Set(Way.Batch, Way.Queue))

  test("a way that hangs is interrupted at its deadline, and says how far it came"):
    val interrupted = CountDownLatch(2)
    val listener = heard(Way.Hang): (_, course) =>
      course.produce(1)
      try CountDownLatch(1).await()
      finally interrupted.countDown()
    interrupted.await()
    listener.ends.forEach: end =>
      assert(
        clue(end).matches(
          ".*: hang hangs: after [0-9.]+ s 1 of 2 tasks produced, 0 consumed"
        )
      )
    assertEquals(listener.ends.size, 2)
