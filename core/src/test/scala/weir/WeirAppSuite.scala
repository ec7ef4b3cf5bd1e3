package weir

import scala.concurrent.duration.*
import weir.app.{AppProcess, AppUnderTest}

/** A program's main task, as the process around it shows it: exit codes, signals, deadlines. */
class WeirAppSuite extends WeirSuite:
  override def limit: FiniteDuration = 40.seconds

  private def app[A](scenario: String, deadline: FiniteDuration = 20.seconds)(
      body: AppProcess => A
  ): A =
    val process = AppProcess(scenario, deadline.toMillis)
    try body(process)
    finally process.close()

  /** Returns the lines that the process prints until it has ended, and its exit code. */
  private def ends(process: AppProcess): (List[String], Int) = (process.rest(), process.exitCode())

  private def count(part: String, text: String): Int = text.sliding(part.length).count(_ == part)

  private val ahead = Ahead(4)

  override def afterAll(): Unit = ahead.close()

  /** A test whose processes are started while those of the tests before it still run. */
  private def processTest(name: String)(body: => Unit): Unit =
    val ended = ahead.add(body)
    test(name)(ended())

  processTest("a task of nothing ends the process with exit code 0, one of an exit code with that"):
    app("value")(process => assertEquals(ends(process), (List("done"), 0)))
    app("code")(process => assertEquals(ends(process), (Nil, 3)))

  processTest("a failure is printed once, with its trace, and the exit code is 1"):
    for scenario <- List("failure", "throws") do
      app(scenario): process =>
        assertEquals(ends(process), (Nil, 1))
        assertEquals(count("out of luck", process.stderr()), 1, process.stderr())
        assert(process.stderr().contains("AppUnderTest"), process.stderr())

  processTest("a task that cancels itself ends the process with exit code 1, and says so"):
    app("cancels itself"): process =>
      assertEquals(ends(process), (Nil, 1))
      assert(process.stderr().contains("has cancelled itself"), process.stderr())

  for
    (signal, code) <- List("INT" -> 130, "TERM" -> 143, "HUP" -> 129)
    scenario <- List("suspended", "blocked", "child blocked")
    if signal == "TERM" || scenario == "suspended"
    // The three signals have one handler.
    if Tier.isLong || signal != "HUP"
  do
    processTest(
      s"SIG$signal cancels a main task that is $scenario; its finalizers run, then it is $code"
    ):
      assume(AppProcess.hears(signal), s"SIG$signal is ignored here")
      app(scenario): process =>
        assert(process.prints("running"))
        process.signal(signal)
        assertEquals(ends(process), (List("finalizer"), code))
        assertEquals(process.stderr(), "")

  processTest("a task that ends in its own way after a signal keeps its exit code"):
    app("masked"): process =>
      assert(process.prints("running"))
      process.signal("TERM")
      val code = process.exitCode()
      assert(code == 7 || code == 143, s"it was $code")

  processTest("finalizers that take over a second are waited for, and the user is told"):
    app("slow finalizer"): process =>
      assert(process.prints("running"))
      process.signal("TERM")
      assertEquals(ends(process), (List("finalizing", "done"), 143))
      assert(process.stderr().contains("a second signal ends the process at once"))

  for (scenario, ready, line) <- List(
      ("endless finalizer", "running", ""),
      ("ignores interrupts", "staying", "AppUnderTest")
    )
  do
    processTest(s"at the deadline a process with $scenario says what blocks, and ends"):
      app(scenario, deadline = 300.millis): process =>
        assert(process.prints(ready))
        process.signal("TERM")
        val (_, code) = ends(process)
        assertEquals(code, 143)
        val said = process.stderr()
        assert(said.contains("has not ended within 300 ms"), said)
        assert(said.contains(line), said)

  processTest("a second signal ends the process at once, while finalizers run"):
    app("endless finalizer"): process =>
      assert(process.prints("running"))
      process.signal("TERM")
      assert(process.prints("finalizing"))
      val (code, took) = timed {
        process.signal("TERM")
        process.exitCode()
      }
      assertEquals(code, 143)
      assert(took < 5.seconds, s"it took $took")

  processTest("an error of a finalizer after a signal is printed, and the exit code stays"):
    app("failing finalizer"): process =>
      assert(process.prints("running"))
      process.signal("TERM")
      assertEquals(process.exitCode(), 143)
      assertEquals(count("stuck lid", process.stderr()), 1, process.stderr())

  processTest("System.exit in the main task ends the process at once, with that code"):
    app("exit in main"): process =>
      assert(process.prints("running"))
      val ((lines, code), took) = timed(ends(process))
      assertEquals((lines, code), (Nil, 5))
      assert(took < 10.seconds, s"it took $took")
      assertEquals(process.stderr(), "")

  for where <- Tier(List("a fiber", "a thread"), List("a fiber", "a child", "a thread")) do
    processTest(
      s"System.exit in $where cancels the main task, and the process ends with that code"
    ):
      app(s"exit in $where"): process =>
        assert(process.prints("running"))
        val ((lines, code), took) = timed(ends(process))
        assertEquals((lines, code), (List("finalizer"), 5))
        assertEquals(process.stderr(), "")
        assert(took < 15.seconds, s"it took $took")

  processTest("System.exit waits for finalizers until the deadline, and says what blocks"):
    // The message has the same time again before the process is halted, with another exit code.
    app("exit with an endless finalizer", deadline = 3.seconds): process =>
      assertEquals(ends(process), (List("running"), 5))
      assert(process.stderr().contains("of System.exit"), process.stderr())

  for scenario <- List("exit in a hook", "endless hook") do
    processTest(s"a shutdown hook that never returns ($scenario) is given up at the deadline"):
      app(scenario, deadline = 300.millis): process =>
        assertEquals(ends(process), (List("done"), 0))
        assert(process.stderr().contains("the shutdown has not ended"), process.stderr())
        assert(process.stderr().contains("AppUnderTest"), process.stderr())

  processTest("a signal while shutdown hooks hang ends the process at once"):
    app("endless hook"): process =>
      assert(process.prints("done"))
      // Not a wait for something: it may come before the hook runs or after, and ends the process
      // either way.
      process.signal("TERM")
      process.signal("TERM")
      assertEquals(process.exitCode(), 143)

  processTest(
    "fibers, daemons and threads that still run do not keep the process, nor run finalizers"
  ):
    app("other fibers"): process =>
      val (lines, code) = ends(process)
      assertEquals((lines.filterNot(_ == "staying"), code), (Nil, 4))

  processTest("what is buffered for the standard output is written"):
    app("buffered")(process => assertEquals(ends(process), (List("buffered"), 0)))

  processTest("a standard error that takes nothing more does not keep the process"):
    app("full stderr", deadline = 300.millis): process =>
      assert(process.prints("running"))
      process.signal("TERM")
      assertEquals(process.exitCode(), 143)

  test("run inside of another program, main returns, or throws what went wrong"):
    def guest(scenario: String): Option[String] =
      var thrown: Option[String] = None
      val thread = Thread(
        ThreadGroup("guest"),
        () =>
          try AppUnderTest.main(Array(scenario))
          catch case error: IllegalStateException => thrown = Some(error.getMessage)
      )
      sys.props("deadlineMillis") = "1000"
      thread.start()
      thread.join()
      thrown
    assertEquals(guest("value"), None)
    assertEquals(guest("failure"), Some("out of luck"))
    assert(guest("code").exists(_.contains("exit code 3")))

  test("an exit code that the operating system would cut is refused"):
    for code <- List(-1, 256) do
      val error = intercept[IllegalArgumentException](ExitCode(code))
      assert(error.getMessage.contains(s"the code was $code"))
