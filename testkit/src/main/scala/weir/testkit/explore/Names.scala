package weir.testkit.explore

import java.util.IdentityHashMap
import java.util.concurrent.locks.Lock
import scala.collection.mutable
import scala.jdk.CollectionConverters.*
import weir.fiber.FiberCore
import weir.sync.Guarded
import weir.testkit.agent.Site

/** The names of objects in a story, and their values. A name is the type, and a number in the order
  * in which objects of that type were touched first.
  */
private[explore] final class Names:
  private val known = IdentityHashMap[AnyRef, String]()
  private val counts = mutable.Map[String, Int]()

  /** Returns the name of the object that is touched at `site`. */
  def of(on: AnyRef, site: Site): String =
    if site.what.indexOf('.') >= 0 then fieldName(on, site)
    else
      var name = known.get(on)
      if name eq null then
        name = numbered(typeName(on, site))
        known.put(on, name): Unit
      name

  /** Replaces the names of fibers in `text`, which differ from run to run, by their numbers. */
  def withNumbers(text: String): String = Names.fiberName.replaceAllIn(
    text,
    found =>
      fibers.keySet.iterator.asScala
        .find(_.name == found.group(1))
        .fold(found.matched)(fiber => of(fiber))
  )

  def of(fiber: FiberCore): String = s"fiber ${fibers.getOrDefault(fiber, 0)}"

  private val fibers = IdentityHashMap[FiberCore, Int]()

  private def numbered(of: String): String =
    val count = counts.getOrElse(of, 0) + 1
    counts(of) = count
    s"$of $count"

  private def typeName(on: AnyRef, site: Site): String = on match
    case _: Guarded => Names.simple(on.getClass)
    case _ if !site.isUsers && site.inClass.startsWith("weir.") && isRoot(site.inClass) =>
      site.inClass.stripPrefix("weir.").takeWhile(_ != '$')
    case _ => Names.simple(on.getClass)

  private def isRoot(name: String) = name.indexOf('.', 5) < 0

  /** Returns the name of a field. Captured variables of the user's are fields `elem` of objects
    * without a name.
    */
  private def fieldName(on: AnyRef, site: Site): String =
    if site.operation == "elem" then
      var name = known.get(on)
      if name eq null then
        name = numbered("variable")
        known.put(on, name): Unit
      name
    else site.what

  /** Returns true if a story contains accesses to `on` by this library's code. */
  def isTold(on: AnyRef, site: Site): Boolean = on match
    case _: Guarded => true
    case _ => isRoot(site.inClass) && site.inClass.startsWith("weir.")

  /** Returns the value that `on` holds after an access. */
  def value(on: AnyRef, site: Site): String =
    val text =
      try
        if site.what.indexOf('.') >= 0 then fieldValue(on, site.operation)
        else
          on match
            case lock: Lock => if lock.toString.contains("Unlocked") then "free" else "locked"
            case _: (java.util.concurrent.atomic.AtomicReference[?] | Number |
                  java.util.concurrent.atomic.AtomicBoolean | java.util.Collection[?] |
                  java.util.Map[?, ?] | scala.collection.Iterable[?]) =>
              on.toString
            case _ => ""
      catch case _: Throwable => ""
    if text.isEmpty then ""
    else s"${if site.kind == Site.READ then "→" else "="} ${Names.short(text)}"

  private def fieldValue(on: AnyRef, name: String): String =
    val (from, of) = on match
      case c: Class[?] => (null, c)
      case other => (other, other.getClass)
    Iterator
      .iterate[Class[?] | Null](of)(_.nn.getSuperclass)
      .takeWhile(_ ne null)
      .flatMap(_.nn.getDeclaredFields)
      .find(_.getName == name)
      .fold("") { field =>
        field.setAccessible(true)
        String.valueOf(field.get(from))
      }

  def add(strand: Strand): Unit =
    if strand.fiber ne null then fibers.put(strand.fiber.nn, strand.id + 1): Unit

private[explore] object Names:
  private val fiberName = "fiber ([0-9a-f]+)".r

  def simple(of: Class[?]): String =
    val name = of.getName
    name.substring(math.max(name.lastIndexOf('.'), name.lastIndexOf('$', name.length - 2)) + 1)

  def short(text: String): String =
    val line = text.linesIterator.nextOption().getOrElse("")
    if line.length <= 32 then line else line.take(31) + "…"

  def time(nanos: Long): String =
    if nanos % 1_000_000_000 == 0 then s"${nanos / 1_000_000_000} s"
    else s"${nanos / 1_000_000.0} ms"
