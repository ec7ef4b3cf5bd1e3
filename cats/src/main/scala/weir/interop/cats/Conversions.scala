package weir.interop.cats

import _root_.cats.effect.kernel.{MonadCancel, Resource as CatsResource}
import _root_.cats.effect.std.{Queue as CatsQueue, Semaphore as CatsSemaphore}
import _root_.cats.effect.unsafe.IORuntime
import _root_.cats.effect.{IO, kernel}
import _root_.cats.~>
import weir.{Deferred, Outcome, Queue, Ref, Resource, Semaphore, Task, WeirRuntime}

extension [A](task: Task[A])

  /** Converts this task into an `IO` that runs it on `runtime`. **Cancelled**: cancels the task,
    * and waits for its finalizers. A task that cancels itself cancels the `IO`.
    */
  def toIO(using runtime: WeirRuntime): IO[A] = BetweenIO.toIO(task, runtime)

extension [A](io: IO[A])

  /** Converts this `IO` into a task that runs it on `runtime`. **Cancelled**: cancels the `IO`, and
    * waits for its finalizers. An `IO` that cancels itself cancels the task's fiber.
    */
  def toTask(using runtime: IORuntime): Task[A] = BetweenIO.toTask(io, runtime)

/** `toIO` for any value. With it, `mapK` of Cats Effect converts things of `Task` into things of
  * `IO`.
  */
def taskToIO(using runtime: WeirRuntime): Task ~> IO = new (Task ~> IO):
  def apply[A](task: Task[A]): IO[A] = BetweenIO.toIO(task, runtime)

/** `toTask` for any value. With it, `mapK` of Cats Effect converts things of `IO` into things of
  * `Task`: a `Ref`, a `Deferred`, a `Queue`, a `Semaphore`, a `Resource`.
  */
def ioToTask(using runtime: IORuntime): IO ~> Task = new (IO ~> Task):
  def apply[A](io: IO[A]): Task[A] = BetweenIO.toTask(io, runtime)

extension [A](resource: Resource[A])

  /** Converts this resource into one of Cats Effect. The release gets the outcome of the use. */
  def toCats: CatsResource[Task, A] =
    CatsResource
      .makeCaseFull[Task, (A, Outcome[Any] => Task[Unit])](poll => poll(resource.allocatedCase))(
        (acquired, end) => acquired._2(Outcomes.ofExit(end))
      )(using asyncForTask)
      .map(_._1)

extension [A](resource: CatsResource[Task, A])

  /** Converts this resource into one of Weir's. The release gets the outcome of the use. */
  def toWeir: Resource[A] =
    Resource
      .makeFull(poll => poll(resource.allocatedCase(using asyncForTask)))((acquired, outcome) =>
        acquired._2(Outcomes.toExit(outcome))
      )
      .map(_._1)

extension [A](ref: Ref[A])

  /** Returns a view of this reference with Cats Effect's type: a change through one is visible
    * through the other.
    */
  def toCats: kernel.Ref[Task, A] = RefView(ref)

extension [A](deferred: Deferred[A])

  /** Returns a view of this deferred value with Cats Effect's type. */
  def toCats: kernel.Deferred[Task, A] = DeferredView(deferred)

extension [A](queue: Queue[A])

  /** Returns a view of this queue with Cats Effect's type. */
  def toCats: CatsQueue[Task, A] = QueueView(queue)

extension (semaphore: Semaphore)

  /** Returns a view of this semaphore with Cats Effect's type. */
  def toCats: CatsSemaphore[Task] = SemaphoreView(semaphore)

private[cats] final class QueueView[A](queue: Queue[A]) extends CatsQueue[Task, A]:
  def take: Task[A] = queue.take
  def tryTake: Task[Option[A]] = queue.tryTake
  def offer(value: A): Task[Unit] = queue.offer(value)
  def tryOffer(value: A): Task[Boolean] = queue.tryOffer(value)
  def size: Task[Int] = queue.size

private[cats] final class SemaphoreView(semaphore: Semaphore) extends CatsSemaphore[Task]:
  def available: Task[Long] = semaphore.available
  def count: Task[Long] = semaphore.count
  def acquireN(n: Long): Task[Unit] = semaphore.acquireN(n)
  def tryAcquireN(n: Long): Task[Boolean] = semaphore.tryAcquireN(n)
  def releaseN(n: Long): Task[Unit] = semaphore.releaseN(n)
  val permit: CatsResource[Task, Unit] =
    CatsResource.makeFull[Task, Unit](poll => poll(semaphore.acquire))(_ => semaphore.release)(using
      asyncForTask
    )

  def mapK[G[_]](f: Task ~> G)(implicit G: MonadCancel[G, ?]): CatsSemaphore[G] =
    val here = this
    new CatsSemaphore[G]:
      def available: G[Long] = f(here.available)
      def count: G[Long] = f(here.count)
      def acquireN(n: Long): G[Unit] = f(here.acquireN(n))
      def tryAcquireN(n: Long): G[Boolean] = f(here.tryAcquireN(n))
      def releaseN(n: Long): G[Unit] = f(here.releaseN(n))
      val permit: CatsResource[G, Unit] =
        CatsResource.makeFull[G, Unit](poll => poll(acquireN(1)))(_ => releaseN(1))
      def mapK[H[_]](g: G ~> H)(implicit H: MonadCancel[H, ?]): CatsSemaphore[H] =
        here.mapK(f.andThen(g))
