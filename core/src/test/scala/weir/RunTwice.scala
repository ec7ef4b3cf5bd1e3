package weir

import java.lang.reflect.{Method, Modifier}
import java.nio.file.{FileSystems, Files, Path}
import scala.jdk.CollectionConverters.*

/** Tables of descriptions, each of which is built once and run four times: twice one after the
  * other, and twice concurrently. Each run must be as the first: a run makes everything that
  * belongs to it.
  */
trait RunTwice extends munit.FunSuite, WeirSuite:
  private var names = Set.empty[String]

  /** The results of the description in its runs. */
  def row[A](name: String)(expected: A)(description: => Task[A]): Unit =
    runs(name, description)(results => for result <- results do assertEquals(result, expected))

  def elements(name: String)(expected: Any*)(description: => Stream[Any]): Unit =
    row(name)(expected.toList)(description.toList)

  /** The pipe is run four times with one upstream, and once with another. */
  def pipe[A, B](name: String)(in: A*)(expected: B*)(pipe: => Stream[A] => Stream[B]): Unit =
    row(name)((readable(expected), readable(expected))) {
      val reused = pipe
      val piped = Stream(in*).through(reused)
      piped.toList
        .flatMap(one => Stream(in*).through(reused).toList.map((one, _)))
        .map((one, other) => (readable(one), readable(other)))
    }

  private def readable(all: Seq[Any]): List[Any] = all.toList.map {
    case bytes: Array[Byte] => bytes.toList
    case other => other
  }

  /** Each run of the description makes an object of its own. */
  def fresh(name: String)(description: => Task[Any]): Unit =
    runs(name, description)(results =>
      for
        one <- results.indices
        other <- results.indices if one != other
      do assert(results(one).asInstanceOf[AnyRef] ne results(other).asInstanceOf[AnyRef])
    )

  private def runs[A](name: String, description: => Task[A])(check: List[A] => Unit): Unit =
    names += name
    test(s"$name, run again and beside another run"):
      val once = description
      val first = once.runSync()
      val second = once.runSync()
      val (third, fourth) = Task.both(once, once).runSync()
      check(List(first, second, third, fourth))

  /** Fails with the names of `owners` that have no row: methods that return a description.
    *
    * @param internal
    *   those that are public only for the JVM
    */
  def complete(owners: => List[Class[?]], internal: Set[String] = Set.empty): Unit =
    test("each method that returns a description has a row"):
      val all = for
        owner <- owners
        method <- owner.getMethods if RunTwice.describes(method)
      yield s"${RunTwice.nameOf(owner)}.${method.getName}"
      assert(all.nonEmpty)
      assertEquals((all.toSet -- names.map(_.takeWhile(_ != ',')) -- internal).toList.sorted, Nil)

object RunTwice:
  private def describes(method: Method): Boolean =
    val modifiers = method.getModifiers
    Modifier.isPublic(modifiers) && !Modifier.isStatic(modifiers) && !method.isSynthetic &&
    !method.getName.contains("$default$") && !method.getName.contains("$$") && {
      val returned = method.getGenericReturnType.getTypeName
      descriptions.exists(returned.startsWith)
    }

  private val descriptions = List("Task", "Stream", "Resource", "Schedule").flatMap(name =>
    List(s"weir.$name<", s"scala.Function1<weir.$name<")
  )

  private def nameOf(owner: Class[?]): String =
    owner.getSimpleName.takeWhile(_ != '$')

  private val packages = List("weir", "weir.std", "weir.io")

  /** The objects of the API: those of its packages in the place from which `Task` is loaded. */
  def objects: List[Class[?]] =
    val place = Path.of(classOf[Task[?]].getProtectionDomain.getCodeSource.getLocation.toURI)
    val name = "([A-Z]\\w*(\\$package)?\\$)\\.class".r
    def in(root: Path): List[Class[?]] = packages.flatMap(objectsOf(_, root))
    def objectsOf(inPackage: String, root: Path): List[Class[?]] =
      val files = Files.list(root.resolve(inPackage.replace('.', '/')))
      try
        files.iterator.asScala
          .map(_.getFileName.toString)
          .collect { case name(of, _) => Class.forName(s"$inPackage.$of") }
          .toList
      finally files.close()
    if Files.isDirectory(place) then in(place)
    else
      val jar = FileSystems.newFileSystem(place)
      try in(jar.getPath("/"))
      finally jar.close()
