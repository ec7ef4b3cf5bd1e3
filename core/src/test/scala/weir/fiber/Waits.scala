package weir.fiber

import weir.Fiber

/** Finds the object that a waiting fiber waits for. */
object Waits:
  def of(fiber: Fiber[Any]): Awaited = fiber match
    case core: FiberCore => core.waiting.nn.awaited.nn
