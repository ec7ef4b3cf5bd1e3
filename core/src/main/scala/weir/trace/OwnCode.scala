package weir.trace

import java.util.concurrent.ConcurrentHashMap
import scala.jdk.OptionConverters.*

/** Distinguishes this library's classes, which mean nothing to its users, from theirs.
  *
  * The name is not enough: Weir's tests and its program are in the same package. So a class is this
  * library's if it has the name and comes from the same code source.
  */
private[weir] object OwnCode:
  private val prefix = "weir."
  private val below =
    List("java.lang.ScopedValue", "jdk.internal.vm.", "java.lang.VirtualThread", "scala.runtime.")
  private val ownSource = sourceOf(classOf[weir.Task[?]])

  private val ofClass = new ClassValue[java.lang.Boolean]:
    override def computeValue(of: Class[?]): java.lang.Boolean =
      of.getName.startsWith(prefix) && sourceOf(of) == ownSource

  /** For class names that begin with the prefix: there are no more of them than classes. */
  private val ofName = ConcurrentHashMap[String, java.lang.Boolean]()

  def contains(of: Class[?]): Boolean = ofClass.get(of)

  def contains(className: String): Boolean =
    className.startsWith(prefix) && ofName.computeIfAbsent(
      className,
      name =>
        try contains(Class.forName(name, false, getClass.getClassLoader))
        catch case _: ClassNotFoundException | _: LinkageError => false
    )

  /** Returns true if a frame means nothing to the user: this library's frames, those of the JDK
    * below them on each of its threads, and the bridges that the compiler puts before lambdas.
    */
  def contains(frame: StackTraceElement): Boolean =
    val name = frame.getClassName
    contains(name) || frame.getMethodName.contains("$anonfun$adapted$") || below.exists(
      name.startsWith
    )

  /** Returns the line of the user's code that has called this library. */
  def caller(): Option[StackTraceElement] =
    StackWalker.getInstance
      .walk(_.map(_.toStackTraceElement).filter(frame => !contains(frame)).findFirst)
      .toScala

  private def sourceOf(of: Class[?]): AnyRef | Null =
    val source = of.getProtectionDomain.getCodeSource
    if source eq null then null else String.valueOf(source.getLocation)
