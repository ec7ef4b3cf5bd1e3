package weir

import java.util.concurrent.ConcurrentHashMap
import weir.kernel.{RunLoop, Suspend}
import weir.sync.{Awaited, WaitList}
import weir.task.Guarantee

/** A mutex for each key: tasks of one key run one after the other, those of different keys at once. A key costs memory only
  * while somebody is inside or waits.
  *
  *   - **Shared**: the table, in which a key stands while somebody is inside. Who puts it there is inside, without a lock.
  *   - **Shared, under the lock of the key's `Door`**: who waits, and whether the door is gone.
  *   - **The race we fear**: one leaves and takes the door out of the table while another, who has found it there, begins to
  *     wait at it. Both hold the door's lock for that, and a door that is out of the table is `gone`: who finds it so looks
  *     into the table again, where it no longer is.
  */
final class KeyedMutex[K] private ():
  private val doors = ConcurrentHashMap[K, KeyedMutex.Door]()

  /** What `task` returns, run while no other task of this key runs here. It must not take the same
    * key again.
    *
    * '''Waits''' for the tasks of this key that came before. '''Cancelled''' while it waits: the
    * task does not run. '''Order''': tasks of one key run in the order in which they began to wait.
    * Tasks that begin concurrently, as those of `parForeach` and of a stream's `parEvalMap` do,
    * come here in any order: for that of their elements see docs/limits.md.
    */
  def withLock[A](key: K)(task: Task[A]): Task[A] = Task.uncancelable { poll =>
    poll(Enter(key)).flatMap(door => Guarantee(poll(task), _ => Task.delay(leave(door))))
  }

  /** True if a task of this key runs. */
  def isLocked(key: K): Task[Boolean] = Task.delay(doors.containsKey(key))

  /** How many keys have a task that runs. */
  def size: Task[Int] = Task.delay(doors.size)

  private final class Enter(key: K) extends Suspend[KeyedMutex.Door]:
    def begin(fiber: RunLoop): Any =
      val own = KeyedMutex.Door(key, fiber)
      var result: AnyRef | Null = null
      while result eq null do
        val door = doors.putIfAbsent(key, own)
        result = if door eq null then own else door.waitInLine(fiber)
      result

  private def leave(door: KeyedMutex.Door): Unit = door.synchronized {
    if !door.letNextIn() then doors.remove(door.key): Unit
  }

object KeyedMutex:
  /** A new one, with nobody inside. */
  def apply[K](): Task[KeyedMutex[K]] = Task.delay(unsafe())

  /** A new one, made at once, for use outside of tasks. */
  def unsafe[K](): KeyedMutex[K] = new KeyedMutex[K]()

  private final class Door(val key: Any, first: RunLoop) extends Awaited:
    @volatile private var inside: RunLoop = first

    // under this object's lock
    private var waiting: WaitList | Null = null
    private var gone = false

    /** Null if the door is gone. */
    def waitInLine(fiber: RunLoop): WaitList.Entry | Null = synchronized {
      if gone then null
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

    /** Under the lock. False if nobody waits: the door is gone then. */
    def letNextIn(): Boolean =
      val line = waiting
      var next = if line eq null then null else line.poll()
      while (next ne null) && !next.complete(this) do next = line.nn.poll()
      if next eq null then gone = true else inside = next.fiber
      !gone

    def awaitedAs: String = s"KeyedMutex, for the key $key"
    override def holders: Iterator[RunLoop] = Iterator.single(inside)
