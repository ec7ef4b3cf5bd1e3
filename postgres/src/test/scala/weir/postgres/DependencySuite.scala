package weir.postgres

import java.nio.file.{Files, Path}
import scala.jdk.CollectionConverters.*
import weir.WeirSuite

/** The packages of this module know each other in one direction only:
  *
  * {{{
  * split <- input <- protocol <- jobs <- journal <- apply
  * }}}
  *
  * `queue` stands beside them: it knows none of them, and none knows it.
  *
  * The types of `weir.postgres` itself, which all may use, are followed: a package must not reach
  * one to its right by way of them either. Outside of `core` only the public packages of weir are
  * used.
  */
class DependencySuite extends WeirSuite:
  private val order = Vector("split", "input", "protocol", "jobs", "journal", "apply")

  test("no package knows one to its right in split, input, protocol, jobs, journal, apply"):
    val wrong =
      for
        from <- order
        to <- reached(from)
        if order.indexOf(to.folder) > order.indexOf(from)
      yield s"$from knows ${to.folder}, by ${to.name}"
    assertEquals(wrong, Vector.empty)

  test("each package is in the order"):
    assertEquals(sources.map(_.folder).toSet - "", order.toSet + "queue")

  test("queue knows no other package, and no other knows it"):
    assertEquals(reached("queue").map(_.name), Vector.empty)
    val ofQueue = "\\bPg[A-Z]|weir\\.postgres\\.queue".r
    val own = sources.filter(source => ofQueue.findFirstIn(source.name).nonEmpty)
    assert(own.nonEmpty)
    val knowing = sources.filter(source =>
      source.folder != "queue" && !own.contains(source) && ofQueue.findFirstIn(source.code).nonEmpty
    )
    assertEquals(knowing.map(_.name), Vector.empty)

  test("only public packages of core are used"):
    val inner = "import weir\\.(fiber|runtime|sync|group|task|stream|trace|app)\\b".r
    val wrong = sources.filter(source => inner.findFirstIn(source.code).nonEmpty).map(_.name)
    assertEquals(wrong, Vector.empty)

  private final case class Source(folder: String, name: String, code: String):
    private val types = "(?m)^[\\w\\[\\] ]*\\b(?:class|object|trait|enum) (\\w+)".r
      .findAllMatchIn(code)
      .map(_.group(1))
      .toSet

    /** Returns true if it imports a type of the other file, or is in its package and mentions one.
      */
    def uses(other: Source): Boolean =
      if other.folder == folder then other.name != name && other.types.exists(mentions)
      else
        val folder = if other.folder.isEmpty then "" else s"\\.${other.folder}"
        val path = s"weir\\.postgres$folder"
        other.types.exists(imports(path, _))

    private def imports(path: String, name: String) =
      s"import $path\\.(\\*|$name\\b|\\{[^}]*\\b$name\\b)".r.findFirstIn(code).nonEmpty

    private def mentions(name: String) = s"\\b$name\\b".r.findFirstIn(code).nonEmpty

  private lazy val sources: Vector[Source] =
    val here = Path.of("src/main/scala/weir/postgres")
    val root = if Files.isDirectory(here) then here else Path.of("postgres").resolve(here)
    val files = Files.walk(root).iterator.asScala.filter(_.toString.endsWith(".scala")).toVector
    files.map { file =>
      val folder = Option(root.relativize(file).getParent).fold("")(_.toString)
      val name = file.getFileName.toString.stripSuffix(".scala")
      val ignored = "(?s)/\\*.*?\\*/|//[^\n]*|\"\"\".*?\"\"\"|\"(?:[^\"\\\\\n]|\\\\.)*\""
      Source(folder, name, Files.readString(file).replaceAll(ignored, ""))
    }

  /** The files of other packages that the package uses, itself or by way of `weir.postgres`. */
  private def reached(folder: String): Vector[Source] =
    var found = Set.empty[Source]
    var next = sources.filter(_.folder == folder)
    while next.nonEmpty do
      val uses = sources.filter(other => !found(other) && next.exists(_.uses(other)))
      found ++= uses
      next = uses.filter(_.folder.isEmpty)
    found.toVector.filter(source => source.folder.nonEmpty && source.folder != folder)
