package weir.slf4j

import org.slf4j.MDC
import weir.ContextHook

/** Makes SLF4J's MDC follow fibers. It works as soon as it is on the class path. */
final class MdcHook extends ContextHook:

  def capture(): AnyRef | Null =
    val context = MDC.getCopyOfContextMap
    if (context eq null) || context.isEmpty then null else context

  def install(context: AnyRef | Null): Unit = context match
    case null => MDC.clear()
    case entries => MDC.setContextMap(entries.asInstanceOf[java.util.Map[String, String]])
