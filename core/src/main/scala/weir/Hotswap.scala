package weir

import weir.group.Failures

/** A place for one resource at a time, which can be replaced while it is used: a client whose
  * address changes, a log file that is rotated.
  *
  *   - **Shared**: the present `Slot`. Whoever replaces it, one at a time, releases that slot's
  *     resource, once. So does the end, which waits for a replacement that is under way.
  *   - **In use**: a use holds one of a slot's permits, the release of its resource takes them all.
  *     So it waits for those who use it; and whoever finds no permit has read a slot that has been
  *     replaced, and reads again.
  */
final class Hotswap[A] private (present: Ref[Hotswap.Slot[A] | Null], replacing: Mutex):
  import Hotswap.Slot

  /** What `next` is, acquired, which is the present resource from now on. The one before has been
    * released by then.
    *
    * Both are open for a while; where that cannot be, `clear` first. The value may be released by
    * the next swap: to use it, `get`. **Waits** for those who use the one before, and for swaps
    * that came before: so a swap inside of such a use waits for ever. **Cancelled** while it
    * acquires: the present one stays. Not after that, so a timeout does not end the wait. **Fails**
    * with the error of acquiring: the present one stays; or with that of the release of the one
    * before; or with an `IllegalStateException` if the hotswap has been released.
    */
  def swap(next: Resource[A]): Task[A] = Task.uncancelable { poll =>
    poll(next.allocated).flatMap { (value, release) =>
      replace(Slot(Some(value), release)).as(value)
    }
  }

  /** Nothing, with no resource present. The one before has been released by then. Otherwise as
    * `swap`.
    */
  def clear: Task[Unit] = Task.uncancelable(_ => replace(Slot(None, Task.unit)))

  /** The present resource, if there is one, kept from its release for as long as this one is used.
    * A swap meanwhile waits. **Fails** with an `IllegalStateException` if the hotswap has been
    * released.
    */
  val get: Resource[Option[A]] =
    Resource.make(use)(_.permits.release).map(_.value)

  private def use: Task[Slot[A]] = present.get.flatMap {
    case null => Task.fail(Hotswap.released)
    case slot => slot.permits.tryAcquire.flatMap(isHeld => if isHeld then Task.pure(slot) else use)
  }

  /** To be called under a mask. */
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
  /** A new one with `first`, which is released in the end, as is what has replaced it.
    * {{{
    * Hotswap(clientOf(config)).use { client =>
    *   val reload = configChanged.flatMap(config => client.swap(clientOf(config))).forever
    *   def answer(request: String) = client.get.use(_.get.send(request))
    *   Scope.run(scope => scope.fork(reload) >> serve(answer))
    * }
    * }}}
    */
  def apply[A](first: Resource[A]): Resource[Hotswap[A]] = empty[A].evalTap(_.swap(first))

  /** A new one without a resource. */
  def empty[A]: Resource[Hotswap[A]] = Resource.make(
    Task.delay(new Hotswap[A](Ref.unsafe(Slot(None, Task.unit)), Mutex.unsafe()))
  )(_.close)

  private def released = IllegalStateException(
    "Hotswap: it has been released. Use it, and swap, inside of the use of its own resource."
  )

  private inline val most = Long.MaxValue

  private final class Slot[+A](val value: Option[A], val release: Task[Unit]):
    val permits: Semaphore = Semaphore.unsafe(most)

    /** Releases the resource once nobody uses it. */
    def retire: Task[Unit] =
      if value.isEmpty then Task.unit else permits.acquireN(most).andThen(release)
