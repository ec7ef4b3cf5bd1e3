package weir.testkit.explore

import java.lang.instrument.Instrumentation
import java.security.ProtectionDomain
import java.util.{Collections, WeakHashMap}
import weir.Task
import weir.testkit.AgentLoader
import weir.testkit.agent.{Touch, Touching}

/** Rewrites the classes of a program so that they report what they touch: those that are loaded, at
  * the first exploration, and each later one as it is loaded. The rewritten classes stay for the
  * rest of the JVM's life.
  */
private[explore] object Instrumentation:
  private val users = List(
    "java/",
    "javax/",
    "jdk/",
    "sun/",
    "com/sun/",
    "scala/",
    "munit/",
    "org/junit/",
    "org/scalatest/",
    "org/hamcrest/",
    "sbt/",
    "dotty/",
    "xsbt",
    "com/intellij/"
  )
  private val quiet = List("runtime", "trace", "app", "japi", "testkit").map(p => s"weir/$p/")

  private object Scope extends Touching.Scope:
    def isUsers(loader: ClassLoader, name: String, domain: ProtectionDomain): Boolean =
      !users.exists(name.startsWith) && (!name.startsWith("weir/") || !isOfCore(domain)) &&
        !isTestKit(name) && sees(loader)

    def isOwn(loader: ClassLoader, name: String, domain: ProtectionDomain): Boolean =
      name.startsWith("weir/") && isOfCore(domain) && sees(loader) &&
        !quiet.exists(name.startsWith)

    def hasPlainFields(name: String): Boolean = withPlainFields.exists(name.startsWith)

  /** Returns true if a class is the user's code. */
  def isUsers(of: Class[?]): Boolean = usersClasses.get(of).booleanValue

  /** Returns true for the name of a class that a message should name: not for those of the JDK, of
    * Scala, of a library that runs tests, and of the test kit.
    */
  def isTold(className: String): Boolean =
    val name = className.replace('.', '/')
    !users.exists(name.startsWith) && !isTestKit(name)

  private val usersClasses = new ClassValue[java.lang.Boolean]:
    override def computeValue(of: Class[?]): java.lang.Boolean =
      val loader = of.getClassLoader
      (loader ne null) &&
      Scope.isUsers(loader, of.getName.replace('.', '/'), of.getProtectionDomain)

  private val core = classOf[Task[?]].getProtectionDomain.getCodeSource

  private def isOfCore(domain: ProtectionDomain): Boolean =
    domain != null && domain.getCodeSource != null && core != null &&
      domain.getCodeSource.getLocation == core.getLocation

  /** Returns true for the test kit's own classes: tests may be in its package too. */
  private def isTestKit(name: String): Boolean =
    name.startsWith("weir/testkit/explore/") && !name.contains("Suite") ||
      name.startsWith("weir/testkit/agent/") || kit.exists(k =>
        name == s"weir/testkit/$k" || name.startsWith(s"weir/testkit/$k$$")
      )

  private val kit = List(
    "TestRuntime",
    "Disturbed",
    "Linearizable",
    "Operation",
    "Started",
    "SpinLock",
    "Fibers",
    "Outside",
    "VirtualClock",
    "VirtualThreads",
    "Carriers",
    "Conductor",
    "Report",
    "Rest",
    "Place",
    "TaskAssertions",
    "WeirFunSuite",
    "ResourceFixtures",
    "InlineRuntime"
  )

  /** Returns true if the classes of `loader` find the class that they are to call. */
  private def sees(loader: ClassLoader): Boolean =
    val known = seen.get(loader)
    if known ne null then known.booleanValue
    else
      val found =
        try loader.loadClass(classOf[Touch].getName) eq classOf[Touch]
        catch case _: ClassNotFoundException => false
      seen.put(loader, found): Unit
      found

  /** Weak: a loader that nothing else refers to is collected with its classes. */
  private val seen =
    Collections.synchronizedMap(WeakHashMap[ClassLoader, java.lang.Boolean]())

  private val touching = Touching(Scope)

  private lazy val instrumentation: Instrumentation =
    val loaded = AgentLoader.load()
    loaded.addTransformer(touching, true)
    rewriteLoaded(loaded)
    loaded

  /** Rewrites the classes. Done once for a JVM. */
  def install(): Unit = instrumentation: Unit

  /** Has the classes of this library whose names begin with one of `names` report accesses to plain
    * fields from now on. Others do not, since that costs more than all the rest.
    */
  def reportPlainFields(names: List[String]): Unit =
    val added = names.map(_.replace('.', '/')).filterNot(Scope.hasPlainFields)
    if added.nonEmpty then
      withPlainFields = withPlainFields ++ added
      rewriteLoaded(instrumentation, name => added.exists(name.startsWith))

  /** The begins of their names, of the JVM. */
  @volatile private var withPlainFields = List.empty[String]

  private def rewriteLoaded(
      instrumentation: Instrumentation,
      isWanted: String => Boolean = _ => true
  ): Unit =
    val classes = instrumentation.getAllLoadedClasses.filter(c =>
      instrumentation.isModifiableClass(c) && !c.isArray && !c.isHidden &&
        isWanted(c.getName.replace('.', '/')) && isInScope(c)
    )
    if classes.nonEmpty then instrumentation.retransformClasses(classes*)

  private def isInScope(of: Class[?]): Boolean =
    val loader = of.getClassLoader
    (loader ne null) && {
      val name = of.getName.replace('.', '/')
      Scope.isUsers(loader, name, of.getProtectionDomain) ||
      Scope.isOwn(loader, name, of.getProtectionDomain)
    }

  /** Returns the classes that could not be rewritten, and the errors. */
  def failures: Map[String, Throwable] =
    import scala.jdk.CollectionConverters.*
    touching.failures.asScala.toMap
