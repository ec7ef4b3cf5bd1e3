package weir

import java.lang.invoke.{MethodHandle, MethodHandles, MethodType}
import java.util.ServiceLoader
import scala.jdk.CollectionConverters.*

/** Makes the thread locals of a library, such as a logging context, follow fibers instead of
  * threads.
  *
  * A fiber begins with the context of the thread on which it was made, and keeps its context as it
  * moves from thread to thread. Changes by a child do not reach its parent. If no hook is
  * installed, this costs nothing.
  *
  * Name the class in `META-INF/services/weir.ContextHook`, and every JVM that finds it on its class
  * path uses it.
  */
trait ContextHook:

  /** Returns the context of this thread, as a value that does not change later, or null if there is
    * none.
    */
  def capture(): AnyRef | Null

  /** Makes `context` the context of this thread; null means none. `capture` has returned it,
    * possibly on another thread.
    */
  def install(context: AnyRef | Null): Unit

object ContextHook:
  /** Returns all hooks on the class path, combined into one, or null if there are none. */
  private[weir] def installed: ContextHook | Null =
    of(ServiceLoader.load(classOf[ContextHook]).asScala.toVector)

  /** Checks once if OpenTelemetry's context follows fibers, when a task is run with such a context,
    * and warns if it does not: spans would then have wrong parents. Returns null if OpenTelemetry
    * is not on the class path.
    *
    * Core does not depend on OpenTelemetry, so its methods are found by their names.
    */
  private[weir] final class OtelCheck private (current: MethodHandle, root: AnyRef):

    /** Returns false after the check. */
    def isPending(hook: ContextHook | Null): Boolean =
      val context = now()
      val isSet = context ne root
      if isSet && !(hook != null && follows(hook)) then
        System.err.println(
          "weir: a task runs with a context of OpenTelemetry, which does not follow fibers: " +
            "spans will have wrong parents. Add the module weir-otel to the class path."
        )
      !isSet

    /** Returns true if `hook` takes a context from one thread to another. The Java agent returns a
      * new object for the same context each time, so only the root is compared.
      */
    private def follows(hook: ContextHook): Boolean =
      val captured = hook.capture()
      val thread = Thread.ofVirtual().unstarted { () =>
        hook.install(captured)
        found = now()
      }
      thread.start()
      thread.join()
      found ne root

    @volatile private var found: AnyRef | Null = null

    private def now(): AnyRef = current.invokeExact().asInstanceOf[AnyRef]

  private[weir] object OtelCheck:
    def make(): OtelCheck | Null =
      try
        val context = Class.forName("io.opentelemetry.context.Context")
        val lookup = MethodHandles.publicLookup()
        val returnsContext = MethodType.methodType(context)
        val current = lookup
          .findStatic(context, "current", returnsContext)
          .asType(MethodType.methodType(classOf[Object]))
        val root = lookup.findStatic(context, "root", returnsContext)
        new OtelCheck(current, root.invokeWithArguments())
      catch case _: Exception | _: LinkageError => null

  /** Combines `hooks` into one, which throws nothing. Returns null if there are none. */
  private[weir] def of(hooks: Vector[ContextHook]): ContextHook | Null = hooks match
    case Vector() => null
    case Vector(one) => Guarded(one)
    case several => Together(several.map(Guarded(_)))

  /** A hook that throws nothing: a fiber must not break because of its logging context. The first
    * error is printed, and the hook is not called any more.
    */
  private final class Guarded(hook: ContextHook) extends ContextHook:
    @volatile private var broken = false

    def capture(): AnyRef | Null =
      try if broken then null else hook.capture()
      catch
        case error: Throwable =>
          break(error)
          null

    def install(context: AnyRef | Null): Unit =
      try if !broken then hook.install(context)
      catch case error: Throwable => break(error)

    private def break(error: Throwable): Unit =
      broken = true
      try
        System.err.println(s"weir: ${hook.getClass.getName} has failed, and is not used any more:")
        error.printStackTrace(System.err)
      catch case _: Throwable => ()

  private final class Together(hooks: Vector[ContextHook]) extends ContextHook:
    def capture(): AnyRef | Null =
      val contexts = hooks.map(_.capture())
      if contexts.forall(_ == null) then null else contexts

    def install(context: AnyRef | Null): Unit = context match
      case contexts: Vector[?] =>
        hooks.lazyZip(contexts).foreach((hook, its) => hook.install(its.asInstanceOf[AnyRef]))
      case _ => hooks.foreach(_.install(null))
