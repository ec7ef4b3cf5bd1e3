package weir.cli.relay

import java.io.{PrintWriter, StringWriter}
import java.lang.ProcessBuilder.Redirect
import java.nio.file.{Files, Path}
import scala.concurrent.duration.*

import munit.FunSuite

import weir.program.{ChildJvm, Eventually, Main, TempFolder, Tier}

/** `weir relay` as a process, with a broker of its own. */
class RelayCommandSuite extends FunSuite with TempFolder with Eventually:
  override val munitTimeout: Duration = 8.minutes

  private def start(folder: Path, args: String*): ChildJvm =
    val inherited = Seq("weir.lab", "weir.lab.flags").map(key => s"-D$key=${sys.props(key)}")
    val flags = inherited :+ s"-Dweir.relay=${folder.resolve("relay")}"
    ChildJvm.weir(folder.resolve("log.txt"), flags, Redirect.PIPE, "relay" +: args)

  /** The process of the broker, or none if it has ended. */
  private def broker(folder: Path): Option[ProcessHandle] =
    val state = folder.resolve("relay").resolve("broker").resolve("broker")
    if !Files.exists(state) then None
    else
      val pid = Files.readString(state).trim.split(' ')(2).toLong
      Option(ProcessHandle.of(pid).orElse(null)).filter(_.isAlive)

  private def done(text: String): Int =
    val counts = raw"(?:done|stopped): ([\d,]+) task".r.findAllMatchIn(text).map(_.group(1))
    counts.map(_.replace(",", "").toInt).sum

  private def run(args: String*): (Int, String) =
    val err = StringWriter()
    val code = Main.run("relay" +: args, PrintWriter(StringWriter()), PrintWriter(err, true))
    (code, err.toString.trim)

  private def args(count: Int) =
    Seq("--tasks", s"$count", "--delay", "50ms", "--parallel", "8")

  folder.test("Ctrl-C loses nothing, and leaves no broker; the next start does what is left"):
    folder =>
      val count = Tier(200, 2000)
      val stopped = start(folder, args(count)*)
      assert(stopped.readLine().exists(_.contains("tasks written to 'tasks'")))
      assert(stopped.readLine().exists(_.contains("left in 'tasks'")))
      stopped.interrupt()
      val said = stopped.readRest()
      assertEquals(stopped.exitCode(), 130)
      assert(said.contains("The same command goes on with the remaining tasks."), said)
      eventually("the broker has ended with the last relay")(broker(folder).isEmpty)
      val last = start(folder, args(count)*)
      val end = last.readRest()
      assertEquals(last.exitCode(), 0, end)
      // At most those are done twice that were in flight.
      val all = done(end) + done(said)
      assert(all >= count && all <= count + 8, s"$said\n$end")
      eventually("no broker is left")(broker(folder).isEmpty)

  private def signal(name: String, process: ProcessHandle): Unit =
    assertEquals(ProcessBuilder("kill", s"-$name", s"${process.pid}").start().waitFor(), 0)

  private def logged(folder: Path, words: String): Int =
    Files.readString(folder.resolve("log.txt")).linesIterator.count(_.contains(words))

  if Tier.isLong then
    folder.test("a broker that is slow to answer is waited for, and the relay says so"): folder =>
      val relay = start(folder, args(8)*)
      assert(relay.readLine().exists(_.contains("tasks written to 'tasks'")))
      // The next requests are for offsets, a little later those of new producers and consumers.
      val itsBroker = broker(folder).get
      signal("STOP", itsBroker)
      try
        eventually("it says that it waits, or that there are tasks"):
          logged(folder, "no answer for") >= 1 || logged(folder, "done here") >= 6
      finally signal("CONT", itsBroker)
      val end = relay.readRest()
      val log = Files.readString(folder.resolve("log.txt"))
      assertEquals(relay.exitCode(), 0, log)
      assertEquals(done(end), 8, end)
      // It writes files until then, and the folder is deleted after the test.
      eventually("no broker is left")(broker(folder).isEmpty)

    folder.test("a broker that has ended is not waited for"): folder =>
      val relay = start(folder, args(2000)*)
      assert(relay.readLine().exists(_.contains("tasks written to 'tasks'")))
      assert(relay.readLine().exists(_.contains("left in 'tasks'")))
      signal("KILL", broker(folder).get)
      relay.readRest(): Unit
      assertEquals(relay.exitCode(), 1)
      assertEquals(logged(folder, "its broker has ended (see"), 1)

    folder.test("a relay that is killed loses nothing, and its broker ends with it"): folder =>
      val killed = start(folder, (args(2000) :+ "--exactly-once")*)
      assert(killed.readLine().exists(_.contains("tasks written to 'tasks'")))
      assert(killed.readLine().exists(_.contains("left in 'tasks'")))
      val itsBroker = broker(folder).get
      Thread.sleep(2000) // a moment anywhere in the run
      killed.kill()
      eventually("the broker has ended with the last relay")(!itsBroker.isAlive)
      val last = start(folder, (args(2000) :+ "--exactly-once")*)
      val end = last.readRest()
      assertEquals(last.exitCode(), 0, end)
      val nothing = start(folder, args(0)*)
      assert(nothing.readRest().contains("done: 0 tasks"))

    folder.test("two at the same time share the partitions, and outlive each other"): folder =>
      val all = Seq("--tasks", "4000", "--delay", "50ms", "--parallel", "16")
      val one = start(folder, all*)
      assert(one.readLine().exists(_.contains("4,000 tasks written")))
      val other = start(folder, all*)
      val (first, second) = (one.readRest(), other.readRest())
      assertEquals((one.exitCode(), other.exitCode()), (0, 0))
      assert(done(first) > 0 && done(second) > 0, s"$first\n$second")
      eventually("no broker is left")(broker(folder).isEmpty)

  test("bad input gets one line and exit code 2"):
    for (args, said) <- List(
        Seq("--brokers", "127.0.0.1:1") -> "--brokers: 127.0.0.1:1 gave no answer",
        Seq("--brokers", "nowhere") -> "--brokers: nowhere cannot be used",
        Seq("--from", "no topic") -> "--from: 'no topic' can be no topic.",
        Seq("--protocol", "old") -> "--protocol: 'old' is unknown.",
        Seq("--parallel", "0") -> "--parallel: 0 is out of range."
      )
    do
      val (code, line) = run(args*)
      assertEquals(code, 2, line)
      assert(line.startsWith(said) && line.linesIterator.size == 1, line)
