package weir.fiber

import java.lang.reflect.Modifier
import java.net.URI
import java.nio.file.{FileSystems, Files, Path}
import scala.jdk.CollectionConverters.*
import weir.sync.{ChannelCore, ChannelWaiter}
import weir.{Channel, WeirRuntime, WeirSuite}

/** A JVM may call the wrong method if a class that overrides it is linked late: see the README of
  * `fiber`.
  */
class EagerlyLinkedSuite extends WeirSuite:
  override def limit = super.limit * 3

  /** The names of all of the library's classes. */
  private def classes: List[String] =
    def under(root: Path) =
      val all = Files.walk(root)
      try
        all.iterator.asScala
          .map(root.relativize(_).toString)
          .filter(_.endsWith(".class"))
          .map(
            _.dropRight(".class".length).replace(java.io.File.separatorChar, '.').replace('/', '.')
          )
          .toList
      finally all.close()
    val place = Path.of(classOf[Waiter].getProtectionDomain.getCodeSource.getLocation.toURI)
    if Files.isDirectory(place) then under(place)
    else
      val jar = FileSystems.newFileSystem(URI.create(s"jar:${place.toUri}"), java.util.Map.of())
      try under(jar.getPath("/"))
      finally jar.close()

  private val early = classes
    .map(Class.forName(_, false, getClass.getClassLoader))
    .filter { c =>
      def is(above: Class[?]) = above.isAssignableFrom(c)
      def overrides =
        c.getDeclaredMethods.exists(_.getName == "resumeFiber") && c != classOf[Waiter]
      !Modifier.isAbstract(c.getModifiers) &&
      (is(classOf[Waiter]) && overrides || is(classOf[ChannelWaiter]) || is(
        classOf[Channel.Clause[?]]
      ))
    }
    .map(_.getName)

  test("objects that a lock hands out are of classes that were linked before"):
    assert(early.contains("weir.fiber.CallbackJoin"), early)
    assert(early.contains("weir.sync.SelectEntry"), early)
    val (output, code) = WeirSuite.child("weir.fiber.Unused", "-Xlog:class+init=info")
    assertEquals(code, 0, output)
    assert(output.linesIterator.contains("neither a fiber nor a channel yet"), output)
    val linked = output.linesIterator
      .takeWhile(_ != "neither a fiber nor a channel yet")
      .flatMap("Initializing '([^']*)'".r.findFirstMatchIn(_))
      .map(_.group(1).replace('/', '.'))
      .toSet
    assertEquals(early.filterNot(linked), Nil, output)

/** The objects that exist before the first fiber and the first channel. */
object Unused:
  def main(args: Array[String]): Unit =
    WeirRuntime.default: Unit
    ChannelCore: Unit
    println("neither a fiber nor a channel yet")
