package weir.console

import scala.concurrent.duration.*
import weir.*
import weir.metrics.Metrics

/** Planted faults are found. The moments are the test's, not the clock's. */
class LintsSuite extends WeirSuite:
  private val window = 6
  private val lints = Lints(window, growth = window, heldNanos = 0, waitNanos = 0)

  private final class Watched:
    val sampler = Sampler(lints)
    private var millis = 0L

    def tick(fibers: Option[Fibers] = None): Unit =
      millis += 1000
      val process = Vector(0.0, 0.0)
      sampler.tick(millis, WeirRuntime.default.metrics, process, fibers)

    def ticks(step: => Any): Unit = (1 to window).foreach { _ =>
      step: Unit
      tick()
    }

    /** The kinds of the warnings that name `thing`. */
    def kinds(thing: String): List[String] =
      sampler.now.warnings.filter(_.title.contains(s"\"$thing\"")).map(_.kind).toList

  private def fibersNow(): Fibers = Fibers(WeirRuntime.default.fiberDump(), System.nanoTime(), 0)

  test("a queue that only grows is named, and one that is emptied is not"):
    val growing = Queue.unsafe[Int](1000).named("planted growth")
    val steady = Queue.unsafe[Int](1000).named("steady")
    val watched = Watched()
    watched.ticks {
      growing.offerAll(List.fill(20)(1)).runSync()
      steady.offerAll(List.fill(20)(1)).runSync()
      Task.foreach(1 to 20)(_ => steady.take).runSync()
    }
    assertEquals(watched.kinds("planted growth"), List("queue-grows"))
    assertEquals(watched.kinds("steady"), Nil)
    val text = watched.sampler.now.warnings.find(_.kind == "queue-grows").get.text
    assert(text.startsWith("It had 20 values 6 seconds ago and has 120."), text)
    assert(text.contains(" It is named at weir.console.LintsSuite.$init$(LintsSuite.scala:"), text)

  test("a full queue at which more and more fibers wait for room is named"):
    val queue = Queue.unsafe[Int](1).named("planted full")
    queue.offer(0).runSync()
    val watched = Watched()
    val offers = List.newBuilder[Fiber[Any]]
    watched.ticks {
      val before = waiting("weir.queue.waiting", "planted full")
      offers += queue.offer(1).start.runSync()
      eventually("it waits")(waiting("weir.queue.waiting", "planted full") > before)
    }
    assertEquals(watched.kinds("planted full"), List("queue-full"))
    Task.foreach(offers.result())(_.cancel).runSync()

  private def waiting(metric: String, name: String): Double =
    Metrics.ofSources
      .filter(_.name == metric)
      .flatMap(_.points)
      .filter(_.attributes.contains("name" -> name))
      .map(_.value)
      .sum

  test("a lock whose holder waits for nothing that can come is found at once"):
    val mutex = Mutex.unsafe()
    val holder = mutex.withLock(Task.never).start.map(fiber => fiber).runSync()
    eventually("it holds")(mutex.isLocked.runSync())
    val waiter = mutex.withLock(Task.unit).map(_ => 1).start.runSync()
    def found = Lints().ofFibers(fibersNow()).filter(_.kind == "not-released")
    eventually("it is found")(found.nonEmpty)
    assertEquals(found.head.title, "A fiber waits for a permit that does not come back")
    assert(found.head.text.contains(", and waits for nothing that can come."), found.head.text)
    val lines = found.head.fibers.map(_.line)
    assert(
      lines.head.startsWith("nothing: Task.never, started before weir.console.LintsSuite"),
      lines
    )
    Task.foreach(List(waiter, holder))(_.cancel).runSync()

  test("the holders of a semaphore are named, and nothing is wrong while they may return permits"):
    val semaphore = Semaphore.unsafe(2)
    val gate = Deferred.unsafe[Unit]
    val holders = Task.traverse(1 to 2)(_ => semaphore.withPermit(gate.get).start).runSync()
    eventually("both hold")(semaphore.available.runSync() == 0)
    val waiter = semaphore.withPermit(Task.unit).map(_ => 1).start.runSync()
    eventually("its holders are known")(fibersNow().roots.exists(_.holders.size == 2))
    assertEquals(Lints().ofFibers(fibersNow()), Vector.empty)
    val late = lints.ofFibers(fibersNow()).filter(_.kind == "not-released").head
    assert(late.text.contains(" and 1 more have permits, and may never return it."), late.text)
    gate.complete(()).runSync(): Unit
    Task.foreach(holders :+ waiter)(_.join).runSync()

  test("a permit that another fiber may return is not told at once"):
    val semaphore = Semaphore.unsafe(2)
    semaphore.acquire.runSync() // and it may be released later
    val holder = semaphore.withPermit(Task.never).start.runSync()
    eventually("both are taken")(semaphore.available.runSync() == 0)
    val waiter = semaphore.withPermit(Task.unit).map(_ => 1).start.runSync()
    eventually("its holder is known")(fibersNow().roots.exists(_.holders.nonEmpty))
    assertEquals(Lints().ofFibers(fibersNow()), Vector.empty)
    assertEquals(lints.ofFibers(fibersNow()).map(_.kind), Vector("not-released"))
    semaphore.release.runSync()
    waiter.join.runSync(): Unit
    holder.cancel.runSync()

  test("permits of a semaphore whose holders all wait for nothing that can come are told at once"):
    val semaphore = Semaphore.unsafe(2)
    val holders = Task.traverse(1 to 2)(_ => semaphore.withPermit(Task.never).start).runSync()
    eventually("both hold")(semaphore.available.runSync() == 0)
    val waiter = semaphore.withPermit(Task.unit).map(_ => 1).start.runSync()
    def found = Lints().ofFibers(fibersNow())
    eventually("it is found")(found.nonEmpty)
    assertEquals(found.head.title, "A fiber waits for a permit that does not come back")
    Task.foreach(waiter +: holders)(_.cancel).runSync()

  test("a cycle of a lock is for ever; one of a semaphore may be ended by `release`"):
    val semaphore = Semaphore.unsafe(1)
    val mutex = Mutex.unsafe()
    val waits = List(
      mutex.withLock(mutex.withLock(Task.unit)) -> "None of them can ever continue.",
      semaphore.withPermit(semaphore.withPermit(Task.unit)) ->
        "None of them can continue, unless `release` adds a permit."
    )
    for (task, text) <- waits do
      val fiber = task.start.runSync()
      def found = Lints().ofFibers(fibersNow()).filter(_.kind == "cycle").map(_.text)
      eventually("it is found")(found == Vector(text))
      fiber.cancel.runSync()

  test("a lock that is never released is found by its figures, and by the fiber that waits"):
    val mutex = Mutex.unsafe().named("planted lock")
    val gate = Deferred.unsafe[Unit]
    val holder = mutex.withLock(gate.get).start.runSync()
    eventually("it holds")(mutex.isLocked.runSync())
    val watched = Watched()
    val waiters = List.newBuilder[Fiber[Any]]
    watched.ticks {
      val before = waiting("weir.mutex.waiting", "planted lock")
      waiters += mutex.withLock(Task.unit).map(_ => 1).start.runSync()
      eventually("it waits")(waiting("weir.mutex.waiting", "planted lock") > before)
    }
    assertEquals(watched.kinds("planted lock"), List("not-released"))
    watched.tick(Some(fibersNow()))
    val found = watched.sampler.now.warnings.filter(_.title.contains("waited for a permit"))
    assertEquals(found.map(_.kind), Vector("not-released"))
    assert(found.head.text.contains("LintsSuite.scala"), found.head.text)
    val held = WeirRuntime.default.fiberDump().fibers.map(_.fiber)
    assert(found.head.fibers.forall(one => held.contains(one.name)), found.head.fibers)
    assert(found.head.text.contains("has it, and may never return it"), found.head.text)
    assert(found.head.fibers.last.line.contains("LintsSuite.scala"), found.head.fibers)
    assert(found.head.title.contains("5 more at the same line"), found.head.title)
    Task.foreach(holder :: waiters.result())(_.cancel).runSync()

  test("a lock for which fibers wait in turn is not named"):
    val mutex = Mutex.unsafe().named("busy lock")
    val holder = mutex.withLock(Task.never).start.runSync()
    eventually("it holds")(mutex.isLocked.runSync())
    val waiter = mutex.withLock(Task.never).start.runSync()
    eventually("it waits")(waiting("weir.mutex.waiting", "busy lock") == 1)
    val watched = Watched()
    watched.ticks(())
    assertEquals(watched.kinds("busy lock"), Nil)
    Task.foreach(List(waiter, holder))(_.cancel).runSync()

  test("a wait for a Deferred that no fiber is known to complete, and a cycle, are found"):
    val deferred = Deferred.unsafe[Unit]
    val waiter = deferred.get.map(_ => 1).start.runSync()
    val box = Deferred.unsafe[Fiber[Any]]
    val own = box.get.flatMap(_.join).start.runSync()
    box.complete(own).runSync(): Unit
    eventually("both are seen") {
      val kinds = lints.ofFibers(fibersNow()).map(_.kind)
      kinds.contains("waits-long") && kinds.contains("cycle")
    }
    Task.foreach(List(waiter, own))(_.cancel).runSync()
    assertEquals(lints.ofFibers(fibersNow()).filter(_.kind == "cycle"), Vector.empty)

  test("a fiber that sleeps, or waits at a queue, is no warning"):
    val queue = Queue.unsafe[Int](1)
    val fibers = List(Task.sleep(1.hour).start.runSync(), queue.take.start.runSync())
    eventually("both wait")(fibersNow().size >= 2)
    assertEquals(lints.ofFibers(fibersNow()), Vector.empty)
    Task.foreach(fibers)(_.cancel).runSync()

  test("values that go up and down do not grow"):
    assert(Lints.grows(Vector(1, 5, 9, 12, 20, 30)))
    assert(!Lints.grows(Vector(1, 30, 9, 12, 20, 30)))
    assert(!Lints.grows(Vector(30, 30, 30, 30, 30, 30)))
    assert(!Lints.grows(Vector(0, 1, 2, 3, 4, 5)), "few")
    assert(!Lints.grows(Vector(30, 40, 50, 40, 30, 20)))
