package weir.std

import java.util.concurrent.ConcurrentHashMap
import weir.task.Bracket
import weir.{Semaphore, Task}

/** A semaphore for each key: limits the number of tasks of one key that run at once, independently
  * of those of other keys. A key costs memory only while a task of it runs or waits.
  *
  *   - **Shared**: the table. A key's entry counts the tasks that run or wait for its permits. That
  *     number changes only under the table's own lock of the key, and the entry leaves the table
  *     with the last task.
  */
final class KeyedSemaphore[K] private (permits: Long):
  private val entries = ConcurrentHashMap[K, KeyedSemaphore.Entry]()

  /** Runs `task` with one permit of `key` and returns its value. The permit is returned however the
    * task ends.
    *
    * **Waits** until there is a permit. **Cancelled** while it waits: takes none, and the task does
    * not run. **Order**: the tasks of one key get their permits in the order in which they began to
    * wait.
    * {{{
    * KeyedSemaphore[String](4).flatMap { perHost =>
    *   Task.parForeachN(100)(urls)(url => perHost.withPermit(url.getHost)(Task(fetch(url))))
    * }
    * }}}
    */
  def withPermit[A](key: K)(task: Task[A]): Task[A] = withPermits(key, 1)(task)

  /** As `withPermit`, but with `n` permits at once. **Fails** with an `IllegalArgumentException` if
    * `n` is negative, or more than the permits of a key.
    */
  def withPermits[A](key: K, n: Long)(task: Task[A]): Task[A] =
    Bracket(
      Task.delay {
        require(
          n >= 0 && n <= permits,
          s"KeyedSemaphore.withPermits: n was $n. It must be from 0 to $permits, the number of " +
            "permits of each key."
        )
        add(key)
      },
      entry => entry.semaphore.withPermits(n)(task),
      (_, _) => Task.delay(remove(key))
    )

  /** Returns the number of permits of `key` that can be taken without waiting. */
  def available(key: K): Task[Long] = Task.defer {
    val entry = entries.get(key)
    if entry eq null then Task.pure(permits) else entry.semaphore.available
  }

  /** Returns the number of keys that have a task that runs or waits. */
  def size: Task[Int] = Task.delay(entries.size)

  private def add(key: K): KeyedSemaphore.Entry = entries
    .compute(
      key,
      (_, present) =>
        val entry =
          if present eq null then KeyedSemaphore.Entry(Semaphore.unsafe(permits)) else present
        entry.tasks += 1
        entry
    )
    .nn

  private def remove(key: K): Unit = entries.computeIfPresent(
    key,
    (_, entry) =>
      entry.tasks -= 1
      if entry.tasks == 0 then null else entry
  ): Unit

object KeyedSemaphore:
  /** Returns a new keyed semaphore with `permits` permits for each key. **Fails** with an
    * `IllegalArgumentException` if that is below 1.
    */
  def apply[K](permits: Long): Task[KeyedSemaphore[K]] = Task.delay(unsafe(permits))

  /** As `apply`, but makes it at once, for use outside of tasks. */
  def unsafe[K](permits: Long): KeyedSemaphore[K] =
    require(
      permits >= 1,
      s"KeyedSemaphore: permits was $permits. It must be at least 1, or no task would ever run."
    )
    new KeyedSemaphore[K](permits)

  /** The semaphore of a key. `tasks` is changed under the table's lock of the key. */
  private final class Entry(val semaphore: Semaphore):
    var tasks: Int = 0
