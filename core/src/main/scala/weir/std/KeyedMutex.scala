package weir.std

import java.util.concurrent.ConcurrentHashMap
import weir.Task
import weir.fiber.{Awaited, Suspend, TaskFiber, WaitList}
import weir.task.Guarantee

/** A mutex for each key: tasks of one key run one after the other, those of different keys
  * concurrently. A key costs memory only while a task holds its lock.
  *
  *   - **Shared**: the table, which has a `KeyLock` for each key that is locked. The fiber that
  *     puts a `KeyLock` into the table holds it, without taking any lock.
  *   - **Shared, under the monitor of the `KeyLock`**: its line of waiters, and whether it is
  *     `removed`.
  *   - **The race that we fear**: a fiber releases a key lock and removes it from the table while
  *     another fiber, which has found it there, begins to wait for it. Both hold the monitor of the
  *     key lock for that, and a key lock that is out of the table is `removed`. A fiber that finds
  *     it so looks into the table again.
  */
final class KeyedMutex[K] private ():
  private val locks = ConcurrentHashMap[K, KeyedMutex.KeyLock]()

  /** Runs `task` while no other task of this key runs here, and returns its value. `task` must not
    * take the same key again.
    *
    * **Waits** for the tasks of this key that came before. **Cancelled** while it waits: the task
    * does not run. **Order**: tasks of one key run in the order in which they began to wait. Tasks
    * that begin concurrently, such as those of `parForeach` and of a stream's `parEvalMap`, arrive
    * here in any order; docs/limits.md explains how to keep the order of their elements.
    */
  def withLock[A](key: K)(task: Task[A]): Task[A] = Task.uncancelable { poll =>
    poll(Acquire(key)).flatMap(lock => Guarantee(poll(task), _ => Task.delay(release(lock))))
  }

  /** Returns true if a task of this key runs. */
  def isLocked(key: K): Task[Boolean] = Task.delay(locks.containsKey(key))

  /** Returns the number of keys that have a running task. */
  def size: Task[Int] = Task.delay(locks.size)

  private final class Acquire(key: K) extends Suspend[KeyedMutex.KeyLock]:
    def begin(fiber: TaskFiber): Any =
      val own = KeyedMutex.KeyLock(key, fiber)
      var result: AnyRef | Null = null
      while result eq null do
        val lock = locks.putIfAbsent(key, own)
        result = if lock eq null then own else lock.waitInLine(fiber)
      result

  private def release(lock: KeyedMutex.KeyLock): Unit = lock.synchronized {
    if !lock.passOn() then locks.remove(lock.key): Unit
  }

object KeyedMutex:
  /** Returns a new keyed mutex, with no key locked. */
  def apply[K](): Task[KeyedMutex[K]] = Task.delay(unsafe())

  /** As `apply`, but makes it at once, for use outside of tasks. */
  def unsafe[K](): KeyedMutex[K] = new KeyedMutex[K]()

  private final class KeyLock(val key: Any, first: TaskFiber) extends Awaited:
    @volatile private var owner: TaskFiber = first

    // under this object's monitor
    private var waiting: WaitList | Null = null
    private var removed = false

    /** Adds a waiter for `fiber`. Returns null if this lock is out of the table. */
    def waitInLine(fiber: TaskFiber): WaitList.Entry | Null = synchronized {
      if removed then null
      else
        val line = waiting match
          case line: WaitList => line
          case null =>
            val line = WaitList()
            waiting = line
            line
        val entry = WaitList.Entry(fiber, line, this)
        line.add(entry)
        entry
    }

    /** With the monitor held: gives the lock to the next fiber in line. Returns false if no fiber
      * waits; then the lock is removed.
      */
    def passOn(): Boolean =
      val line = waiting
      var next = if line eq null then null else line.poll()
      while (next ne null) && !next.complete(this) do next = line.nn.poll()
      if next eq null then removed = true else owner = next.fiber
      !removed

    def awaitedAs: String = s"KeyedMutex, for the key $key"
    override def holders: Iterator[TaskFiber] = Iterator.single(owner)
