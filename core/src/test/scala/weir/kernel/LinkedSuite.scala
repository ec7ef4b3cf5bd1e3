package weir.kernel

import java.net.URI
import java.nio.file.{FileSystems, Files, Path}
import scala.jdk.CollectionConverters.*
import weir.{Runtime, WeirSuite}

/** A JVM may call `Waiter.resumeFiber` where a class overrides it that is linked later: see the kernel's README. */
class LinkedSuite extends WeirSuite:
  override def limit = super.limit * 3

  /** The names of all of the library's classes. */
  private def classes: List[String] =
    def under(root: Path) =
      val all = Files.walk(root)
      try
        all.iterator.asScala
          .map(root.relativize(_).toString)
          .filter(_.endsWith(".class"))
          .map(_.dropRight(".class".length).replace('/', '.'))
          .toList
      finally all.close()
    val place = Path.of(classOf[Waiter].getProtectionDomain.getCodeSource.getLocation.toURI)
    if Files.isDirectory(place) then under(place)
    else
      val jar = FileSystems.newFileSystem(URI.create(s"jar:${place.toUri}"), java.util.Map.of())
      try under(jar.getPath("/"))
      finally jar.close()

  test("whatever overrides resumeFiber is linked before the first fiber"):
    val loader = getClass.getClassLoader
    val overriding = classes
      .map(Class.forName(_, false, loader))
      .filter(c => classOf[Waiter].isAssignableFrom(c) && c != classOf[Waiter])
      .filter(_.getDeclaredMethods.exists(_.getName == "resumeFiber"))
      .map(_.getName)
    assert(overriding.contains("weir.kernel.CallbackJoin"), overriding)
    val (output, code) = WeirSuite.child("weir.kernel.Unused", "-Xlog:class+init=info")
    assertEquals(code, 0, output)
    val linked = output.linesIterator
      .takeWhile(_ != "no fiber yet")
      .flatMap("Initializing '([^']*)'".r.findFirstMatchIn(_))
      .map(_.group(1).replace('/', '.'))
      .toSet
    assert(linked.contains("weir.Runtime"), output)
    assertEquals(overriding.filterNot(linked), Nil)

/** A runtime on which nothing runs. */
object Unused:
  def main(args: Array[String]): Unit =
    Runtime.default: Unit
    println("no fiber yet")
