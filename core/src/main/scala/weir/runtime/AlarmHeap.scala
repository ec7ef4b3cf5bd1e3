package weir.runtime

/** Alarms in the order of their times. An alarm knows its index, so a cancelled one is removed at
  * once, in O(log n). Each method must be called with the lock of the timer that owns the heap
  * held.
  *
  * Each node has four children, which halves the depth of a binary heap. The times are in an array
  * of their own, so that those of four children are on one cache line. If each alarm were read
  * instead, each read would be a cache miss, and with a million alarms a timer would spend most of
  * its time on these (`weir sleepers`).
  */
private[weir] final class AlarmHeap:
  private var heap = new Array[Alarm | Null](64)
  private var times = new Array[Long](64)
  private var count = 0

  def size: Int = count

  /** Returns the alarm that is due first, or null. */
  def first: Alarm | Null = heap(0)

  /** Returns all alarms, in no order. */
  def all: Array[Alarm | Null] = java.util.Arrays.copyOf(heap, count)

  def add(alarm: Alarm): Unit =
    if count == heap.length then
      // Both arrays or none: there may be memory for only one.
      val longerHeap = java.util.Arrays.copyOf(heap, count * 2)
      val longerTimes = java.util.Arrays.copyOf(times, count * 2)
      heap = longerHeap
      times = longerTimes
    count += 1
    up(count - 1, alarm, alarm.dueNanos)

  /** Removes an alarm. Returns false if it is not in the heap. */
  def remove(alarm: Alarm): Boolean =
    val index = alarm.index
    if index < 0 then false
    else
      takeOut(index)
      true

  private def takeOut(index: Int): Unit =
    heap(index).nn.index = -1
    count -= 1
    val last = heap(count).nn
    heap(count) = null
    if index < count then
      val due = times(count)
      down(index, last, due)
      if last.index == index then up(index, last, due)

  private def up(from: Int, alarm: Alarm, due: Long): Unit =
    var index = from
    var moving = index > 0
    while moving do
      val parent = (index - 1) >> 2
      if due - times(parent) < 0 then
        put(index, heap(parent).nn, times(parent))
        index = parent
        moving = index > 0
      else moving = false
    put(index, alarm, due)

  private def down(from: Int, alarm: Alarm, due: Long): Unit =
    var index = from
    var moving = true
    while moving do
      val firstChild = (index << 2) + 1
      val end = math.min(firstChild + 4, count)
      var smallest = firstChild
      var child = firstChild + 1
      while child < end do
        if times(child) - times(smallest) < 0 then smallest = child
        child += 1
      if firstChild < count && times(smallest) - due < 0 then
        put(index, heap(smallest).nn, times(smallest))
        index = smallest
      else moving = false
    put(index, alarm, due)

  private def put(index: Int, alarm: Alarm, due: Long): Unit =
    heap(index) = alarm
    times(index) = due
    alarm.index = index
