package weir.feeds

import java.io.OutputStream
import java.lang.ProcessBuilder.Redirect
import java.nio.file.{Files, Path}

import weir.program.{ChildJvm, OutputFacts}

class OutputSuite extends OutputFacts:
  protected val leastCommands = 10
  override protected val parents: Seq[String] = Seq("feeds")

  private def database(folder: Path): Seq[String] =
    Seq("--db", folder.resolve("feeds.db").toString)

  /** The first fills the database of the others. */
  protected def cheap(folder: Path): Seq[Seq[String]] =
    val db = database(folder)
    // The site's own timeout would be too short on a busy machine.
    val patient = Seq("--timeout", "10s", "--retries", "0")
    val fill = Seq("feeds", "--site-feeds", "8", "--speed", "100") ++ patient ++ db
    assertEquals(weir(OutputStream.nullOutputStream, fill).code, 0)
    Seq(
      fill,
      fill ++ Seq("--stale", "0s"),
      Seq("feeds", "items") ++ db,
      Seq("feeds", "items", "--json", "--since", "1d") ++ db,
      Seq("feeds", "status") ++ db
    )

  folder.test("an error that cannot be printed keeps its code, and one line is enough for 1"):
    folder =>
      val none = Files.writeString(folder.resolve("none.txt"), "http://127.0.0.1:1/a\n").toString
      val fill = Seq("feeds", "--urls", none, "--retries", "0") ++ database(folder)
      assertEquals(weir(OutputStream.nullOutputStream, fill).code, 3) // all have failed
      assertEquals(silent(Seq("feeds", "items") ++ database(folder)*), 1) // "no items"

  folder.test("a file of results that cannot be written is one line, and the others are written"):
    folder =>
      val demo = Seq("--site-feeds", "4", "--speed", "100")
      losesFile(folder, Seq("feeds") ++ database(folder) ++ demo, "--json")

  folder.test("the program itself leaves with 1 on a full disk, and with 0 without a reader"):
    folder =>
      assume(Files.exists(full), "there is no /dev/full here")
      cheap(folder): Unit
      val args = Seq("feeds", "items", "--json", "--since", "1d") ++ database(folder)
      val log = folder.resolve("log.txt")
      val disk = ChildJvm.weir(log, Nil, Redirect.PIPE, args, stdout = Redirect.to(full.toFile))
      assertEquals((disk.exitCode(), Files.readString(log)), (1, said))
      val gone = ChildJvm.weir(log, args*)
      gone.closeOutput()
      assertEquals((gone.exitCode(), Files.readString(log)), (0, ""))
