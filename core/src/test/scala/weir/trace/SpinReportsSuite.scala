package weir.trace

import java.net.{InetAddress, ServerSocket, SocketTimeoutException}
import java.util.concurrent.{ConcurrentLinkedQueue, CountDownLatch}
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import weir.*
import weir.fiber.FiberCore
import weir.runtime.{ProcessorTime, Scheduler, SystemTimers}

/** Reports of fibers that compute for long, as users get them. PAINS row 1. */
class SpinReportsSuite extends WeirSuite:
  // A busy machine gives little of the processor time that a spin needs.
  override def limit = super.limit * 6

  private val reported = ConcurrentLinkedQueue[Spin]()

  /** Returns times as if each thread had had a processor all the time, so that computing code is
    * reported however busy the machine is.
    */
  private final class RealTime extends ProcessorTime:
    override def threadUnder(thread: Thread, latest: Thread | Null): Thread | Null = thread
    override def usedNanos(thread: Thread): Long = System.nanoTime()

  private def spinning(body: WeirRuntime ?=> Unit): List[Spin] = observed(RealTime())(body)

  /** Returns the spins that are reported while `body` runs on a runtime of its own, by real
    * processor time: code that should not be reported on an idle machine is not reported on a busy
    * one either.
    */
  private def spins(body: WeirRuntime ?=> Unit): List[Spin] = observed(ProcessorTime())(body)

  private def observed(times: ProcessorTime)(body: WeirRuntime ?=> Unit): List[Spin] =
    val runtime = WeirRuntime(Scheduler(2, 64, times), SystemTimers(), null)
    reported.clear()
    runtime.onSpin(spin => reported.add(spin): Unit)
    body(using runtime)
    settles(runtime)
    eventually("the watch has nothing more to say")(runtime.scheduler.watch.isAsleep)
    reported.asScala.toList

  /** Computes until that has been reported, and then for one and a half times as long. */
  private def spin(): Unit =
    val before = reported.size
    val begin = System.nanoTime()
    while reported.size == before && System.nanoTime() - begin < 20_000_000_000L do
      Thread.onSpinWait()
    val took = System.nanoTime() - begin
    val end = System.nanoTime() + took * 3 / 2
    while System.nanoTime() < end do Thread.onSpinWait()

  test("row 1: a task that computes for long is reported once, with its fiber and line"):
    var name = ""
    val found = spinning {
      val fiber = Task.cede.andThen(Task(spin())).start.runSync()
      fiber match
        case core: FiberCore => name = core.name
      fiber.join.runSync(): Unit
    }
    assertEquals(found.map(_.fiber), List(name))
    // The loop may be found in the JDK's queue, in which it looks for the report.
    val own = found.head.trace.dropWhile(_.getClassName.startsWith("java."))
    assertEquals(own.head.getFileName, "SpinReportsSuite.scala")
    assert(found.head.thread.getName == "weir-worker", found.head.toString)
    assert(found.head.toString.contains("SpinReportsSuite.scala:"), found.head.toString)

  test("a task on the thread of its runSync is reported too"):
    val found = spinning(Task(spin()).runSync())
    assertEquals(found.size, 1)
    assert(found.head.thread eq Thread.currentThread(), found.head.toString)

  test("each spin of a fiber is reported"):
    val found = spinning {
      // A sleep might end before the fiber has suspended, on a busy machine: then it is one slice.
      val twice = Task(spin()).andThen(Task.cede).andThen(Task(spin()))
      twice.start.flatMap(_.join).runSync(): Unit
    }
    assertEquals(found.size, 2)

  test("row 1: what computes is reported also where all else has been blocked for long"):
    val found = spinning {
      val released = CountDownLatch(1)
      val blocked = Task(released.await()).start.runSync()
      eventually("the watch looks seldom")(summon[WeirRuntime].scheduler.watch.isSlow)
      Task(spin()).start.flatMap(_.join).runSync(): Unit
      released.countDown()
      blocked.join.runSync(): Unit
    }
    assertEquals(found.size, 1)

  test("row 1: blocking gives no report"):
    val server = ServerSocket(0, 1, InetAddress.getLoopbackAddress)
    server.setSoTimeout(400)
    val found = spins {
      val accept = Task(server.accept(): Unit).handleError {
        case _: SocketTimeoutException => ()
        case error => throw error
      }
      val monitor = Object()
      val held = Object()
      val holding = CountDownLatch(1)
      val blocking = List(
        Task(Thread.sleep(400)),
        Task(held.synchronized {
          holding.countDown()
          Thread.sleep(400)
        }),
        Task {
          holding.await()
          held.synchronized(())
        },
        Task(monitor.synchronized(monitor.wait(400))),
        Task(Task.sleep(400.millis).runSync()),
        Task.sleep(400.millis),
        accept
      )
      Task.parSequence(blocking).start.flatMap(_.joinOrFail).runSync(): Unit
      accept.runSync() // on this thread, which waits inside of a native call
    }
    server.close()
    assertEquals(found.map(_.toString), Nil)

  test("a class initializer that computes is no spin"):
    val found = spins(Task(SlowlyMade.ready).start.flatMap(_.joinOrFail).runSync(): Unit)
    assertEquals(found.map(_.toString), Nil)

  test("many short steps yield, and are no spin"):
    def round() = spins {
      val end = System.nanoTime() + 500.millis.toNanos
      def steps: Task[Unit] =
        Task(System.nanoTime() < end).flatMap(more => if more then steps else Task.unit)
      steps.start.flatMap(_.join).runSync(): Unit
    }
    // If the machine takes the carrier's core away for 200 ms, one step has taken as long.
    val rounds = LazyList.continually(round()).take(4)
    assert(rounds.exists(_.isEmpty), rounds.toString)

  test("what an initializer has called by runSync is looked at all the same"):
    def initializes(stack: StackTraceElement*) = SpinReports.initializes(stack.toArray)
    assert(initializes(line("java.lang.ClassLoader", "loadClass"), line("Main", "f")))
    assert(initializes(line("Main", "f"), line("Main$", "<clinit>")))
    val slice = Task(Throwable().getStackTrace.find(_.getMethodName == "runSlice").get).runSync()
    assert(!initializes(line("Main", "f"), slice, line("Main$", "<clinit>")))

  private def line(of: String, method: String) = StackTraceElement(of, method, "X.scala", 1)

  test("a report has the user's lines, eight at most, and the fiber's name"):
    val fiber = line("weir", "fiber")
    val library = List.fill(20)(line("java.util.regex.Pattern", "match"))
    val own = (1 to 20).map(i => line("Main", s"f$i"))
    val told = SpinReports.shortened((library ++ own :+ fiber).toVector)
    assertEquals(told, own.take(7).toVector :+ fiber)
    assertEquals(SpinReports.shortened((library :+ fiber).toVector), Vector())

  private val ahead = Ahead(2)

  override def afterAll(): Unit = ahead.close()

  for name <- Tier(List("http"), List("http", "crypto", "regex", "cold")) do
    val ended = ahead.add {
      val (output, code) = WeirSuite.child("weir.trace.FirstProgram", s"-Dfirst=$name")
      assertEquals((output, code), (s"done $name\n", 0))
    }
    test(s"a user's first program gets no report of a spin: $name")(ended())

/** Takes 600 ms to make. */
object SlowlyMade:
  val ready: Boolean =
    val end = System.nanoTime() + 600_000_000
    while System.nanoTime() < end do Thread.onSpinWait()
    true

/** A first program, as users write it. */
object FirstProgram:
  def main(args: Array[String]): Unit =
    val name = System.getProperty("first")
    val task = name match
      case "http" => Task(java.net.http.HttpClient.newHttpClient()).void
      case "crypto" =>
        Task {
          java.security.SecureRandom().nextInt(): Unit
          javax.net.ssl.SSLContext.getDefault: Unit
          javax.crypto.Cipher.getInstance("AES/GCM/NoPadding"): Unit
        }
      case "regex" =>
        Task {
          val word = "([a-z]+)-([0-9]+)".r
          val found = (1 to 2000).map(i => s"w-$i").collect { case word(_, n) => BigDecimal(n) }
          val text = found.groupBy(_ % 7).map((k, v) => f"$k%s ${v.sum}%s").mkString(",")
          java.time.LocalDate.parse("2026-01-01").plusDays(text.length): Unit
        }
      case "cold" =>
        Task((1 to 20_000).map(i => s"$i".hashCode.toString.reverse).toSet.size).void
    Task.both(task, task).runSync(): Unit
    task.start.flatMap(_.joinOrFail).runSync()
    println(s"done $name")
