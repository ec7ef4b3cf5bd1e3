package weir.fiber

import weir.Fiber

/** What a waiting fiber waits for. */
object Waits:
  def of(fiber: Fiber[Any]): Awaited = fiber match
    case core: FiberCore => core.waiting.nn.awaited.nn
