package weir.stream

import weir.fiber.{BeginFrame, Frame, Tag, TaskFiber}
import weir.{Outcome, Task}

/** Counts the work of a `parEvalMap` for the stretch that it is in, if it is in one: decorates its
  * upstream and its effects. No decorated effect counts as ready, so none runs in the consumer's
  * loop.
  *
  * @param parallelism the number of effects at a time; 0 if it changes, which `Resized` counts
  */
private[stream] final class ObservedEffects(
    upstream: Pull,
    f: Any => Task[Any],
    parallelism: Int,
    make: (Pull, Any => Task[Any]) => Pull
) extends Pull:
  // written before the first runner
  private var hasBegun = false
  private var stretch: StretchCounters | Null = null

  private val stage = make(Input, Effect(_))

  override def atMost(count: Long): Unit = stage.atMost(count)
  override private[stream] def discard(): Unit = stage.discard()
  override def hasFibers: Boolean = true

  def next(fiber: TaskFiber): Any =
    if !hasBegun then
      hasBegun = true
      stretch = Observation.stretchOf(fiber)
      if (stretch ne null) && parallelism > 0 then stretch.nn.parallelism = parallelism
    stage.next(fiber)

  def close(fiber: TaskFiber, outcome: Outcome[Unit]): Unit = stage.close(fiber, outcome)

  private object Input extends Stage(upstream):
    override def atMost(count: Long): Unit = upstream.atMost(count)

    def next(fiber: TaskFiber): Any =
      val start = fiber.runtime.timers.nanoTime
      try upstream.next(fiber)
      finally
        val counters = stretch
        if counters ne null then counters.waitedForInput.add(fiber.runtime.timers.nanoTime - start)

  private final class Effect(element: Any) extends BeginFrame[Any]:
    def begin(fiber: TaskFiber): Frame = new Frame(Tag.Frame):
      private val startNanos = fiber.runtime.timers.nanoTime

      def start(fiber: TaskFiber): Task[Any] =
        fiber.push(this)
        f(element)

      def step(fiber: TaskFiber, value: Any): Null =
        val counters = stretch
        if counters ne null then counters.worked.add(fiber.runtime.timers.nanoTime - startNanos)
        fiber.frameResult = value
        null
