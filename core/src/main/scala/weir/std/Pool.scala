package weir.std

import java.util.ArrayDeque
import scala.concurrent.duration.{Duration, DurationLong, FiniteDuration}
import scala.jdk.CollectionConverters.*
import weir.group.Failures
import weir.metrics.{Metric, NamedMetrics}
import weir.{Outcome, Poll, Resource, Semaphore, Task}

/** Keeps resources of one kind, such as connections, parsers or buffers, to use them again instead
  * of acquiring new ones.
  *
  *   - **Permits**: each use holds one, so there are never more than `maxSize` resources.
  *   - **Shared, under this object's lock**: the idle resources, the last used last, and whether
  *     the pool is closed. The fiber that takes one out owns it. The last used is the first to be
  *     used again, so that resources which are not needed expire.
  */
final class Pool[A] private (
    acquire: Resource[A],
    maxSize: Int,
    isHealthy: A => Task[Boolean],
    isReusable: Outcome[Unit] => Boolean
):
  import Pool.{Held, closedError}
  private val permits = Semaphore.unsafe(maxSize)

  // under this object's lock
  private val unused = ArrayDeque[Held[A]]()
  private var isClosed = false

  /** Returns one of the pool's resources: an idle one that is healthy, or else a new one.
    *
    * At the end of its use, it returns to the pool, or is released if `isReusable` is false for the
    * outcome. If `isReusable` throws, the resource is released and the use fails with that error,
    * under which an error of the use itself is suppressed. **Waits** while `maxSize` resources are
    * in use. **Cancelled** while it waits or acquires: takes none. **Fails** with the error of
    * acquiring, or with an `IllegalStateException` if the pool has been released. **Order**: first
    * come, first served. A use within a use takes a second resource, and waits for ever if the pool
    * cannot have a second one.
    */
  val resource: Resource[A] =
    for
      _ <- Resource.makeFull(poll => poll(permits.acquire))((_, _) => permits.release)
      held <- Resource.makeFull(take)(giveBack)
    yield held.value

  /** Runs `f` with one of the resources and returns the value of the task: see `resource`. */
  def use[B](f: A => Task[B]): Task[B] = resource.use(f)

  /** Returns the number of resources that are not in use. */
  def idle: Task[Int] = Task.delay(synchronized(unused.size))

  /** Returns the number of resources that are in use or are being acquired for a use. */
  def inUse: Task[Int] = permits.available.map(free => (maxSize - free).toInt)

  /** Names this pool: `WeirRuntime.metrics` then reports its metrics under that name. Returns this
    * pool.
    * {{{
    * def connections(pool: Pool[String]) = pool.named("connections")
    * }}}
    */
  def named(name: String): this.type =
    NamedMetrics.register(this, name)((pool, named) => pool.figures(named))
    this

  private def figures(named: NamedMetrics): Vector[Metric] =
    val unused = this.unused.size
    val free = permits.freeNow
    Vector(
      named.gauge("weir.pool.size", "{resource}", "Resources that the pool may have.", maxSize),
      named.by(
        Metric.Kind.Gauge,
        "weir.pool.resources",
        "{resource}",
        "Resources of the pool: idle, or used.",
        "state",
        "idle" -> unused,
        "used" -> (maxSize - free).toDouble
      ),
      named.gauge(
        "weir.pool.waiting",
        "{fiber}",
        "Fibers that wait for the pool.",
        permits.waitingNow
      )
    )

  private def take(poll: Poll): Task[Held[A]] = Task.defer {
    val held = synchronized {
      if isClosed then throw closedError
      unused.pollLast()
    }
    if held eq null then poll(acquire.allocatedCase).map((value, release) => Held(value, release))
    else
      poll(Task.defer(isHealthy(held.value)))
        .onCancel(release(held, Outcome.Canceled))
        .handleError(_ => false)
        .flatMap(healthy =>
          if healthy then Task.pure(held)
          else release(held, Outcome.Succeeded(())).andThen(take(poll))
        )
  }

  private def giveBack(held: Held[A], outcome: Outcome[Unit]): Task[Unit] =
    Task.monotonic.map(keep(held, outcome, _)).attempt.flatMap {
      case Right(isKept) => if isKept then Task.unit else held.release(outcome)
      // `isReusable` is the user's code and may throw: the resource must not be lost then
      case Left(error) => Task.fail(error).guarantee(held.release(outcome))
    }

  private def keep(held: Held[A], outcome: Outcome[Unit], now: FiniteDuration): Boolean =
    isReusable(outcome) && synchronized {
      if !isClosed then
        held.idleSince = now
        unused.addLast(held)
      !isClosed
    }

  /** Releases a resource that is not fit for use any more. An error of the release is printed, and
    * not passed to the caller, who gets another resource.
    */
  private def release(held: Held[A], outcome: Outcome[Unit]): Task[Unit] = held
    .release(outcome)
    .handleErrorWith(error => Task.onRuntime(_.report("a release of a Pool", error)))

  /** Releases resources that have been idle for too long, for ever. Each is released under a
    * permit, since it is open until its release has ended. If there is no permit, all are in use.
    */
  private def evict(maxIdle: FiniteDuration): Task[Nothing] =
    val oldest: Task[Held[A] | Null] = Task.monotonic.map(now =>
      synchronized {
        val first = unused.peekFirst()
        if (first ne null) && now - first.idleSince >= maxIdle then unused.pollFirst() else null
      }
    )
    val one: Task[Boolean] = Task.uncancelable(_ =>
      permits.tryAcquire.flatMap {
        case false => Task.pure(false)
        case true =>
          oldest
            .flatMap {
              case null => Task.pure(false)
              case held => release(held, Outcome.Succeeded(())).as(true)
            }
            .guarantee(permits.release)
      }
    )
    one.iterateWhile(identity).delayBy((maxIdle / 2).max(1.milli)).forever

  private def close: Task[Unit] = Task
    .delay(synchronized {
      isClosed = true
      val all = unused.asScala.toList
      unused.clear()
      all
    })
    .flatMap(all => Task.validate(all)(_.release(Outcome.Succeeded(()))))
    .flatMap {
      case Left(errors) => Task.fail(errors.reduceLeft(Failures.add(_, _)))
      case Right(_) => Task.unit
    }

object Pool:
  /** Returns a new pool of at most `maxSize` resources, which it acquires with `acquire` as they
    * are needed.
    *
    *   - An idle resource is used again if `isHealthy` returns true for it. If the check returns
    *     false or fails, the resource is released and another one is taken. If the check is
    *     cancelled, the resource is released.
    *   - After a use, a resource is kept if `isReusable` is true for the outcome of the use. By
    *     default it is kept only after a success, because a failure, such as a timeout, or a cancel
    *     leaves it in an unknown state.
    *   - A resource that has been idle for `maxIdle` is released within another half of that time.
    *   - At the end of the use of the pool, the idle resources are released, and each of the others
    *     at the end of its own use.
    *
    * Throws an `IllegalArgumentException` if `maxSize` is below 1 or `maxIdle` is not positive.
    * {{{
    * Pool(connection, maxSize = 10, isHealthy = c => Task(c.isValid(1))).use { pool =>
    *   Task.parTraverseN(100)(ids)(id => pool.use(connection => Task(total(connection, id))))
    * }
    * }}}
    */
  def apply[A](
      acquire: Resource[A],
      maxSize: Int,
      maxIdle: Duration = Duration.Inf,
      isHealthy: A => Task[Boolean] = (_: A) => Task.pure(true),
      isReusable: Outcome[Unit] => Boolean = Pool.succeeded
  ): Resource[Pool[A]] =
    require(
      maxSize >= 1 && maxIdle > Duration.Zero,
      s"Pool: maxSize was $maxSize and maxIdle $maxIdle. They must be at least 1 and above 0. " +
        "To keep idle resources for ever, use Duration.Inf."
    )
    val pool = Resource.make(Task.delay(new Pool(acquire, maxSize, isHealthy, isReusable)))(_.close)
    maxIdle match
      case finite: FiniteDuration => pool.flatMap(p => p.evict(finite).background.map(_ => p))
      case _ => pool

  /** Returns true only for a success. */
  val succeeded: Outcome[Unit] => Boolean = _ == Outcome.Succeeded(())

  /** A resource of the pool, with the function that releases it. */
  private final class Held[A](val value: A, val release: Outcome[Any] => Task[Unit]):
    // under the pool's lock
    var idleSince: FiniteDuration = Duration.Zero

  private def closedError = IllegalStateException(
    "Pool: it has been released. Call its methods only inside of the `use` of its resource."
  )
