package weir.feeds

import java.lang.ProcessBuilder.Redirect
import java.nio.file.{Files, Path}
import java.nio.file.attribute.PosixFilePermissions
import scala.concurrent.duration.*

import munit.FunSuite

import weir.feeds.reader.ReaderFixture
import weir.feeds.store.{FeedStore, Sqlite}
import weir.program.{ChildJvm, TempFolder}

/** Commands that read, by a user who may not write. */
class ReadOnlySuite extends FunSuite with TempFolder:
  override def munitTimeout: Duration = 2.minutes

  private def permit(path: Path, text: String): Unit =
    Files.setPosixFilePermissions(path, PosixFilePermissions.fromString(text)): Unit

  /** Root may write everywhere, unless it gives that up. */
  private val unprivileged =
    if System.getProperty("user.name") != "root" then Nil
    else
      val capabilities = "-dac_override,-dac_read_search"
      List("setpriv", "--bounding-set", capabilities, "--inh-caps", "-all")

  private def weir(folder: Path, args: String*): ChildJvm =
    ChildJvm.weir(
      folder.resolve("err.txt"),
      Nil,
      Redirect.PIPE,
      "feeds" +: args,
      through = unprivileged
    )

  folder.test("items and status read a file that may not be written, while it is written or not"):
    folder =>
      val inner = Files.createDirectory(folder.resolve("inner"))
      val file = inner.resolve("feeds #1.db")
      val db = Sqlite.at(file.toString)
      ReaderFixture(db).fetched("http://a.example/", "A", "one" -> "x")
      def reading(body: => Unit): Unit =
        val all = Files.list(inner).toList
        all.forEach(permit(_, "r--r--r--"))
        permit(inner, "r-xr-xr-x")
        try
          body
          assertEquals(Files.list(inner).toList, all)
        finally
          permit(inner, "rwxr-xr-x")
          Files.list(inner).forEach(permit(_, "rw-r--r--"))
      reading:
        val items = weir(folder, "items", "--db", file.toString)
        assert(items.readRest().contains("\tone\t"), Files.readString(folder.resolve("err.txt")))
        assertEquals(items.exitCode(), 0)
      val writer = FeedStore.open(db)
      try
        writer.setFact("colour", "blue")
        reading:
          val status = weir(folder, "status", "--db", file.toString)
          val said = status.readRest()
          assert(said.startsWith("0 runs"), said + Files.readString(folder.resolve("err.txt")))
          assertEquals(status.exitCode(), 0)
      finally writer.close()
