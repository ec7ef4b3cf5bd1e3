package weir.fiber

/** Waiters in the order in which they came. A cancelled one is removed at once, in constant time.
  *
  * Every method must be called with the lock of the primitive that owns the list held.
  */
private[weir] final class WaitList:
  private var first: WaitList.Entry | Null = null
  private var last: WaitList.Entry | Null = null
  private var count = 0

  def isEmpty: Boolean = first eq null
  def size: Int = count

  /** Returns the entry that has waited longest, or null. Does not remove it. */
  def peek: WaitList.Entry | Null = first

  def add(entry: WaitList.Entry): Unit =
    entry.previous = last
    if last eq null then first = entry else last.nn.next = entry
    last = entry
    entry.listed = true
    count += 1

  /** Removes the entry that has waited longest, and returns it. Returns null if the list is empty.
    */
  def poll(): WaitList.Entry | Null =
    val entry = first
    if entry ne null then remove(entry)
    entry

  /** Removes the entry. Has no effect if it is not in the list. */
  def remove(entry: WaitList.Entry): Unit =
    if entry.listed then
      val previous = entry.previous
      val next = entry.next
      if previous eq null then first = next else previous.next = next
      if next eq null then last = previous else next.previous = previous
      entry.previous = null
      entry.next = null
      entry.listed = false
      count -= 1

private[weir] object WaitList:
  /** A waiter that can be in one list at a time, which `lock` guards. */
  class Entry(fiber: TaskFiber, list: WaitList, lock: AnyRef) extends Waiter(fiber):
    private[weir] var previous: Entry | Null = null
    private[weir] var next: Entry | Null = null
    private[weir] var listed = false

    /** The next entry that `Guarded` has to wake. */
    private[weir] var nextWoken: Entry | Null = null

    override def abandon(): Unit = lock.synchronized(list.remove(this))

    override def awaited: Awaited | Null = lock match
      case awaited: Awaited => awaited
      case _ => null
