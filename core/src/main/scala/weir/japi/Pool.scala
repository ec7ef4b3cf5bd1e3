package weir.japi

import java.time.Duration
import java.util.function.Function
import weir.Task as ScalaTask
import weir.std.Pool as ScalaPool

/** Keeps resources of one kind, such as connections, and reuses them. */
final class Pool[A] private (underlying: ScalaPool[A]):

  /** Takes a resource, calls `code` with it, and returns it to the pool. A resource whose use has
    * failed or was cancelled is released. **Waits** while all are in use.
    */
  def use[B](code: ThrowingFunction[? >: A, ? <: B]): Task[B] =
    Task(underlying.use(a => ScalaTask.delay[B](code(a))))

  /** As `use`, but runs the task that `f` returns. */
  def useTask[B](f: Function[? >: A, Task[B]]): Task[B] = Task(underlying.use(a => f(a).asScala))

  /** Names this pool, for `WeirRuntime.metrics`. Returns this pool. */
  def named(name: String): Pool[A] =
    underlying.named(name): Unit
    this

object Pool:
  /** Returns a pool of at most `maxSize` resources, which are acquired as they are needed, and
    * released at the end of the use of the pool.
    */
  def of[A](acquire: Resource[A], maxSize: Int): Resource[Pool[A]] =
    Resource.from(ScalaPool(acquire.asScala, maxSize).map(new Pool(_)))

  /** As `of`, but releases a resource that has been idle for `maxIdle`, and one for which
    * `isHealthy` returns false, instead of reusing it.
    */
  def of[A](
      acquire: Resource[A],
      maxSize: Int,
      maxIdle: Duration,
      isHealthy: ThrowingFunction[? >: A, java.lang.Boolean]
  ): Resource[Pool[A]] =
    val check = (a: A) => ScalaTask.delay(isHealthy(a).booleanValue)
    Resource.from(
      ScalaPool(acquire.asScala, maxSize, Durations.of(maxIdle), check).map(new Pool(_))
    )
