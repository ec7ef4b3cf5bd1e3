package weir.cli

import java.io.{ByteArrayOutputStream, FileOutputStream, OutputStream}
import java.lang.ProcessBuilder.Redirect
import java.nio.channels.{Channels, Pipe}
import java.nio.file.{Files, Path}
import scala.concurrent.duration.*

import munit.FunSuite

import weir.program.{ChildJvm, Main, Output, TempFolder}

/** Output that cannot be written. */
class OutputSuite extends FunSuite with TempFolder:
  override val munitTimeout: Duration = 5.minutes

  private val full = Path.of("/dev/full")

  private case class Result(code: Int, err: String)

  private def weir(stdout: OutputStream, args: Seq[String]): Result =
    val err = ByteArrayOutputStream()
    val code = Output(stdout, err).exitCode(Main.run(args, _, _))
    Result(code, err.toString)

  private def onFullDisk(args: String*): Result =
    assume(Files.exists(full), "there is no /dev/full here")
    val disk = FileOutputStream(full.toFile)
    try weir(disk, args)
    finally disk.close()

  private def withoutReader(args: String*): Result =
    val pipe = Pipe.open()
    pipe.source.close()
    val sink = Channels.newOutputStream(pipe.sink)
    try weir(sink, args)
    finally pipe.sink.close()

  private val said = "weir: the output cannot be written (No space left on device).\n"

  private def text(args: String*): String =
    val out = ByteArrayOutputStream()
    assertEquals(weir(out, args).code, 0)
    out.toString

  /** All commands by name, those of `weir feeds` included. */
  private lazy val commands: Seq[Seq[String]] =
    def below(args: Seq[String]) =
      val list = text(args :+ "--help"*).linesIterator.dropWhile(_ != "Commands:").drop(1)
      list.takeWhile(_.nonEmpty).flatMap("^  ([a-z-]+)".r.findPrefixMatchOf).map(_.group(1)).toSeq
    val top = below(Nil).map(Seq(_))
    top ++ below(Seq("feeds")).map(Seq("feeds", _))

  private def database(folder: Path): String = folder.resolve("feeds.db").toString

  /** Commands that take no time, on a database that one run has filled. */
  /** Of the system that has one way, since each way starts a JVM. */
  private val fewTasks =
    Seq("--tasks", "1000", "--work", "1us..2us", "--only", "platform-threads")

  private def cheap(folder: Path): Seq[Seq[String]] =
    val db = Seq("--db", database(folder))
    // The site's own timeout would be too short on a busy machine.
    val patient = Seq("--timeout", "10s", "--retries", "0")
    val fill = Seq("feeds", "--site-feeds", "8", "--speed", "100") ++ patient ++ db
    assertEquals(weir(OutputStream.nullOutputStream, fill).code, 0)
    val script = Files.writeString(folder.resolve("script.sql"), "SELECT 1;\n").toString
    Seq(
      fill,
      fill ++ Seq("--stale", "0s"),
      Seq("feeds", "items") ++ db,
      Seq("feeds", "items", "--json", "--since", "1d") ++ db,
      Seq("feeds", "status") ++ db,
      Seq("sql", "--dry-run", script),
      Seq("compare") ++ fewTasks,
      Seq("bench", "-l", "GatherReady"),
      Seq("--version")
    )

  test("the help of every command on a full disk is an error, and exit code 1"):
    assert(commands.size >= 20, s"$commands")
    for command <- Seq() +: commands do
      assertEquals(onFullDisk(command :+ "--help"*), Result(1, said), s"$command")

  test("the help of every command is printed without a reader, and that is no error"):
    for command <- Seq() +: commands do
      assertEquals(withoutReader(command :+ "--help"*), Result(0, ""), s"$command")

  folder.test("results that do not fit on the disk are an error, and exit code 1"): folder =>
    for args <- cheap(folder) do
      val result = onFullDisk(args*)
      assertEquals(result.code, 1, s"$args: ${result.err}")
      assert(result.err.contains(said), s"$args: ${result.err}")

  folder.test("results whose reader has gone are no error"): folder =>
    for args <- cheap(folder) do
      val result = withoutReader(args*)
      assertEquals(result.code, 0, s"$args: ${result.err}")
      assert(!result.err.contains("cannot be written"), s"$args: ${result.err}")

  folder.test("an error that cannot be printed keeps its code, and one line is enough for 1"):
    folder =>
      assume(Files.exists(full), "there is no /dev/full here")
      def silent(args: String*) =
        val disk = FileOutputStream(full.toFile)
        try Output(OutputStream.nullOutputStream, disk).exitCode(Main.run(args, _, _))
        finally disk.close()
      assertEquals(silent("fedes"), 2)
      assertEquals(silent("sql", "--bogus"), 1)
      val none = Files.writeString(folder.resolve("none.txt"), "http://127.0.0.1:1/a\n").toString
      val db = Seq("--db", database(folder))
      val fill = Seq("feeds", "--urls", none, "--retries", "0") ++ db
      assertEquals(weir(OutputStream.nullOutputStream, fill).code, 3) // all have failed
      assertEquals(silent(Seq("feeds", "items") ++ db*), 1) // "no items"

  folder.test("a file of results that cannot be written is one line, and the others are written"):
    folder =>
      assume(Files.exists(full), "there is no /dev/full here")
      val page = folder.resolve("page.html")
      val db = Seq("--db", database(folder), "--site-feeds", "4", "--speed", "100")
      for (args, option) <- Seq(
          (Seq("feeds") ++ db) -> "--json",
          (Seq("compare") ++ fewTasks) -> "--json",
          (Seq("compare") ++ fewTasks) -> "--chart"
        )
      do
        Files.deleteIfExists(page): Unit
        val all = args ++ Seq(option, s"$full", "--report", s"$page")
        val result = weir(OutputStream.nullOutputStream, all)
        assertEquals(result.code, 1, s"$args $option: ${result.err}")
        val line = s"$option /dev/full: it cannot be written (No space left on device). "
        assert(result.err.contains(line), s"$args $option: ${result.err}")
        assert(Files.exists(page), s"$args $option")

  folder.test("the program itself leaves with 1 on a full disk, and with 0 without a reader"):
    folder =>
      assume(Files.exists(full), "there is no /dev/full here")
      cheap(folder): Unit
      val args = Seq("feeds", "items", "--json", "--since", "1d", "--db", database(folder))
      val log = folder.resolve("log.txt")
      val disk = ChildJvm.weir(log, Nil, Redirect.PIPE, args, stdout = Redirect.to(full.toFile))
      assertEquals((disk.exitCode(), Files.readString(log)), (1, said))
      val gone = ChildJvm.weir(log, args*)
      gone.closeOutput()
      assertEquals((gone.exitCode(), Files.readString(log)), (0, ""))
