package weir.stream

import weir.fiber.TaskFiber

/** Emits groups of the elements that exist already, at most `limit` in each and never empty. */
private[weir] final class ChunksStage(upstream: Pull, limit: Int) extends Stage(upstream):
  def next(fiber: TaskFiber): Any =
    val first = upstream.next(fiber)
    if Pull.isEnd(first) then first
    else
      var ready = upstream.takeReady(limit - 1)
      if ready eq null then Vector(first)
      else
        val chunk = Vector.newBuilder[Any]
        chunk += first
        var left = limit - 1
        while ready ne null do
          left -= ready.count
          while !ready.isEmpty do chunk += ready.next()
          ready = if left == 0 then null else upstream.takeReady(left)
        chunk.result()
