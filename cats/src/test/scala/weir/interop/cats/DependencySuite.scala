package weir.interop.cats

import java.nio.file.{Files, Path}
import scala.jdk.CollectionConverters.*

/** Outside of `core` only the public API of Weir is used. */
class DependencySuite extends munit.FunSuite:

  test("only public packages of core are used, and nothing that is private to weir"):
    val here = Path.of("src/main/scala/weir/interop/cats")
    val root = if Files.isDirectory(here) then here else Path.of("cats").resolve(here)
    val inner = "weir\\.(fiber|runtime|sync|group|task|stream|trace|app)\\b".r
    val privates = "\\b(onRuntime|scheduler|requestCancel|awaitedAs|abandonedTaskCount)\\b".r
    val files = Files.walk(root).iterator.asScala.filter(_.toString.endsWith(".scala")).toList
    assert(files.size > 3, files)
    val wrong = files.filter { file =>
      val code = Files.readString(file)
      inner.findFirstIn(code).nonEmpty || privates.findFirstIn(code).nonEmpty
    }
    assertEquals(wrong, Nil)
