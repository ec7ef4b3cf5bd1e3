package weir.cli.relay

import java.io.{PrintWriter, StringWriter}
import java.lang.ProcessBuilder.Redirect
import java.nio.file.{Files, Path}
import scala.concurrent.duration.*

import munit.FunSuite

import weir.cli.{ChildJvm, Eventually, Main, TempFolder, Tier}

/** `weir relay` as a process, with a broker of its own. */
class RelayCommandSuite extends FunSuite with TempFolder with Eventually:
  override val munitTimeout: Duration = 4.minutes

  private def start(folder: Path, args: String*): ChildJvm =
    val flags =
      Seq(s"-Dweir.lab=${sys.props("weir.lab")}", s"-Dweir.relay=${folder.resolve("relay")}")
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

  folder.test("killed, stopped and started again it does all tasks, and leaves no broker behind"):
    folder =>
      val count = Tier(300, 5000)
      val all = Seq("--tasks", s"$count", "--delay", "50ms", "--parallel", "8")
      val killed = start(folder, all*)
      assert(killed.readLine().exists(_.contains(s"tasks written to 'tasks'")))
      assert(killed.readLine().exists(_.contains("left in 'tasks'")))
      val itsBroker = broker(folder).get
      killed.kill()
      eventually("the broker has ended with the last relay")(!itsBroker.isAlive)
      val stopped = start(folder, all*)
      assert(stopped.readLine().exists(_.contains("left in 'tasks'")))
      stopped.interrupt()
      val said = stopped.readRest()
      assertEquals(stopped.exitCode(), 130)
      assert(said.contains("The same command goes on with what is left."), said)
      val last = start(folder, all*)
      val end = last.readRest()
      assertEquals(last.exitCode(), 0, end)
      assert(done(end) + done(said) <= count + 8 * 2, end)
      eventually("no broker is left")(broker(folder).isEmpty)
      val nothing = start(folder, (all ++ Seq("--tasks", "0"))*)
      assert(nothing.readRest().contains("done: 0 tasks"))

  if Tier.isLong then
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
