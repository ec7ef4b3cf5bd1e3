package weir

import java.util.ServiceLoader
import scala.jdk.CollectionConverters.*

/** Starts something together with the default runtime of a JVM, such as a console or an exporter of
  * its metrics, without code in the program.
  *
  * Name the class in `META-INF/services/weir.RuntimeHook`, and every JVM that finds it on its class
  * path calls it.
  */
trait RuntimeHook:

  /** Is called once, while `WeirRuntime.default` is made. It must return soon, and must use
    * `runtime` in place of `WeirRuntime.default`. If it throws, the error is printed, and the
    * program continues.
    */
  def started(runtime: WeirRuntime): Unit

object RuntimeHook:

  /** Calls all hooks on the class path. Throws nothing. */
  private[weir] def callInstalled(runtime: WeirRuntime): Unit =
    call(ServiceLoader.load(classOf[RuntimeHook]).asScala, runtime)

  private[weir] def call(hooks: => Iterable[RuntimeHook], runtime: WeirRuntime): Unit =
    guarded(runtime)(
      hooks.foreach(hook => guarded(runtime, hook.getClass.getName)(hook.started(runtime)))
    )

  private def guarded(runtime: WeirRuntime, name: String = "RuntimeHook")(body: => Unit): Unit =
    try body
    catch case error: Throwable => runtime.report(name, error)
