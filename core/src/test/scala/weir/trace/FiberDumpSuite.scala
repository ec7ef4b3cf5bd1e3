package weir.trace

import java.io.PrintStream
import java.lang.ref.WeakReference
import java.nio.file.{Files, Path}
import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch, TimeUnit}
import java.util.concurrent.atomic.AtomicReference
import java.util.jar.{Attributes, JarOutputStream, Manifest}
import scala.concurrent.duration.*
import weir.*
import weir.FiberDump.{Entry, State}
import weir.fiber.{Awaited, FiberCore, Suspend, TaskFiber, WaitList}
import weir.std.CyclicBarrier

/** The entry of each fiber in a dump. PAINS row 23. */
class FiberDumpSuite extends WeirSuite:

  private def nameOf(fiber: Fiber[Any]): String = fiber match
    case core: FiberCore => core.name

  /** Returns the entry of `fiber` in the dump once the condition holds. */
  private def once(fiber: Fiber[Any], runtime: WeirRuntime = WeirRuntime.default)(
      isSo: Entry => Boolean
  ): Entry =
    val found = AtomicReference[Option[Entry]](None)
    eventually(s"${nameOf(fiber)} as wanted in ${runtime.dump()}") {
      found.set(runtime.fiberDump().fibers.find(e => e.fiber == nameOf(fiber) && isSo(e)))
      found.get.isDefined
    }
    found.get.get

  private def files(entry: Entry): Set[String] = entry.trace.map(_.getFileName).toSet

  private val here = "FiberDumpSuite.scala"

  private def stop(fibers: Fiber[Any]*): Unit = fibers.foreach(_.cancel.runSync())

  test("row 23: a fiber that waits says for what, since when, who holds it, and its user's lines"):
    val gate = Deferred.unsafe[Unit]
    val holder = gate.get.start.runSync()
    val waiter = holder.join.map(_ => 1).start.runSync()
    val entry = once(waiter)(_.sinceNanos > 50_000_000L)
    assertEquals(entry.state, State.Waiting)
    assertEquals(entry.awaits, s"the end of fiber ${nameOf(holder)}")
    assertEquals(entry.holders, Vector(nameOf(holder)))
    assert(files(entry).contains(here), entry.trace.toString)
    assert(entry.sinceNanos < 30.seconds.toNanos, entry.toString)
    val text = WeirRuntime.default.dump()
    assert(text.contains(s"held by fiber ${nameOf(holder)}"), text)
    gate.complete(()).runSync(): Unit
    waiter.join.runSync(): Unit

  /** A lock that names its holder, as a mutex does. */
  private final class Held(holder: TaskFiber) extends Awaited:
    val waiting = WaitList()
    def awaitedAs: String = "a lock of the test's"
    override def holders: Iterator[TaskFiber] = Iterator(holder)
    val acquire: Task[Unit] = new Suspend[Unit]:
      def begin(fiber: TaskFiber): Any = Held.this.synchronized {
        val entry = WaitList.Entry(fiber, waiting, Held.this)
        waiting.add(entry)
        entry
      }

  test("row 23: a wait is described by what it waits for"):
    val holder = Task.never.start.runSync()
    val held = Held(holder.asInstanceOf[TaskFiber])
    val waiter = held.acquire.start.runSync()
    val entry = once(waiter)(_.state == State.Waiting)
    assertEquals(entry.awaits, "a lock of the test's")
    assertEquals(entry.holders, Vector(nameOf(holder)))
    stop(waiter, holder)

  test(
    "row 23: fibers that wait for each other in a circle are flagged, whatever the kind of wait"
  ):
    val box = Deferred.unsafe[Fiber[Any]]
    val first = box.get.flatMap(_.join).start.runSync()
    val held = Held(first.asInstanceOf[TaskFiber])
    val second = held.acquire.start.runSync()
    val third = second.join.start.runSync()
    box.complete(third).runSync(): Unit
    once(first)(_.holders.nonEmpty): Unit
    once(third)(_.holders.nonEmpty): Unit
    val names = Set(first, second, third).map(nameOf)
    val cycles = WeirRuntime.default.fiberDump().cycles.filter(_.exists(names))
    assertEquals(cycles.map(_.toSet), Vector(names))
    assert(WeirRuntime.default.dump().contains("DEADLOCK"), WeirRuntime.default.dump())
    stop(second, third, first)
    assertEquals(WeirRuntime.default.fiberDump().cycles.filter(_.exists(names)), Vector.empty)

  test("a fiber that waits for itself is a circle of one"):
    val box = Deferred.unsafe[Fiber[Any]]
    val own = box.get.flatMap(_.join).start.runSync()
    box.complete(own).runSync(): Unit
    once(own)(_.holders == Vector(nameOf(own))): Unit
    val cycles = WeirRuntime.default.fiberDump().cycles
    assert(cycles.contains(Vector(nameOf(own))), cycles.toString)
    stop(own)

  test("who holds permits of a semaphore is told by the frames of withPermit"):
    val semaphore = Semaphore.unsafe(2)
    val holders = Task.traverse(1 to 2)(_ => semaphore.withPermit(Task.never).start).runSync()
    eventually("both hold")(semaphore.available.runSync() == 0)
    val waiter = semaphore.withPermit(Task.never).start.runSync()
    val entry = once(waiter)(_.holders.size == 2)
    assertEquals(entry.holders.toSet, holders.map(nameOf).toSet)
    assertEquals(entry.awaits, "Semaphore(2), for which 1 waits")
    stop((holders :+ waiter)*)

  private def waitsAround(one: Semaphore, other: Semaphore): List[Fiber[Any]] =
    val both = CyclicBarrier.unsafe(2)
    def fiber(first: Semaphore, second: Semaphore) =
      first.withPermit(both.await >> second.withPermits(2)(Task.unit)).start.runSync()
    val fibers = List(fiber(one, other), fiber(other, one))
    fibers.foreach(once(_)(_.holders.nonEmpty))
    fibers

  test("two fibers that hold all permits which the other one wants are a circle"):
    val fibers = waitsAround(Semaphore.unsafe(1), Semaphore.unsafe(1))
    val cycles = WeirRuntime.default.fiberDump().cycles.map(_.toSet)
    assert(cycles.contains(fibers.map(nameOf).toSet), cycles.toString)
    val text = WeirRuntime.default.dump()
    val ends = fibers.map(fiber => s"waits for ${nameOf(fiber)}, unless `release` adds a permit")
    assert(ends.exists(text.contains), text)
    stop(fibers*)

  test("fibers that hold some of the permits are no circle: others may return theirs"):
    val fibers = waitsAround(Semaphore.unsafe(2), Semaphore.unsafe(2))
    assertEquals(WeirRuntime.default.fiberDump().cycles, Vector.empty)
    stop(fibers*)

  test("a holder of permits of a semaphore is no circle where `release` may have added some"):
    def twice(semaphore: Semaphore) = // the second permit comes from an event
      semaphore.withPermit(semaphore.withPermit(Task.unit)).start.runSync()
    def cyclesOf(fiber: Fiber[Any]) =
      once(fiber)(_.awaits.startsWith("Semaphore(")): Unit
      WeirRuntime.default.fiberDump().cycles.filter(_.contains(nameOf(fiber)))

    val events = Semaphore.unsafe(0)
    events.release.runSync()
    val first = twice(events)
    assertEquals(cyclesOf(first), Vector.empty)
    events.release.runSync()
    first.join.runSync(): Unit

    val grown = Semaphore.unsafe(1)
    val gate = Deferred.unsafe[Unit]
    val other = grown.withPermit(gate.get).start.runSync()
    eventually("it holds")(grown.available.runSync() == 0)
    grown.release.runSync()
    val second = twice(grown)
    assertEquals(cyclesOf(second), Vector.empty)
    gate.complete(()).runSync(): Unit
    Task.foreach(List(other, second))(_.join).runSync()

  test("a fiber with no permit is no holder"):
    val semaphore = Semaphore.unsafe(0)
    val none = semaphore.withPermits(0)(Task.never).start.runSync()
    once(none)(_.awaits.contains("never")): Unit
    val waiter = semaphore.acquire.start.runSync()
    assertEquals(once(waiter)(_.state == State.Waiting).holders, Vector.empty)
    stop(waiter, none)

  test("a class of the user's is not asked for a line without an instance"):
    val of = OfUser(() => 1)
    assert(Functions.ofClass(classOf[OfUser]) ne null)
    assertEquals(OfUser.calls, 0)
    val line = Functions.in(of).head
    assert(line.getMethodName.contains("anonfun"), line.toString)

  test("a fiber without functions of its own has the line at which its starter continued"):
    val line = Throwable().getStackTrace.head.getLineNumber
    val byFunction = Task.never.start.map(fiber => fiber) // line + 1
    val byItem = Task.traverse(List(1))(_ => Task.never.start).map(_.head) // line + 2
    for (start, i) <- List(byFunction, byItem).zipWithIndex do
      val fiber = start.runSync()
      val entry = once(fiber)(_.state == State.Waiting)
      val started = entry.started.map(at => (at.getFileName, at.getLineNumber))
      assertEquals(started, Some(here, line + 1 + i))
      assertEquals(entry.trace.size, 1, "the line that stands for the fiber")
      assert(WeirRuntime.default.dump().contains("started before weir.trace.FiberDumpSuite"))
      stop(fiber)
    val ofItself = Task.never.map(_ => 1).start.map(fiber => fiber).runSync()
    assertEquals(once(ofItself)(_.state == State.Waiting).started, None)
    stop(ofItself)

  test("a fiber that sleeps says when it is due"):
    val fiber = Task.sleep(1.hour).map(_ => 1).start.runSync()
    val entry = once(fiber)(_.state == State.Waiting)
    assertEquals(entry.awaits, "Task.sleep, due in 1 h")
    assert(files(entry).contains(here), entry.trace.toString)
    stop(fiber)

  test("a fiber that blocks says in what, on which thread, and at which line"):
    val fiber = Task(Thread.sleep(60_000)).start.runSync()
    // A thread blocks elsewhere, too, while classes are loaded.
    val entry =
      once(fiber)(e => e.state == State.Blocked && e.awaits == "java.lang.Thread.sleep")
    assert(entry.thread.startsWith("weir-worker#"), entry.thread)
    assert(files(entry).contains(here), entry.trace.toString)
    stop(fiber)

  test("a fiber that computes says on which thread and at which line"):
    val done = CountDownLatch(1)
    val fiber = Task(while done.getCount > 0 do Thread.onSpinWait()).start.runSync()
    val entry = once(fiber)(_.state == State.Running)
    assert(entry.thread.startsWith("weir-worker#"), entry.thread)
    assert(files(entry).contains(here), entry.trace.toString)
    done.countDown()
    fiber.join.runSync(): Unit

  test("a fiber that waits for a carrier is queued"):
    val runtime = WeirRuntime.make(1, 64)
    val done = CountDownLatch(1)
    val begun = CountDownLatch(1)
    val busy = Task {
      begun.countDown()
      while done.getCount > 0 do Thread.onSpinWait()
    }
    val running = busy.start.runSync()(using runtime)
    await(begun)
    val queued = Task(()).start.runSync()(using runtime)
    once(queued, runtime)(_.state == State.Queued): Unit
    done.countDown()
    running.join.runSync()(using runtime): Unit
    settles(runtime)

  test("the parent of children that sleep is found by them, and says so"):
    val parent = Task.parTraverse(1 to 3)(_ => Task.sleep(1.hour)).start.runSync()
    val entry = once(parent)(_.holders.size == 3)
    assertEquals(entry.awaits, "children that it runs concurrently")
    stop(parent)

  /** Children of `body`, each of which blocks until `meanwhile` has ended; all of them have begun
    * by then.
    */
  private def blocked(children: Int)(body: (=> Unit) => Task[Unit])(
      meanwhile: (WeirRuntime, Fiber[Any]) => Unit
  ): Unit =
    val runtime = WeirRuntime.make(2, 64)
    val begun = CountDownLatch(children)
    val gate = CountDownLatch(1)
    val child = body {
      begun.countDown()
      gate.await()
    }
    val parent = Task.parTraverse(1 to children)(_ => child).start.runSync()(using runtime)
    try
      await(begun)
      eventually("all are blocked")(countBlocked(runtime) == children)
      meanwhile(runtime, parent)
    finally gate.countDown()
    parent.join.runSync()(using runtime): Unit
    eventually("all has ended")(runtime.fiberDump().fibers.isEmpty)
    assertEquals(runtime.scheduler.fiberRegistry.size, 0)

  private def countBlocked(runtime: WeirRuntime): Int =
    runtime.fiberDump().fibers.count(_.state == State.Blocked)

  test("children that block on workers of their own are all found, and nothing is left of them"):
    blocked(300)(Task.delay(_)) { (runtime, parent) =>
      val entry = once(parent, runtime)(_.holders.size == 300)
      assertEquals(entry.awaits, "children that it runs concurrently")
      assertEquals(runtime.scheduler.fiberRegistry.size, 1, "the group")
    }

  test("children that a cancel does not end are all found, whatever their parent does meanwhile"):
    blocked(300)(Task.uninterruptible(_)) { (runtime, parent) =>
      parent.cancel.start.runSync(): Unit
      for _ <- 1 to 20 do assertEquals(countBlocked(runtime), 300)
      once(parent, runtime)(_.holders.size == 300): Unit
    }

  test("the parent of a child that blocks is found by it"):
    val gate = CountDownLatch(1)
    val parent = Task(gate.await()).timeout(1.hour).start.runSync()
    assertEquals(once(parent)(_.state == State.Waiting).holders.size, 1)
    gate.countDown()
    parent.join.runSync(): Unit

  test("a fiber that calls runSync is held by the fiber of that"):
    val fiber = Task(Task.sleep(1.hour).runSync()).start.runSync()
    val entry = once(fiber)(_.holders.nonEmpty)
    assertEquals(entry.awaits, "a runSync inside of it")
    stop(fiber)

  test("a stream that waits in direct style says so, with the lines of its stages"):
    val fiber = Stream.fromIterable(1 to 3).evalMap(_ => Task.sleep(1.hour)).drain.start.runSync()
    val entry = once(fiber)(_.state == State.Awaiting)
    assert(files(entry).contains(here), entry.trace.toString)
    stop(fiber)

  test("fibers that do the same are told once"):
    val parent = Task.parTraverse(1 to 1000)(_ => Task.sleep(1.hour)).start.runSync()
    once(parent)(_.holders.size == 1000): Unit
    val text = WeirRuntime.default.dump()
    assert(text.contains("1000 fibers, such as"), text)
    assert(text.length < 20_000, s"${text.length} characters")
    stop(parent)

  test("a fiber that no code can wake any more is collected, and is in no dump"):
    def abandon(): WeakReference[Fiber[Any]] =
      val gate = Deferred.unsafe[Unit]
      val fiber = gate.get.start.runSync()
      once(fiber)(_.state == State.Waiting): Unit
      WeakReference(fiber)
    val abandoned = List.fill(200)(abandon())
    eventually("they are collected") {
      System.gc()
      abandoned.forall(_.get eq null)
    }

  test("a fiber that has ended is kept alive by nothing"):
    val ended = List.fill(200) {
      val fiber = Task.cede.andThen(Deferred[Unit]).flatMap(_.get.timeout(1.milli).attempt).start
      val started = fiber.runSync()
      started.join.runSync(): Unit
      WeakReference(started)
    }
    eventually("they are collected") {
      System.gc()
      ended.forall(_.get eq null)
    }

  test(
    "a callback that is never called keeps nothing of the group whose child has waited for it"
  ):
    val callbacks = ConcurrentLinkedQueue[AnyRef]()
    val never = Task.async[AnyRef](callback => callbacks.add(callback): Unit)
    val waits = Task(eventually("the other one waits")(!callbacks.isEmpty))
    val winner =
      WeakReference(Task.race(never, waits.map(_ => new Object)).runSync().fold(identity, identity))
    eventually("what the other child has won with is collected") {
      System.gc()
      winner.get eq null
    }

  test("a process prints its dump on a signal, on request"):
    val (output, code) = WeirSuite.child("weir.trace.Signalled", "-Dweir.dump.signal=USR2")
    assertEquals(code, 0, output)
    assert(output.contains("Task.sleep, due in 1 h"), output)
    assert(output.contains("at weir.trace.Signalled"), output)

  test("jcmd writes the dump to a file"):
    val folder = Files.createTempDirectory("weir-jcmd")
    val jar = folder.resolve("agent.jar")
    val manifest = Manifest()
    manifest.getMainAttributes.put(Attributes.Name.MANIFEST_VERSION, "1.0"): Unit
    manifest.getMainAttributes.putValue("Agent-Class", "weir.trace.DumpAgent"): Unit
    JarOutputStream(Files.newOutputStream(jar), manifest).close()
    val fiber = Task.sleep(1.hour).start.runSync()
    once(fiber)(_.state == State.Waiting): Unit
    val to = folder.resolve("fibers.txt")
    val jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString
    val pid = ProcessHandle.current().pid.toString
    val process =
      ProcessBuilder(jcmd, pid, "JVMTI.agent_load", jar.toString, to.toString).start()
    assertEquals(process.waitFor(), 0)
    assert(Files.readString(to).contains(nameOf(fiber)), Files.readString(to))
    stop(fiber)

/** A function with a `writeReplace` of the user's, which needs the function's values. */
private final class OfUser(inner: () => Int) extends Function0[Int], Serializable:
  def apply(): Int = inner()
  def writeReplace(): AnyRef =
    OfUser.calls += 1
    val form = inner.getClass.getDeclaredMethod("writeReplace")
    form.setAccessible(true)
    form.invoke(inner)

private object OfUser:
  @volatile var calls = 0

object Signalled:
  def main(args: Array[String]): Unit =
    val printed = CountDownLatch(1)
    System.setErr(
      new PrintStream(System.err, true):
        override def println(text: String): Unit =
          super.println(text)
          printed.countDown()
    )
    val fiber = Task.sleep(1.hour).map(_ => 1).start.runSync()
    val pid = ProcessHandle.current().pid
    ProcessBuilder("kill", "-USR2", pid.toString).start().waitFor(): Unit
    printed.await(15, TimeUnit.SECONDS): Unit // on a thread that the signal has of its own
    fiber.cancel.runSync()
