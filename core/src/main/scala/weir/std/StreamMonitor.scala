package weir.std

import java.util.concurrent.ConcurrentHashMap
import scala.concurrent.duration.{DurationLong, FiniteDuration}
import weir.metrics.{Metric, NamedMetrics}
import weir.stream.{StretchCounters, StretchEvent}
import weir.{Task, WeirRuntime}

/** Counts the work of the named stretches of the streams that it observes, live and at the end.
  *
  * A stretch is a part of a stream that has a name: see `Stream.named`. Streams that use the same
  * monitor are counted together, and so are stretches with the same name.
  * {{{
  * val stored: Task[Unit] = StreamMonitor().flatMap { monitor =>
  *   val stream = Stream.linesOf(path).named("read").prefetchN(16).evalMap(store).named("store")
  *   stream.observed(monitor).drain.guarantee(Task(log(monitor.snapshot.table)))
  * }
  * }}}
  */
final class StreamMonitor private ():
  private val byName = ConcurrentHashMap[String, StretchCounters]()

  // under this object's lock
  private var names = List.empty[String]
  private var running = 0
  private var runtime: WeirRuntime | Null = null
  private var startNanos = 0L
  private var observedNanos = 0L

  private[weir] def stretch(name: String): StretchCounters =
    val known = byName.get(name)
    if known ne null then known else add(name)

  private def add(name: String): StretchCounters = synchronized {
    byName.computeIfAbsent(
      name,
      name => {
        names = name :: names // the last stretch is asked first
        StretchCounters(name)
      }
    )
  }

  private def nowNanos: Long = runtime.nn.timers.nanoTime

  private[weir] def begin(runtime: WeirRuntime): Unit = synchronized {
    if running == 0 then
      this.runtime = runtime
      startNanos = nowNanos
    running += 1
  }

  private[weir] def end(): Unit =
    val isLast = synchronized {
      running -= 1
      if running == 0 then observedNanos += nowNanos - startNanos
      running == 0
    }
    if isLast then StretchEvent.emit(snapshot)

  /** Names this monitor: `WeirRuntime.metrics` then reports its metrics under that name. Returns
    * this monitor.
    * {{{
    * val feeds = StreamMonitor().map(_.named("feeds"))
    * }}}
    */
  def named(name: String): this.type =
    NamedMetrics.register(this, name)((monitor, named) => monitor.figures(named))
    this

  private def figures(named: NamedMetrics): Vector[Metric] =
    val stretches = snapshot.stretches
    def each(metric: String, unit: String, description: String)(
        value: StreamMonitor.Stretch => Double
    ): Metric =
      val values = stretches.map(stretch => stretch.name -> value(stretch))
      named.by(Metric.Kind.Counter, metric, unit, description, "stretch", values*)
    Vector(
      each("weir.stream.elements", "{element}", "Elements that the stretch has passed on.")(
        _.elements.toDouble
      ),
      each("weir.stream.worked", "s", "Time for which its code and its effects ran.")(
        _.worked.toNanos / 1e9
      ),
      each("weir.stream.waited_for_input", "s", "Time for which it waited for an element.")(
        _.waitedForInput.toNanos / 1e9
      ),
      each("weir.stream.waited_for_room", "s", "Time for which it waited for room downstream.")(
        _.waitedForRoom.toNanos / 1e9
      ),
      named.by(
        Metric.Kind.Gauge,
        "weir.stream.parallelism",
        "{effect}",
        "Effects of the stretch that may run at a time.",
        "stretch",
        stretches.map(stretch => stretch.name -> stretch.parallelism.toDouble)*
      ),
      named.by(
        Metric.Kind.Gauge,
        "weir.stream.queued",
        "{element}",
        "Elements in the buffer in front of the stretch.",
        "stretch",
        stretches.flatMap(s => s.queued.map(size => s.name -> size.toDouble))*
      )
    )

  /** Returns the counts up to now. May be called at any time, from any thread.
    * {{{
    * def shown(monitor: StreamMonitor): Stream[String] =
    *   Stream.fixedRate(1.second).map(_ => monitor.snapshot.table)
    * }}}
    */
  def snapshot: StreamMonitor.Snapshot = synchronized {
    val nanos = observedNanos + (if running > 0 then nowNanos - startNanos else 0)
    StreamMonitor.Snapshot(
      nanos.nanos,
      names.toVector.map { name =>
        val counters = byName.get(name).nn
        val queue = counters.queue
        StreamMonitor.Stretch(
          name,
          counters.elements.sum,
          counters.worked.sum.nanos,
          counters.waitedForInput.sum.nanos,
          counters.waitedForRoom.sum.nanos,
          counters.parallelism,
          if queue eq null then None else Some(queue.size),
          nanos.nanos
        )
      }
    )
  }

object StreamMonitor:
  /** Returns a new monitor, which observes nothing yet. */
  def apply(): Task[StreamMonitor] = Task.delay(unsafe())

  /** As `apply`, but makes the monitor at once, for use outside of tasks. */
  def unsafe(): StreamMonitor = new StreamMonitor()

  /** The state of all stretches, in the order of the stream.
    *
    * @param observed the time for which streams have been observed
    */
  final case class Snapshot(observed: FiniteDuration, stretches: Vector[Stretch]):

    /** Returns the stretch that has been busy for the largest share of the time. The others wait
      * for it. To make the pipe faster, make this stretch faster, or run more of its effects at a
      * time.
      */
    def bottleneck: Option[Stretch] = stretches.maxByOption(_.busy).filter(_.elements > 0)

    /** Returns the stretches as lines of text, under a line of titles. The bottleneck is marked
      * with `*`.
      */
    def table: String =
      val titles =
        List("stretch", "elements", "per second", "busy", "waits for input", "for room", "queue")
      val slowest = bottleneck.map(_.name)
      val rows = stretches.map { s =>
        List(
          if slowest.contains(s.name) then s"${s.name} *" else s.name,
          s"${s.elements}",
          s"${math.round(s.perSecond)}",
          percent(s.busy),
          percent(s.share(s.waitedForInput)),
          percent(s.share(s.waitedForRoom)),
          s.queued.fold("")(_.toString)
        )
      }
      val widths = (titles +: rows).transpose.map(_.map(_.length).max)
      (titles +: rows)
        .map(row =>
          row
            .zip(widths)
            .zipWithIndex
            .map { case ((cell, width), i) =>
              if i == 0 then cell.padTo(width, ' ') else " " * (width - cell.length) + cell
            }
            .mkString("  ")
        )
        .mkString("\n")

    private def percent(share: Double): String = s"${math.round(share * 100)} %"

  /** The counts of one stretch.
    *
    * @param elements the number of elements that it has passed on
    * @param worked the time for which its code and its effects ran; the times of effects that run
    *   concurrently are added up
    * @param waitedForInput the time for which it waited for an element that another fiber makes
    * @param waitedForRoom the time for which its fiber held an element that had no room downstream
    * @param parallelism the number of its effects that may run at a time
    * @param queued the number of elements in the buffer in front of it, if there is one
    * @param observed the time for which it has been observed
    */
  final case class Stretch(
      name: String,
      elements: Long,
      worked: FiniteDuration,
      waitedForInput: FiniteDuration,
      waitedForRoom: FiniteDuration,
      parallelism: Int,
      queued: Option[Int],
      observed: FiniteDuration
  ):
    /** Returns the number of elements per second. */
    def perSecond: Double = elements / math.max(observed.toNanos / 1e9, 1e-9)

    /** Returns the time for which it worked as a share, from 0 to 1, of the time that its
      * parallelism allows.
      */
    def busy: Double = share(worked) / parallelism

    private[weir] def share(time: FiniteDuration): Double =
      time.toNanos.toDouble / math.max(observed.toNanos, 1L)
