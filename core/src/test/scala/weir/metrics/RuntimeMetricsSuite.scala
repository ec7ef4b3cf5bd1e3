package weir.metrics

import java.util.concurrent.CountDownLatch
import scala.concurrent.duration.*
import weir.*
import weir.metrics.Metric.Point

class RuntimeMetricsSuite extends WeirSuite:
  private val runtime = WeirRuntime.make(carriers = 2, ringCapacity = 256)
  private given WeirRuntime = runtime

  private def value(name: String, attributes: (String, String)*): Double =
    runtime.metrics
      .find(_.name == name)
      .getOrElse(fail(s"there is no figure $name"))
      .points
      .collectFirst { case Point(those, value, _) if those == attributes.toVector => value }
      .getOrElse(fail(s"$name has no point $attributes"))

  override def eventually(clue: => String)(condition: => Boolean): Unit =
    super.eventually(s"$clue; ${runtime.metrics}")(condition)

  private def ended(outcome: String): Double = value("weir.fibers.ended", "outcome" -> outcome)
  private def inState(state: String): Double = value("weir.fibers", "state" -> state)

  test("fibers are counted as they begin and as they end, by outcome") {
    val begun = value("weir.fibers.begun")
    val (succeeded, failed, cancelled) = (ended("succeeded"), ended("failed"), ended("cancelled"))
    val boom = Task.fail(RuntimeException("boom"))
    val program =
      for
        good <- Task.traverse(1 to 100)(i => Task(i).start)
        bad <- Task.traverse(1 to 10)(_ => boom.start)
        stuck <- Task.traverse(1 to 5)(_ => Task.never.start)
        _ <- Task.foreach(good)(_.join)
        _ <- Task.foreach(bad)(_.join)
        _ <- Task.sleep(1.milli)
        _ <- Task.foreach(stuck)(_.cancel)
      yield ()
    program.runSync()
    // the fiber of runSync too; a fiber that was cancelled before it began has begun nevertheless
    assertEquals(value("weir.fibers.begun") - begun, 116.0)
    assertEquals(ended("succeeded") - succeeded, 101.0)
    assertEquals(ended("failed") - failed, 10.0)
    assertEquals(ended("cancelled") - cancelled, 5.0)
  }

  test("no fiber is counted twice or lost, whichever thread runs it") {
    val before = runtime.scheduler.fiberSums
    val one = Task.cede.andThen(Task(Thread.sleep(0, 1000)))
    Task
      .parTraverse(1 to 8)(_ => Task.foreach(1 to 500)(_ => one.start.flatMap(_.join)))
      .runSync(): Unit
    // The last runner of a group resumes the parent, while another one may be about to end.
    eventually("all have ended")(runtime.scheduler.fiberSums.live == before.live)
    val after = runtime.scheduler.fiberSums
    assertEquals(after.failed + after.canceled, before.failed + before.canceled)
    assert(after.begun - before.begun >= 4001, s"${after.begun - before.begun}")
  }

  test("a fiber on an execution context is counted") {
    val threads = java.util.concurrent.Executors.newFixedThreadPool(2)
    try
      val before = runtime.scheduler.fiberSums
      val context = scala.concurrent.ExecutionContext.fromExecutor(threads)
      Task.foreach(1 to 20)(i => Task(i).start.flatMap(_.join)).evalOn(context).runSync()
      val after = runtime.scheduler.fiberSums
      assertEquals(after.live, before.live)
      assert(after.begun - before.begun >= 21, s"${after.begun - before.begun}")
    finally threads.shutdown()
  }

  test("fibers are in the state that they are in") {
    val latch = CountDownLatch(1)
    val release = Deferred.unsafe[Unit]
    val (blocking, waiting) = (inState("blocking"), inState("waiting"))
    Task.foreach(1 to 7)(_ => Task(latch.await()).start).runSync()
    Task.foreach(1 to 9)(_ => release.get.start).runSync()
    val sleepers = Task.traverse(1 to 4)(_ => Task.sleep(1.hour).start).runSync()
    eventually("7 block")(inState("blocking") - blocking == 7)
    eventually("13 wait")(inState("waiting") - waiting == 13)
    latch.countDown()
    release.complete(()).runSync(): Unit
    Task.foreach(sleepers)(_.cancel).runSync()
    eventually("none blocks")(inState("blocking") - blocking == 0)
    eventually("none waits")(inState("waiting") - waiting == 0)
  }

  test(
    "a fiber that nobody can wake is lost, and does not count as waiting, once it is collected"
  ) {
    val lost = ended("lost")
    val waiting = inState("waiting")
    Task.foreach(1 to 50)(_ => Deferred[Unit].flatMap(_.get).start).void.runSync()
    eventually("50 wait or are lost")(
      inState("waiting") - waiting + ended("lost") - lost == 50
    )
    eventually("50 are lost") {
      System.gc()
      ended("lost") - lost == 50
    }
    assertEquals(inState("waiting") - waiting, 0.0)
  }

  test("timers and abandoned tasks are counted") {
    val timers = value("weir.timers")
    val fiber = Task.sleep(1.hour).start.runSync()
    eventually("a timer more")(value("weir.timers") - timers == 1)
    fiber.cancel.runSync()
    assertEquals(value("weir.timers"), timers)
    assertEquals(value("weir.tasks.abandoned"), 0.0)
    assertEquals(value("weir.scheduler.carriers"), 2.0)
  }

  test("jobs that wait for a carrier are ready, and the queue has an age") {
    val own = WeirRuntime.make(carriers = 1, ringCapacity = 64)
    val stop = java.util.concurrent.atomic.AtomicBoolean()
    Task(while !stop.get do Thread.onSpinWait()).runAsync(_ => ())(using own): Unit
    def figure(name: String) = own.metrics.find(_.name == name).get.points
    eventually("the carrier is busy")(
      figure("weir.scheduler.carriers.busy").map(_.value) == Vector(1.0)
    )
    (1 to 200).foreach(_ => Task.unit.runAsync(_ => ())(using own))
    def ready = figure("weir.fibers").find(_.attributes == Vector("state" -> "ready")).get.value
    eventually("200 are ready")(ready == 200)
    eventually("the oldest has waited for 60 ms")(
      figure("weir.scheduler.queue.age").head.value >= 0.06
    )
    stop.set(true)
    eventually("none is ready")(ready == 0)
    eventually("the queue has no age")(figure("weir.scheduler.queue.age").head.value == 0)
  }
