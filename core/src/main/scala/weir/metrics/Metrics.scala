package weir.metrics

import java.lang.ref.WeakReference

/** Returns metrics that change. */
trait MetricSource:

  /** Returns the present metrics. It is called on any thread, at any time, and must not block. */
  def metrics(): Vector[Metric]

/** The sources of metrics of this JVM, besides its runtimes: named primitives, observed streams,
  * and those that a program adds. `WeirRuntime.metrics` reads them all.
  */
object Metrics:
  private val sources = Registry[Source]()

  /** Adds a source, until the result is closed.
    * {{{
    * val visits = java.util.concurrent.atomic.LongAdder()
    * val registration = Metrics.register(() =>
    *   Vector(
    *     Metric(
    *       "app.visits",
    *       Metric.Kind.Counter,
    *       "{visit}",
    *       "Visits since the start.",
    *       Vector(Metric.Point(Vector.empty, visits.sum.toDouble))
    *     )
    *   )
    * )
    * }}}
    */
  def register(source: MetricSource): AutoCloseable = sources.add(Source.Strong(source))

  /** Adds the metrics of `owner`, which `read` returns, for as long as `owner` is in use. `read`
    * must refer to `owner` only by its argument.
    */
  private[weir] def registerWeakly[A <: AnyRef](owner: A)(read: A => Vector[Metric]): Unit =
    sources.add(Source.Weak(WeakReference(owner), read)): Unit

  /** Returns the metrics of all sources, in the order in which the sources were added. A source
    * that throws has no metrics.
    */
  private[weir] def ofSources: Vector[Metric] =
    sources.prune(_.isGone)
    Metric.joined(sources.all.flatMap(_.read))

  private enum Source:
    case Strong(source: MetricSource)
    case Weak[A <: AnyRef](owner: WeakReference[A], figures: A => Vector[Metric])

    def isGone: Boolean = this match
      case Strong(_) => false
      case Weak(owner, _) => owner.get == null

    def read: Vector[Metric] =
      try
        this match
          case Strong(source) => source.metrics()
          case weak: Weak[a] =>
            val owner = weak.owner.get
            if owner == null then Vector.empty else weak.figures(owner)
      catch case _: Exception => Vector.empty
