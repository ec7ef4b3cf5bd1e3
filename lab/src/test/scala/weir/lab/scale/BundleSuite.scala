package weir.lab.scale

import java.io.{PrintWriter, StringWriter}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import java.util.Comparator
import java.util.concurrent.TimeUnit
import java.util.spi.ToolProvider
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*

import munit.FunSuite

import weir.program.{BadInput, TempFolder, Tier}

/** The bundle as it is used: unpacked, in an empty folder, without an environment. */
class BundleSuite extends FunSuite with TempFolder:
  override val munitTimeout: Duration = 10.minutes

  /** To make the bundle takes half a minute, of the ten that the short tier has. */
  override def munitTests(): Seq[Test] =
    super.munitTests().filter(test => Tier.isLong || test.name.startsWith("a class path"))

  private val isPossible =
    sys.props("os.name") == "Linux" && ToolProvider.findFirst("jlink").isPresent

  private final case class Ran(code: Int, out: String)

  private def run(folder: Path, command: String*): Ran =
    val builder = ProcessBuilder(command*).directory(folder.toFile).redirectErrorStream(true)
    val process = builder.start()
    try
      val out = String(process.getInputStream.readAllBytes(), UTF_8)
      Ran(process.waitFor(), out)
    finally process.destroyForcibly(): Unit

  private lazy val work = Files.createTempDirectory("weir-bundle-test")
  private lazy val packed: Path =
    val file = work.resolve("b.tar.gz")
    Bundle.write(file, PrintWriter(StringWriter()))
    file
  private lazy val unpacked: Path =
    assertEquals(run(work, "tar", "-xzf", packed.toString), Ran(0, ""))
    work.resolve(Bundle.folder)

  override def afterAll(): Unit =
    Files.walk(work).sorted(Comparator.reverseOrder).forEach(Files.delete)

  private def runScript(folder: Path, args: String*): Ran =
    run(folder, Seq("/usr/bin/env", "-i", "/bin/sh", s"$unpacked/run.sh") ++ args*)

  private def files(folder: Path): Set[String] =
    Files.walk(folder).iterator.asScala.map(folder.relativize(_).toString).toSet

  test("the bundle is small enough"):
    assume(isPossible, "there is no jlink")
    val size = Files.size(packed)
    assert(size < Bundle.mostBytes, size)

  folder.test("its script measures from an empty folder, without an environment"): folder =>
    assume(isPossible, "there is no jlink")
    val before = files(unpacked)
    val systems = Tier("weir", ScalePlan.systems.mkString(","))
    val limits = Seq("--quick", "--carriers", "1", "--only", systems)
    val ran = runScript(folder, Seq("5", "a b/out") ++ limits ++ Seq("--rows", "merge")*)
    val out = folder.resolve("a b/out")
    assertEquals(files(out), Set("", "machine.txt", "scale.html", "scale.json"), ran.out)
    val report = ScaleFiles.read(out)
    // A busy machine may be too slow for a rival; but nothing that a system needs is missing.
    assertEquals(report.problems.filterNot(_.contains("did not end")), Vector.empty)
    assert(report.hasEnded && report.figures.keys.exists(_.system == "weir"), ran.out)
    assertEquals(ran.code, if report.missing.isEmpty then 0 else 1)
    val machine = ScaleFiles.machineOf(out).mkString("\n")
    for name <- List("system: Linux", "processors: ", "memory: ", "JAVA_VERSION=", "commit: ") do
      assert(machine.contains(name), s"$name is not in $machine")
    assertEquals(files(unpacked), before) // so it runs from a read-only place

  folder.test("bad input of the script is one line, and exit code 2"): folder =>
    assume(isPossible, "there is no jlink")
    for (args, said) <- List(
        Seq("soon") -> "MINUTES was 'soon'. It must be a whole number",
        Seq("0") -> "MINUTES was '0'.",
        Seq("-1") -> "MINUTES was '-1'.",
        Seq("1.5") -> "MINUTES was '1.5'.",
        Seq("1", "/dev/null/x") -> "cannot create the folder /dev/null/x. Name another one"
      )
    do
      val ran = runScript(folder, args*)
      assertEquals((ran.code, ran.out.linesIterator.size), (2, 1), s"$args $ran")
      assert(ran.out.startsWith(s"run.sh: $said"), ran.out)
    assertEquals(files(folder), Set(""))

  // It takes a minute.
  if Tier.isLong then
    folder.test("its script ends within its minutes though the program hangs, with all it started"):
      folder => endsInTime(folder)

  private def endsInTime(folder: Path): Unit =
    assume(isPossible, "there is no jlink")
    val fake = Files.createDirectories(folder.resolve("fake"))
    run(folder, "cp", "-r", s"$unpacked/run.sh", s"$unpacked/commit.txt", fake.toString): Unit
    val java = Files.createDirectories(fake.resolve("jdk/bin")).resolve("java")
    Files.writeString(fake.resolve("jdk/release"), ""): Unit
    val hanging = "#!/bin/sh\n[ \"$1\" != -version ] || exit 0\ntrap '' TERM\n" +
      "sh -c \"trap '' TERM; while :; do sleep 1; done\"\n"
    Files.writeString(java, hanging): Unit
    java.toFile.setExecutable(true): Unit
    val start = System.nanoTime()
    val ran = run(folder, "/usr/bin/env", "-i", "/bin/sh", s"$fake/run.sh", "1", "out")
    val seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - start)
    assertEquals(ran.code, 137, ran.out)
    assert(seconds >= 50 && seconds < 62, seconds)

  test("a class path without the program's jars is bad input"):
    val problem = intercept[BadInput](Bundle.needed("/lib/other-1.0.jar")).getMessage
    assert(problem.startsWith("--bundle: there is no jar weir-program_*."), problem)
