package weir.otel

import io.opentelemetry.context.{Context, ContextStorage}
import weir.ContextHook

/** Makes the context of OpenTelemetry follow fibers. It works as soon as it is on the class path,
  * with the Java agent and without it.
  */
final class OtelHook extends ContextHook:

  def capture(): AnyRef | Null =
    val context = Context.current
    if context eq Context.root then null else context

  def install(context: AnyRef | Null): Unit =
    OtelHook.attach(if context eq null then Context.root else context.asInstanceOf[Context])

private[otel] object OtelHook:

  /** Makes `context` the context of this thread. Its scope is not closed: the next slice of any
    * fiber on this thread installs the context of that fiber.
    */
  def attach(context: Context): Unit = ContextStorage.get.attach(context): Unit
