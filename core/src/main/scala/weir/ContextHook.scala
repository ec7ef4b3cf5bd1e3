package weir

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
