package weir

/** A running task. */
trait Fiber[+A]:

  /** How the fiber ended.
    *
    * **Waits** until it has, finalizers included. **Cancelled**: stops waiting; the fiber goes on.
    */
  def join: Task[Outcome[A]]

  /** How the fiber ended, or `None` if it has not ended yet. Does not wait. */
  def poll: Task[Option[Outcome[A]]]

  /** The fiber's value.
    *
    * **Waits** as `join`. **Fails** with the fiber's error, or with a
    * `java.util.concurrent.CancellationException` if it was cancelled.
    */
  final def joinOrFail: Task[A] = join.map(_.get)

  /** Asks the fiber to stop, and ends when it has: its finalizers have run by then.
    *
    * **Waits** for masked regions and finalizers. **Cancelled**: goes on waiting, as in Cats
    * Effect.
    */
  def cancel: Task[Unit]
