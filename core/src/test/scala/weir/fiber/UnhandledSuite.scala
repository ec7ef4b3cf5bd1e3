package weir.fiber

import java.util.concurrent.atomic.{AtomicBoolean, AtomicInteger}
import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch}
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.*
import weir.app.AppProcess
import weir.runtime.{Scheduler, SystemTimers}
import weir.std.Supervisor

/** The reports of fibers that have failed and that no one has joined. */
class UnhandledSuite extends WeirSuite:
  override def limit: FiniteDuration = 40.seconds

  private final class Reporting extends WeirRuntime(Scheduler(2, 64), SystemTimers(), null):
    val reports: ConcurrentLinkedQueue[(String, Throwable)] = ConcurrentLinkedQueue()
    override private[weir] def report(where: String, error: Throwable): Unit =
      reports.add((where, error)): Unit

    def errors: List[Throwable] = reports.asScala.toList.map(_._2)

  private def failing(error: Throwable): Task[Nothing] = Task.cede.andThen(Task.fail(error))

  /** Other suites in this JVM may have left so many reports that there is no room for more. */
  override def beforeEach(context: BeforeEach): Unit =
    eventually("there is room for reports") {
      System.gc()
      Unhandled.dueCount < Unhandled.most / 2
    }

  /** The name of a fiber that runs `task`, once it has ended. Nothing refers to the fiber then. */
  private def ended(task: Task[Any])(using WeirRuntime): String =
    val fiber = task.start.runSync()
    fiber match
      case core: TaskFiber =>
        eventually("it has ended")(core.outcome ne null)
        core.name

  /** Waits until the collector has found a fiber that fails now, and `others` before it: by
    * then it has, most likely, found all of these. A busy machine's worker may hold one for longer.
    */
  private def collect(runtime: Reporting, others: Int = 0): Unit =
    val last = Boom("the last one")
    ended(failing(last))(using runtime): Unit
    eventually("the last one is reported, and those before it") {
      System.gc()
      runtime.errors.exists(_ eq last) && runtime.errors.size > others
    }
    runtime.reports.removeIf(_._2 eq last): Unit

  test("a fiber that has failed and that no one has joined is reported once, with its trace"):
    given runtime: Reporting = Reporting()
    val boom = IllegalStateException("unseen")
    val name = ended(Task.cede.flatMap(_ => Task(throw boom)))
    for _ <- 1 to 2 do collect(runtime, others = 1)
    val List((where, error)) = runtime.reports.asScala.toList: @unchecked
    assert(where.contains(s"fiber $name"), where)
    assert(error eq boom)
    assert(boom.getStackTrace.exists(_.toString == s"weir.fiber($name)"))

  test("the fiber of a background that has failed before the end of the use is reported"):
    given runtime: Reporting = Reporting()
    val boom = Boom()
    def use = failing(boom).background.use { fiber =>
      fiber match
        case core: FiberCore => Task(eventually("it has ended")(core.outcome ne null))
    }
    use.runSync()
    collect(runtime, others = 1)
    assertEquals(runtime.errors, List(boom))

  test("a fiber that was joined, before its end or after it, is not reported"):
    given runtime: Reporting = Reporting()
    val boom = Boom()
    def before() = failing(boom).start.flatMap(_.join).runSync()
    def after() =
      val fiber = failing(boom).start.runSync()
      fiber match
        case core: FiberCore => eventually("it has ended")(core.outcome ne null)
      fiber.join.runSync()
    assertEquals(List(before(), after()), List.fill(2)(Outcome.Failed(boom)))
    collect(runtime)
    assertEquals(runtime.errors, Nil)

  /** Counts the times that its trace is asked for: once by each fiber that may add to it. */
  private final class Counted extends RuntimeException(null, null, false, false):
    val asked = AtomicInteger()
    override def getStackTrace: Array[StackTraceElement] =
      asked.incrementAndGet(): Unit
      Array.empty

  private def untilEnded(fiber: Fiber[Any]): Task[Any] =
    fiber.poll.flatMap(outcome => if outcome.isEmpty then untilEnded(fiber) else Task.unit)

  for (form, end) <- List[(String, Fiber[Any] => Task[Any])](
      "join" -> (_.joinOrFail.attempt),
      "poll" -> untilEnded
    )
  do
    test(s"a $form at the moment at which the fiber ends is one as any other"):
      given runtime: Reporting = Reporting()
      def ended(round: Int): Task[Int] =
        val error = Counted()
        val begun, goOn = AtomicBoolean()
        val child = Task {
          begun.set(true)
          while !goOn.get do Thread.onSpinWait()
          throw error
        }
        child.start
          .flatMap { fiber =>
            while !begun.get do Thread.onSpinWait()
            goOn.set(true)
            for _ <- 1 to round % 40 do Thread.onSpinWait() // it ends sooner or later than `end`
            end(fiber)
          }
          .map(_ => error.asked.get)
      val asked = Task.traverse(1 to Tier(2_000, 50_000))(ended).runSync()
      assertEquals(asked.distinct.size, 1, s"the trace was passed on or not: ${asked.distinct}")
      collect(runtime)
      assertEquals(runtime.errors, Nil)

  test("a join that is cancelled before the end does not count"):
    given runtime: Reporting = Reporting()
    val boom = Boom()
    def abandoned(): Unit =
      val gate = CountDownLatch(1)
      val fiber = Task(gate.await()).andThen(Task.fail(boom)).start.runSync()
      assert(fiber.join.timeout(5.millis).attempt.runSync().isLeft)
      gate.countDown()
      fiber match
        case core: FiberCore => eventually("it has ended")(core.outcome ne null)
    abandoned()
    collect(runtime, others = 1)
    assertEquals(runtime.errors, List(boom))

  test("a cancel of a fiber that has failed does not count as a join"):
    given runtime: Reporting = Reporting()
    val boom = Boom()
    def canceled(): Unit =
      val fiber = failing(boom).start.runSync()
      fiber match
        case core: FiberCore => eventually("it has ended")(core.outcome ne null)
      fiber.cancel.runSync()
    canceled()
    collect(runtime, others = 1)
    assertEquals(runtime.errors, List(boom))

  test(
    "a child, a supervised or cancelled fiber, and what leaves a task have reports of their own"
  ):
    given runtime: Reporting = Reporting()
    val boom = Boom()
    val fails = failing(boom)
    val numbers = Stream.fromIterable(1 to 3)
    val others = List[Task[Any]](
      Task.both(fails, fails),
      Task.parTraverse(1 to 3)(_ => fails),
      Task.firstSuccess(List(fails, fails)),
      fails.timeout(1.hour),
      fails.timeoutAbandon(1.hour),
      Scope.run(scope => scope.fork(fails).andThen(Task.never)),
      Supervisor(await = true).use(_.supervise(fails)),
      numbers.evalMap(_ => fails).prefetchN(1).drain,
      numbers.parEvalMap(2)(_ => fails).drain,
      numbers.merge(numbers.evalMap(_ => fails)).drain,
      Task.never.guarantee(Task.unit).start.flatMap(_.cancel)
    )
    for task <- others do task.attempt.runSync(): Unit
    val called = CountDownLatch(1)
    fails.runAsync(_ => called.countDown()): Unit
    await(called)
    collect(runtime)
    assertEquals(runtime.reports.asScala.toList, Nil)
    ended(fails.startDaemon.flatMap(_.join)): Unit
    def daemon(): Unit =
      fails.startDaemon.runSync() match
        case core: FiberCore => eventually("it has ended")(core.outcome ne null)
    daemon()
    collect(runtime, others = 2)
    assertEquals(runtime.reports.asScala.toList, List.fill(2)(("a daemon", boom)))

  test("a failure is reported at the end of a program too, with or without a WeirApp"):
    val process = AppProcess("unjoined failure", 20_000)
    try
      assertEquals((process.rest(), process.exitCode()), (List("done"), 0))
      val stderr = process.stderr()
      assertEquals(stderr.sliding(6).count(_ == "unseen"), 1, stderr)
      assert(stderr.contains("AppUnderTest.scala:"), stderr)
    finally process.close()
    val (output, code) = WeirSuite.child("weir.fiber.Unjoined")
    assertEquals(code, 0, output)
    assert(output.contains("IllegalStateException: unseen"), output)

  test("at the end of a program a thousand are reported, and the rest is counted"):
    val (output, code) = WeirSuite.child("weir.fiber.Unjoined", "-Dfibers=1200")
    assertEquals(code, 0, output.take(1000))
    val reports = output.linesIterator.count(_.contains("which was never joined"))
    assertEquals(reports, Unhandled.most)
    assert(output.contains("weir: 200 more fibers have failed, unjoined."), output.takeRight(1000))

  test("an error whose own methods throw is reported by its class"):
    val err = System.err
    val printed = java.io.ByteArrayOutputStream()
    System.setErr(java.io.PrintStream(printed, true))
    try WeirRuntime.default.report("a test's own fiber", Untold())
    finally System.setErr(err)
    assert(printed.toString.contains("weir.fiber.Untold"), printed.toString)

final class Untold extends RuntimeException:
  override def getMessage: String = throw IllegalStateException("no message")

/** A program whose fibers fail, and that keeps them without joining any. */
object Unjoined:
  def main(args: Array[String]): Unit =
    val error = IllegalStateException("unseen")
    val fibers = (1 to Integer.getInteger("fibers", 1)).map { _ =>
      Task.cede.andThen(Task.fail(error)).start.runSync()
    }
    fibers.foreach { case core: FiberCore => while core.outcome eq null do Thread.sleep(1) }
    println(s"keeps ${fibers.size}")
