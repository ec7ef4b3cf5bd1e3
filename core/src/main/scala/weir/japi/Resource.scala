package weir.japi

import java.time.Duration
import java.util.concurrent.Callable
import java.util.function.{BiFunction, Function}
import weir.{Resource as ScalaResource, Task as ScalaTask}

/** A description of a resource: something that is acquired, used, and released once, however its
  * use ends. Several resources are released in reverse order.
  */
final class Resource[A] private (underlying: ScalaResource[A]):

  /** Acquires the resource, calls `code` with it, releases it, and returns the result. `code` may
    * block.
    *
    * **Cancelled**: interrupts `code`, and waits for the release. **Fails** with the error of
    * acquiring or of `code`, under which errors of releasing are suppressed. If only releasing
    * fails, fails with its first error.
    */
  def use[B](code: ThrowingFunction[? >: A, ? <: B]): Task[B] =
    Task(underlying.use(a => ScalaTask.delay[B](code(a))))

  /** As `use`, but runs the task that `f` returns. */
  def useTask[B](f: Function[? >: A, Task[B]]): Task[B] =
    Task(underlying.use(a => f(a).asScala))

  /** Acquires the resource and returns it as an `AutoCloseable`, for try-with-resources. Blocks the
    * calling thread while it acquires.
    */
  @throws[Exception]
  def open(): Opened[A] =
    val (value, release) = underlying.allocated.runSync()
    Opened(value, release)

  /** Applies `f` to this resource. */
  def map[B](f: Function[? >: A, ? <: B]): Resource[B] = Resource.from(underlying.map(a => f(a)))

  /** Acquires this resource, then the one that `f` returns for it. The second one is released
    * before this one.
    */
  def flatMap[B](f: Function[? >: A, Resource[B]]): Resource[B] =
    Resource.from(underlying.flatMap(a => f(a).asScala))

  /** Acquires both resources concurrently, and releases them concurrently. The value is the result
    * of `f` for both.
    */
  def both[B, C](other: Resource[B], f: BiFunction[? >: A, ? >: B, ? <: C]): Resource[C] =
    Resource.from(ScalaResource.both(underlying, other.asScala).map((a, b) => f(a, b)))

  /** Acquires this resource. **Fails** with a `java.util.concurrent.TimeoutException` if that takes
    * longer than `limit`. A resource that is acquired too late is released.
    */
  def timeout(limit: Duration): Resource[A] =
    Resource.from(underlying.timeout(Durations.of(limit)))

  /** Runs `finalizer` once after the release of this resource, and also if it could not be
    * acquired.
    */
  def onFinalize(finalizer: Task[?]): Resource[A] =
    Resource.from(underlying.onFinalize(finalizer.asScala.void))

  /** Returns the resource of Weir's Scala API. */
  def asScala: ScalaResource[A] = underlying

object Resource:
  /** Makes a resource from `acquire`, which returns its value, and `release`, which releases the
    * value. Both may block, and are not interrupted. If `acquire` fails, nothing is released.
    */
  def make[A](acquire: Callable[? <: A], release: ThrowingConsumer[? >: A]): Resource[A] =
    from(
      ScalaResource.make(ScalaTask.delay[A](acquire.call()))(a =>
        ScalaTask.delay(release.accept(a))
      )
    )

  /** Makes a resource from `acquire`, whose value is closed at the release. */
  def fromAutoCloseable[A <: AutoCloseable](acquire: Callable[? <: A]): Resource[A] =
    make[A](acquire, _.close())

  /** Returns a resource for Java from one of Weir's Scala API. */
  def from[A](resource: ScalaResource[A]): Resource[A] = new Resource(resource)

/** A resource that has been acquired: see `Resource.open`. */
final class Opened[A] private[japi] (value: A, release: ScalaTask[Unit]) extends AutoCloseable:
  @volatile private var isClosed = false

  /** Returns the value of the resource. **Fails** with an `IllegalStateException` once `close` has
    * been called.
    */
  def get(): A =
    if isClosed then
      throw IllegalStateException(
        "Opened.get: the resource was released by close. Use its value before that."
      )
    value

  /** Releases the resource, once. Blocks the calling thread meanwhile. */
  @throws[Exception]
  def close(): Unit =
    isClosed = true
    release.runSync()
