package weir.japi

import java.time.Duration
import java.util.concurrent.Callable
import java.util.function.{BiFunction, Function}
import weir.{Resource as ScalaResource, Task as ScalaTask}

/** A description of something that is acquired, used, and released, once, however its use ends; in
  * reverse order where there are several.
  */
final class Resource[A] private (underlying: ScalaResource[A]):

  /** What `code` returns for the resource, which has been released by then. `code` may block.
    *
    * **Cancelled**: interrupts `code`, and waits for the release. **Fails** with the error of
    * acquiring or of `code`, errors of releasing suppressed under it; with the first error of
    * releasing if all else went well.
    */
  def use[B](code: ThrowingFunction[? >: A, ? <: B]): Task[B] =
    Task(underlying.use(a => ScalaTask.delay[B](code(a))))

  /** As `use`, of the task that `f` makes. */
  def useTask[B](f: Function[? >: A, Task[B]]): Task[B] =
    Task(underlying.use(a => f(a).asScala))

  /** The resource as something to `close`, for try-with-resources. Blocks the calling thread while
    * it acquires.
    */
  @throws[Exception]
  def open(): Opened[A] =
    val (value, release) = underlying.allocated.runSync()
    Opened(value, release)

  /** `f` of this resource. */
  def map[B](f: Function[? >: A, ? <: B]): Resource[B] = Resource.from(underlying.map(a => f(a)))

  /** The resource that `f` makes of this one. It is released before this one. */
  def flatMap[B](f: Function[? >: A, Resource[B]]): Resource[B] =
    Resource.from(underlying.flatMap(a => f(a).asScala))

  /** `f` of both, acquired at the same time, and released at the same time. */
  def both[B, C](other: Resource[B], f: BiFunction[? >: A, ? >: B, ? <: C]): Resource[C] =
    Resource.from(ScalaResource.both(underlying, other.asScala).map((a, b) => f(a, b)))

  /** This resource. **Fails** with a `java.util.concurrent.TimeoutException` if acquiring it takes
    * longer than `limit`; what is acquired too late is released.
    */
  def timeout(limit: Duration): Resource[A] =
    Resource.from(underlying.timeout(Durations.of(limit)))

  /** This resource; `finalizer` runs once after its release, and also if it could not be acquired.
    */
  def onFinalize(finalizer: Task[?]): Resource[A] =
    Resource.from(underlying.onFinalize(finalizer.asScala.void))

  /** The resource for Weir's Scala API. */
  def asScala: ScalaResource[A] = underlying

object Resource:
  /** What `acquire` returns, which `release` of it releases. Both may block, and are not
    * interrupted. Where `acquire` fails, nothing is released.
    */
  def make[A](acquire: Callable[? <: A], release: ThrowingConsumer[? >: A]): Resource[A] =
    from(
      ScalaResource.make(ScalaTask.delay[A](acquire.call()))(a =>
        ScalaTask.delay(release.accept(a))
      )
    )

  /** What `acquire` returns, which is closed afterwards. */
  def fromAutoCloseable[A <: AutoCloseable](acquire: Callable[? <: A]): Resource[A] =
    make[A](acquire, _.close())

  /** A resource of Weir's Scala API. */
  def from[A](resource: ScalaResource[A]): Resource[A] = new Resource(resource)

/** A resource that has been acquired: see `Resource.open`. */
final class Opened[A] private[japi] (value: A, release: ScalaTask[Unit]) extends AutoCloseable:
  /** What was acquired. */
  def get(): A = value

  /** Releases it, once. Blocks the calling thread meanwhile. */
  @throws[Exception]
  def close(): Unit = release.runSync()
