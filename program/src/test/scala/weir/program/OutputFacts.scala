package weir.program

import java.io.{ByteArrayOutputStream, FileOutputStream, OutputStream}
import java.nio.channels.{Channels, Pipe}
import java.nio.file.{Files, Path}
import scala.concurrent.duration.*

import munit.FunSuite

/** The commands of a module, with output that cannot be written. */
abstract class OutputFacts extends FunSuite with TempFolder:
  override val munitTimeout: Duration = 5.minutes

  /** The least number of commands whose help is printed. */
  protected def leastCommands: Int

  /** The commands that have commands below them. */
  protected def parents: Seq[String] = Nil

  /** The arguments of commands that succeed, and take no time. */
  protected def cheap(folder: Path): Seq[Seq[String]]

  protected case class Ran(code: Int, err: String)

  protected val full: Path = Path.of("/dev/full")
  protected val said = "weir: the output cannot be written (No space left on device).\n"

  protected def weir(stdout: OutputStream, args: Seq[String]): Ran =
    val err = ByteArrayOutputStream()
    val code = Output(stdout, err).exitCode(Main.run(args, _, _))
    Ran(code, err.toString)

  protected def onFullDisk(args: String*): Ran =
    assume(Files.exists(full), "there is no /dev/full here")
    val disk = FileOutputStream(full.toFile)
    try weir(disk, args)
    finally disk.close()

  /** Returns the exit code of a command whose error cannot be printed. */
  protected def silent(args: String*): Int =
    assume(Files.exists(full), "there is no /dev/full here")
    val disk = FileOutputStream(full.toFile)
    try Output(OutputStream.nullOutputStream, disk).exitCode(Main.run(args, _, _))
    finally disk.close()

  /** Asserts that `args` say in one line that the file of `option` cannot be written, and write the
    * page of `--report` all the same.
    */
  protected def losesFile(folder: Path, args: Seq[String], option: String): Unit =
    assume(Files.exists(full), "there is no /dev/full here")
    val page = folder.resolve("page.html")
    Files.deleteIfExists(page): Unit
    val all = args ++ Seq(option, s"$full", "--report", s"$page")
    val result = weir(OutputStream.nullOutputStream, all)
    assertEquals(result.code, 1, s"$args $option: ${result.err}")
    val line = s"$option /dev/full: it cannot be written (No space left on device). "
    assert(result.err.contains(line), s"$args $option: ${result.err}")
    assert(Files.exists(page), s"$args $option")

  private def withoutReader(args: String*): Ran =
    val pipe = Pipe.open()
    pipe.source.close()
    val sink = Channels.newOutputStream(pipe.sink)
    try weir(sink, args)
    finally pipe.sink.close()

  private def text(args: String*): String =
    val out = ByteArrayOutputStream()
    assertEquals(weir(out, args).code, 0)
    out.toString

  /** All commands by name, those below others included. */
  private lazy val commands: Seq[Seq[String]] =
    def below(args: Seq[String]) =
      val list = text(args :+ "--help"*).linesIterator.dropWhile(_ != "Commands:").drop(1)
      list.takeWhile(_.nonEmpty).flatMap("^  ([a-z-]+)".r.findPrefixMatchOf).map(_.group(1)).toSeq
    below(Nil).map(Seq(_)) ++ parents.flatMap(name => below(Seq(name)).map(Seq(name, _)))

  test("the help of every command on a full disk is an error, and exit code 1"):
    assert(commands.size >= leastCommands, s"$commands")
    for command <- Seq() +: commands do
      assertEquals(onFullDisk(command :+ "--help"*), Ran(1, said), s"$command")

  test("the help of every command is printed without a reader, and that is no error"):
    for command <- Seq() +: commands do
      assertEquals(withoutReader(command :+ "--help"*), Ran(0, ""), s"$command")

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
