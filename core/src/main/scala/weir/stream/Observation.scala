package weir.stream

import java.util.concurrent.atomic.AtomicInteger
import weir.fiber.{Locals, TaskFiber}
import weir.std.StreamMonitor
import weir.{Outcome, Stream, Task}

/** Measures where observed streams spend their time: `named`, `observed`.
  *
  * While no stream of this JVM is observed, `named` has no pull: the stream above it is opened in
  * its place, and a run of steps goes through it. Code that waits reads one static field.
  *
  * Otherwise the fibers of an observed stream have a `Context` in their locals, which a fork
  * copies: a fiber that finds another fiber's context makes its own. The context holds the stretch
  * whose `next` runs now on that fiber. The time that an inner `next` takes, and the time of waits,
  * is not the work of the outer one.
  */
private[weir] object Observation:
  private val observed = AtomicInteger()

  def isOn: Boolean = observed.get != 0

  private[stream] def begin(): Unit = observed.incrementAndGet(): Unit
  private[stream] def end(): Unit = observed.decrementAndGet(): Unit

  /** The context of one fiber, which alone uses it. */
  final class Context(val fiber: TaskFiber, val monitor: StreamMonitor):
    /** The stretch whose `next` runs. */
    var current: StretchCounters | Null = null

    /** The stretch whose `next` has ended last, on a fiber that pulls for another one. */
    var last: StretchCounters | Null = null

    /** The part of the time since the `next` of `current` has begun that is not its work. */
    var otherNanos = 0L

  private object Key

  def contextOf(fiber: TaskFiber): Context | Null =
    Locals.valueIn(fiber.locals, Key, null) match
      case null => null
      case context: Context if context.fiber eq fiber => context
      case context: Context =>
        val own = Context(fiber, context.monitor)
        fiber.locals = Locals.updated(fiber.locals, Key, own)
        own

  private[stream] def set(fiber: TaskFiber, context: Any): Unit =
    fiber.locals = Locals.updated(fiber.locals, Key, context)

  private[stream] def get(fiber: TaskFiber): Any = Locals.valueIn(fiber.locals, Key, null)

  /** Returns the stretch that `fiber` is in now; null if it is in none, or not observed. */
  def stretchOf(fiber: TaskFiber): StretchCounters | Null =
    if !isOn then null
    else
      val context = contextOf(fiber)
      if context eq null then null else context.current

  /** Opens a `parEvalMap`, a pull that `make` makes of its upstream and its effects. The arguments
    * are those of `ObservedEffects`.
    */
  def effects(upstream: Pull, f: Any => Task[Any], parallelism: Int)(
      make: (Pull, Any => Task[Any]) => Pull
  ): Pull =
    if isOn then ObservedEffects(upstream, f, parallelism, make) else make(upstream, f)

  /** Awaits an element, on the consumer's side of a stage with fibers. */
  def awaitInput[A](fiber: TaskFiber, task: Task[A]): A =
    if !isOn then fiber.await(task) else waiting(fiber, task)(_.waitedForInput.add(_))

  /** As `awaitInput`, but waits for effects of the stage itself. */
  def awaitEffects[A](fiber: TaskFiber, task: Task[A]): A =
    if !isOn then fiber.await(task) else waiting(fiber, task)((_, _) => ())

  private def waiting[A](fiber: TaskFiber, task: Task[A])(
      add: (StretchCounters, Long) => Unit
  ): A =
    val context = contextOf(fiber)
    val stretch = if context eq null then null else context.current
    if stretch eq null then fiber.await(task)
    else
      val start = fiber.runtime.timers.nanoTime
      try fiber.await(task)
      finally
        val nanos = fiber.runtime.timers.nanoTime - start
        context.nn.otherNanos += nanos
        add(stretch, nanos)

  /** Awaits room, on a fiber that pulls for another one. */
  def awaitRoom[A](fiber: TaskFiber, task: Task[A]): A =
    if !isOn then fiber.await(task)
    else
      val context = contextOf(fiber)
      val stretch = if context eq null then null else context.last
      if stretch eq null then fiber.await(task)
      else
        val start = fiber.runtime.timers.nanoTime
        try fiber.await(task)
        finally stretch.waitedForRoom.add(fiber.runtime.timers.nanoTime - start)

/** Emits the elements of `source`, and names the stretch of it up to the name before. */
private[weir] final class Named[+A](val source: Stream[A], name: String) extends Stream[A]:
  private[weir] def open(): Pull =
    if Observation.isOn then NamedPull(source.open(), name) else source.open()

  override private[weir] def openUntil(end: Step.End): Pull =
    if Observation.isOn then open() else source.openUntil(end)

private final class NamedPull(upstream: Pull, name: String) extends Stage(upstream):
  private var stretch: StretchCounters | Null = null

  override def atMost(count: Long): Unit = upstream.atMost(count)
  override def isSpent: Boolean = upstream.isSpent

  def next(fiber: TaskFiber): Any =
    val context = Observation.contextOf(fiber)
    if context eq null then upstream.next(fiber)
    else
      if stretch eq null then stretch = context.monitor.stretch(name)
      measured(context, stretch.nn, fiber)

  private def measured(
      context: Observation.Context,
      stretch: StretchCounters,
      fiber: TaskFiber
  ): Any =
    val outer = context.current
    val othersOfOuter = context.otherNanos
    context.current = stretch
    context.otherNanos = 0
    val start = fiber.runtime.timers.nanoTime
    try
      val value = upstream.next(fiber)
      if !Pull.isEnd(value) then stretch.elements.increment()
      value
    finally
      val nanos = fiber.runtime.timers.nanoTime - start
      stretch.worked.add(nanos - context.otherNanos)
      context.current = outer
      context.otherNanos = othersOfOuter + nanos
      if outer eq null then context.last = stretch

/** Emits the elements of `stream`, which `monitor` observes. The stream is opened with the first
  * element that is asked for, so a stream that is never run is never observed.
  *
  * The consumer's stretch, if it has a name, is busy between two elements, and waits for input
  * where the last stage with a fiber does.
  */
private[weir] final class ObservedPull(
    stream: Stream[Any],
    monitor: StreamMonitor,
    consumer: String | Null
) extends Pull:
  private var demand = Long.MaxValue
  private var hasBegun = false
  private var upstream: Pull = EmptySource
  private var context: Observation.Context | Null = null
  private var used: StretchCounters | Null = null
  private var usedSince = 0L

  override def atMost(count: Long): Unit = demand = math.min(demand, count)
  override def hasFibers: Boolean = stream.open().hasFibers

  def next(fiber: TaskFiber): Any =
    if hasBegun then countUse(fiber) else begin(fiber)
    val value = within(fiber)(upstream.next(fiber))
    val counters = used
    if counters ne null then
      if !Pull.isEnd(value) then counters.elements.increment()
      usedSince = fiber.runtime.timers.nanoTime
    value

  private def begin(fiber: TaskFiber): Unit =
    hasBegun = true
    Observation.begin()
    monitor.begin(fiber.runtime)
    if consumer ne null then used = monitor.stretch(consumer.nn)
    val opened = stream.open()
    if demand != Long.MaxValue then opened.atMost(demand)
    upstream = opened

  private def countUse(fiber: TaskFiber): Unit =
    val counters = used
    if counters ne null then counters.worked.add(fiber.runtime.timers.nanoTime - usedSince)

  def close(fiber: TaskFiber, outcome: Outcome[Unit]): Unit =
    if hasBegun then
      if usedSince != 0 then countUse(fiber)
      try within(fiber)(upstream.close(fiber, outcome))
      finally
        Observation.end()
        monitor.end()

  private inline def within[A](fiber: TaskFiber)(inline body: A): A =
    val outer = Observation.get(fiber)
    if (context eq null) || (context.nn.fiber ne fiber) then
      context = Observation.Context(fiber, monitor)
    context.nn.current = used
    Observation.set(fiber, context)
    try body
    finally Observation.set(fiber, outer)
