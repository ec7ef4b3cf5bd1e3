package weir.kernel

import weir.Fiber
import weir.sync.Awaited

/** What a fiber that waits says of its wait. */
object Waits:
  def of(fiber: Fiber[Any]): Awaited = fiber match
    case core: FiberCore => core.waiting.nn.awaited.nn
