package weir.testkit.explore

import java.util.IdentityHashMap
import java.util.concurrent.locks.Lock
import scala.collection.mutable
import scala.jdk.CollectionConverters.*
import scala.util.matching.Regex
import scala.util.matching.Regex.quoteReplacement
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
    if site.isField then fieldName(on, site)
    else
      var name = known.get(on)
      if name eq null then
        name = shown.getOrElseUpdate(Names.text(on), numbered(typeName(on, site)))
        known.put(on, name): Unit
      name

  /** Replaces all in `text` that differs from run to run: the names of fibers, the hashes of
    * objects and the numbers of threads. An object that has a name in this story gets that name.
    */
  def stable(text: String): String =
    Names.threadName.replaceAllIn(
      Names.hash.replaceAllIn(withNumbers(text), found => quoteReplacement(nameOf(found))),
      "$1"
    )

  private def nameOf(found: Regex.Match): String = shown.getOrElseUpdate(
    found.matched,
    known.entrySet.asScala
      .find(entry => Names.text(entry.getKey) == found.matched)
      .fold(numbered(Names.simple(found.group(1))))(_.getValue)
  )

  /** The names of objects, by what `Object.toString` returns. */
  private val shown = mutable.Map[String, String]()

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
    case _ if on.getClass.isArray => "array"
    case _ if !site.isUsers => Names.ofApi(site.inClass).getOrElse(Names.simple(on.getClass))
    case _ => Names.simple(on.getClass)

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
    case _ => Names.ofApi(site.inClass).nonEmpty

  /** Returns the value that `on` holds after an access. */
  def value(on: AnyRef, site: Site): String =
    val text =
      try
        if site.isField then fieldValue(on, site.operation)
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
    else s"${if site.kind == Site.READ then "→" else "="} ${Names.short(stable(text))}"

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

  /** The name of a class and a hash, as `Object.toString` has them. */
  private val hash =
    """((?:[\w$]+\.)*[\w$]*[A-Z][\w$]*(?:/0x[0-9a-f]+)?|\[+\w[\w.$]*;?)@[0-9a-f]{1,8}\b""".r

  /** The number of a thread in its text. */
  private val threadName = """(Thread\[#)\d+""".r

  private def text(of: AnyRef): String =
    s"${of.getClass.getName}@${Integer.toHexString(System.identityHashCode(of))}"

  /** Returns the name of the API's type whose code a class has, if it has any. */
  private def ofApi(inClass: String): Option[String] =
    val packages = List("weir.std.", "weir.io.", "weir.")
    packages
      .find(inClass.startsWith)
      .map(inClass.stripPrefix(_))
      .filterNot(_.contains('.'))
      .map(_.takeWhile(_ != '$'))

  def simple(of: Class[?]): String = simple(of.getName)

  private def simple(name: String): String =
    val plain = name.replaceFirst("/0x[0-9a-f]+$", "")
    plain.substring(math.max(plain.lastIndexOf('.'), plain.lastIndexOf('$', plain.length - 2)) + 1)

  def short(text: String): String =
    val line = text.linesIterator.nextOption().getOrElse("")
    if line.length <= 32 then line else line.take(31) + "…"

  def time(nanos: Long): String =
    if nanos % 1_000_000_000 == 0 then s"${nanos / 1_000_000_000} s"
    else s"${nanos / 1_000_000.0} ms"
