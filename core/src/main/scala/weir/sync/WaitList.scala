package weir.sync

import weir.kernel.{RunLoop, Waiter}

/** Waiters in the order in which they came; one that is cancelled leaves at once, in constant time.
  *
  * Every method must be called with the lock of the primitive that owns the list held.
  */
private[weir] final class WaitList:
  private var first: WaitList.Entry | Null = null
  private var last: WaitList.Entry | Null = null
  private var count = 0

  def isEmpty: Boolean = first eq null
  def size: Int = count

  /** The one that has waited longest, or null. It stays. */
  def peek: WaitList.Entry | Null = first

  def add(entry: WaitList.Entry): Unit =
    entry.previous = last
    if last eq null then first = entry else last.nn.next = entry
    last = entry
    entry.listed = true
    count += 1

  /** The one that has waited longest, or null. */
  def poll(): WaitList.Entry | Null =
    val entry = first
    if entry ne null then remove(entry)
    entry

  /** No effect if the entry is not in the list. */
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
  /** A waiter that can stand in one list at a time, which `lock` guards. */
  class Entry(fiber: RunLoop, list: WaitList, lock: AnyRef) extends Waiter(fiber):
    private[sync] var previous: Entry | Null = null
    private[sync] var next: Entry | Null = null
    private[sync] var listed = false

    /** The next one that `Guarded` has to wake. */
    private[sync] var nextWoken: Entry | Null = null

    override def abandon(): Unit = lock.synchronized(list.remove(this))

    override def awaited: Awaited | Null = lock match
      case awaited: Awaited => awaited
      case _ => null
