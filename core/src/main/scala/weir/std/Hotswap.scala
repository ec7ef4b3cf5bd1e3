package weir.std

import weir.group.Failures
import weir.{Mutex, Ref, Resource, Semaphore, Task}

/** Holds one resource at a time, which can be replaced while it is used: a client whose address
  * changes, a log file that is rotated.
  *
  *   - **Shared**: the present `Slot`. A fiber that replaces it, one at a time, releases the
  *     resource of the old slot, once. The release of the hotswap does the same, after a
  *     replacement that is in flight.
  *   - **In use**: a use holds one permit of a slot, and the release of its resource takes all
  *     permits. So the release waits for the uses. A fiber that finds no permit has read a slot
  *     that has been replaced, and reads again.
  */
final class Hotswap[A] private (present: Ref[Hotswap.Slot[A] | Null], replacing: Mutex):
  import Hotswap.Slot

  /** Acquires `next`, makes it the present resource, releases the previous one, and returns the
    * value of `next`.
    *
    * Both resources are open for a while. If they must not be, call `clear` first. The next swap
    * may release the returned value: to use it, call `get`. **Waits** for the uses of the previous
    * resource, and for earlier swaps: so a swap inside of such a use waits for ever. **Cancelled**
    * while it acquires: the present resource stays. It cannot be cancelled after that, so a timeout
    * does not end the wait. **Fails** with the error of acquiring, and the present resource stays;
    * with the error of releasing the previous resource; or with an `IllegalStateException` if the
    * hotswap has been released.
    */
  def swap(next: Resource[A]): Task[A] = Task.uncancelable { poll =>
    poll(next.allocated).flatMap { (value, release) =>
      replace(Slot(Some(value), release)).as(value)
    }
  }

  /** Releases the present resource, and leaves none. Otherwise as `swap`. */
  def clear: Task[Unit] = Task.uncancelable(_ => replace(Slot(None, Task.unit)))

  /** A resource whose value is the present one, or `None` if there is none. The present one is not
    * released while this resource is in use: a swap waits for the end of that use. **Fails** with
    * an `IllegalStateException` if the hotswap has been released.
    */
  val get: Resource[Option[A]] =
    Resource.make(use)(_.permits.release).map(_.value)

  private def use: Task[Slot[A]] = present.get.flatMap {
    case null => Task.fail(Hotswap.released)
    case slot => slot.permits.tryAcquire.flatMap(isHeld => if isHeld then Task.pure(slot) else use)
  }

  /** Must be called under a mask. */
  private def replace(next: Slot[A]): Task[Unit] = replacing.withLock(
    present
      .modify[Slot[A] | Null](before => if before eq null then (null, null) else (next, before))
      .flatMap {
        case null =>
          val error = Hotswap.released
          next.release.handleError(Failures.add(error, _): Unit).andThen(Task.fail(error))
        case before => before.retire
      }
  )

  private def close: Task[Unit] = replacing.withLock(
    present.getAndSet(null).flatMap {
      case null => Task.unit
      case last => last.retire
    }
  )

object Hotswap:
  /** Returns a new hotswap that holds `first`. Its release releases the resource that it holds
    * then.
    * {{{
    * Hotswap(clientOf(config)).use { client =>
    *   val reload = configChanged.flatMap(config => client.swap(clientOf(config))).forever
    *   def answer(request: String) = client.get.use(_.get.send(request))
    *   Scope.run(scope => scope.fork(reload) >> serve(answer))
    * }
    * }}}
    */
  def apply[A](first: Resource[A]): Resource[Hotswap[A]] = empty[A].evalTap(_.swap(first))

  /** Returns a new hotswap that holds no resource. */
  def empty[A]: Resource[Hotswap[A]] = Resource.make(
    Task.delay(new Hotswap[A](Ref.unsafe(Slot(None, Task.unit)), Mutex.unsafe()))
  )(_.close)

  private def released = IllegalStateException(
    "Hotswap: it has been released. Call get and swap only inside of the `use` of its resource."
  )

  private inline val most = Long.MaxValue

  private final class Slot[+A](val value: Option[A], val release: Task[Unit]):
    val permits: Semaphore = Semaphore.unsafe(most)

    /** Releases the resource once nobody uses it. */
    def retire: Task[Unit] =
      if value.isEmpty then Task.unit else permits.acquireN(most).andThen(release)
