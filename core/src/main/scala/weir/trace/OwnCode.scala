package weir.trace

import java.util.concurrent.ConcurrentHashMap

/** Which classes are this library's, and so tell its users nothing.
  *
  * The name is not enough: Weir's tests and its program are in the same package. So a class that is called so must also
  * come from the same place.
  */
private[trace] object OwnCode:
  private val prefix = "weir."
  private val below =
    List("java.lang.ScopedValue", "jdk.internal.vm.", "java.lang.VirtualThread", "scala.runtime.")
  private val place = placeOf(classOf[weir.Task[?]])

  private val ofClass = new ClassValue[java.lang.Boolean]:
    override def computeValue(of: Class[?]): java.lang.Boolean =
      of.getName.startsWith(prefix) && placeOf(of) == place

  /** For names that begin with the prefix, of which there are no more than classes. */
  private val ofName = ConcurrentHashMap[String, java.lang.Boolean]()

  def contains(of: Class[?]): Boolean = ofClass.get(of)

  def contains(className: String): Boolean =
    className.startsWith(prefix) && ofName.computeIfAbsent(
      className,
      name =>
        try contains(Class.forName(name, false, getClass.getClassLoader))
        catch case _: ClassNotFoundException | _: LinkageError => false
    )

  /** True for frames that tell nothing: this library's, the JDK's that stand below it on each of its threads, and the bridges that
    * the compiler puts before lambdas.
    */
  def contains(frame: StackTraceElement): Boolean =
    val name = frame.getClassName
    contains(name) || frame.getMethodName.contains("$anonfun$adapted$") || below.exists(
      name.startsWith
    )

  private def placeOf(of: Class[?]): AnyRef | Null =
    val source = of.getProtectionDomain.getCodeSource
    if source eq null then null else String.valueOf(source.getLocation)
