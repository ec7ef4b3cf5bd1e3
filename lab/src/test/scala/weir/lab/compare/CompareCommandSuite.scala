package weir.lab.compare

import com.sun.tools.attach.VirtualMachine
import java.io.{PrintWriter, StringWriter}
import java.nio.file.Files
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*

import weir.lab.LabOptions
import weir.lab.compare.way.WeirWays
import weir.program.{Eventually, Main, TempFolder, Tier}

class CompareCommandSuite extends munit.FunSuite with TempFolder with Eventually:
  override def munitTimeout: Duration = 2.minutes

  private def problem(args: String*): (Int, String, String) =
    val (out, err) = (new StringWriter, new StringWriter)
    val code = Main.run("compare" +: args, PrintWriter(out, true), PrintWriter(err, true))
    (code, out.toString, err.toString)

  Seq(
    Seq("--load", "fast") ->
      "--load: there is no 'fast'. There are: slow-producer, balanced, slow-consumer.",
    Seq("--way", "queue,pile") ->
      ("--way: there is no 'pile'. There are: batch, blocking-queue, queue, stream, prefetch, " +
        "parallel-queue, parallel-stream, hang."),
    Seq("--only", "zio") ->
      "--only: there is no system 'zio' here. There are: weir, cats-effect, fs2.",
    Seq("--speed", "0") -> "--speed: '0' is no factor. It must be from 0.1 to 1000.",
    Seq("--speed", "") -> "--speed: '' is no factor. It must be from 0.1 to 1000.",
    Seq("--tasks", "many") -> "--tasks: 'many' is not a whole number. Give one, at least 1.",
    Seq("--tasks", "5", "--work", "9us..1us") ->
      "--work: '9us..1us' is no range of times. Write it like 1us..10us.",
    Seq("--work", "1us") -> "--work: there is no --tasks. Give --tasks 1000000, for example.",
    Seq("--tasks", "5", "--way", "queue") ->
      "--way: it has no meaning with --tasks. Leave one of the two out.",
    Seq(
      "--seed",
      "one"
    ) -> "--seed: 'one' is not a whole number. Give one, at least -9223372036854775808."
  ).foreach: (args, line) =>
    test(s"${args.mkString(" ")} is one line and exit code 2"):
      assertEquals(problem(args*), (2, "", line + "\n"))

  test("the help says what each way does, and what its bound is"):
    val (code, out, _) = problem("--help")
    assertEquals(code, 0)
    val ways = out.substring(out.indexOf("The ways, and the bound of each")).split("Bound:\\s")
    Way.values.zipWithIndex.foreach: (way, i) =>
      assert(clue(ways(i)).contains(s"\n${way.name}: "))
    assertEquals(ways.length, Way.values.length + 1)

  test("with --tasks, each way hands tasks over that compute, in a JVM of its own"):
    val systems = Tier(Seq("virtual-threads"), Seq("weir", "virtual-threads"))
    val (code, out, err) = problem(
      Seq("--tasks", "3000", "--work", "1us..10us,1%:50us", "--only", systems.mkString(","))*
    )
    assertEquals(code, 0, clue(err))
    val ways = Map(
      "weir" -> Seq("blocking-queue", "queue", "queue-batches", "stealing-queues", "stream"),
      "virtual-threads" -> Seq("blocking-queue", "thread-each")
    )
    val rows = Seq("ideal +", "work +bound") ++
      systems.flatMap(system => ways(system).map(way => s"$way +$system"))
    val lines = out.linesIterator.toSeq.drop(2)
    assertEquals(lines.size, rows.size, clue(out))
    for (line, row) <- lines.zip(rows) do assert(clue(line).matches(s"$row( +-?[0-9.]+){3}"), row)

  folder.test("Weir and the rivals run beside each other, and what hangs there is no failure"):
    folder =>
      val json = folder.resolve("compare.json")
      val settings = CompareSettings(
        Vector(Load.SlowConsumer),
        Way.values.toVector,
        CompareSettings.systems,
        speed = 50,
        warmUp = Duration.Zero,
        LabOptions.Checked(seed = 5, isQuick = false, json = Some(json), report = None)
      )
      val (out, err) = (new StringWriter, new StringWriter)
      val code =
        CompareJob(settings, WeirWays, PrintWriter(out, true), PrintWriter(err, true)).run()
      assertEquals(code, 0, clue(err.toString))
      val report = ujson.read(Files.readString(json))
      val systems = report("results").arr.groupMap(_("case").str)(_("system").str)
      assertEquals(report("command").str, "compare")
      assertEquals(report("seed").str, "5")
      Way.values.foreach: way =>
        val rival = if way == Way.Hang then Seq() else Seq(way.rival)
        assertEquals(systems(s"slow-consumer: ${way.name}").toSeq, Seq("bound", "weir") ++ rival)
        val line = err.toString.linesIterator.filter(_.contains(s"  ${way.name} ")).toSeq
        assertEquals(line.size, 2, clue(err.toString))
      assert(clue(out.toString).contains("slow-consumer: hang"))

  test("a rival's JVM that is killed leaves one line, Weir's figures and exit code 1"):
    val settings = CompareSettings(
      Vector(Load.SlowProducer),
      Vector(Way.Queue),
      CompareSettings.systems,
      speed = 20,
      warmUp = Duration.Zero,
      LabOptions.Checked(seed = 5, isQuick = false, json = None, report = None)
    )
    val (out, err) = (new StringWriter, new StringWriter)
    // By its command alone, a copy of this JVM might be killed that is about to become the rival's.
    def jvms =
      val all = VirtualMachine.list.asScala.map(_.id).toSet
      ProcessHandle.current.children.iterator.asScala.filter(child => all(child.pid.toString))
    val before = jvms.toSet
    val killer = Thread.startVirtualThread: () =>
      eventually("the rival's JVM runs")(jvms.exists(!before(_)))
      jvms.filter(!before(_)).foreach(_.destroyForcibly(): Unit)
    val code =
      CompareJob(settings, WeirWays, PrintWriter(out, true), PrintWriter(err, true)).run()
    killer.join()
    assertEquals(code, 1)
    assert(
      err.toString.contains("cats-effect, compare: no result, since its JVM ended with code 137\n")
    )
    assert(
      clue(out.toString).linesIterator.exists(
        _.matches(
          "slow-producer: queue +[0-9.]+ +[0-9.]+ +[0-9.]+ +cats-effect +failed"
        )
      )
    )

  if Tier.isLong then
    test("without Weir only the rivals run"):
      val settings = CompareSettings(
        Vector(Load.SlowProducer),
        Vector(Way.Queue, Way.Stream),
        Vector("fs2"),
        speed = 50,
        warmUp = Duration.Zero,
        LabOptions.Checked(seed = 5, isQuick = false, json = None, report = None)
      )
      val (out, err) = (new StringWriter, new StringWriter)
      assertEquals(
        CompareJob(settings, WeirWays, PrintWriter(out, true), PrintWriter(err, true)).run(),
        0
      )
      val figures = out.toString.linesIterator.filter(_.startsWith("slow-producer")).toSeq
      assert(clue(figures(0)).matches("slow-producer: queue +[0-9.]+ +cats-effect"))
      assert(clue(figures(1)).matches("slow-producer: stream +[0-9.]+ +fs2 +[0-9.]+ +[0-9.]+"))
