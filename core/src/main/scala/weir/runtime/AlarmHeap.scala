package weir.runtime

/** Alarms in the order of their times. An alarm knows its place, so a cancelled one leaves at once, in O(log n). Every
  * method must be called with the lock of the timer that owns the heap held.
  *
  * A heap with four children for each node: half the depth of a binary one. The times stand beside the alarms, in an array of
  * their own: so the children's are on one cache line, where a look into each alarm would be a miss for each, which with a
  * million of them is what a timer does most of its time. `weir sleepers`.
  */
private[weir] final class AlarmHeap:
  private var heap = new Array[Alarm | Null](64)
  private var times = new Array[Long](64)
  private var count = 0

  def size: Int = count

  /** The one that is due first, or null. */
  def first: Alarm | Null = heap(0)

  /** All alarms, in no order. */
  def all: Array[Alarm | Null] = java.util.Arrays.copyOf(heap, count)

  /** True if the alarm is the first now. */
  def add(alarm: Alarm): Boolean =
    if count == heap.length then
      // Both or none: there may be memory for one of them only.
      val longerHeap = java.util.Arrays.copyOf(heap, count * 2)
      val longerTimes = java.util.Arrays.copyOf(times, count * 2)
      heap = longerHeap
      times = longerTimes
    count += 1
    up(count - 1, alarm, alarm.dueNanos)
    alarm.place == 0

  /** False if the alarm is not in the heap. */
  def remove(alarm: Alarm): Boolean =
    val place = alarm.place
    if place < 0 then false
    else
      takeOut(place)
      true

  private def takeOut(place: Int): Unit =
    heap(place).nn.place = -1
    count -= 1
    val last = heap(count).nn
    heap(count) = null
    if place < count then
      val due = times(count)
      down(place, last, due)
      if last.place == place then up(place, last, due)

  private def up(from: Int, alarm: Alarm, due: Long): Unit =
    var place = from
    var moving = place > 0
    while moving do
      val parent = (place - 1) >> 2
      if due - times(parent) < 0 then
        put(place, heap(parent).nn, times(parent))
        place = parent
        moving = place > 0
      else moving = false
    put(place, alarm, due)

  private def down(from: Int, alarm: Alarm, due: Long): Unit =
    var place = from
    var moving = true
    while moving do
      val firstChild = (place << 2) + 1
      val end = math.min(firstChild + 4, count)
      var smallest = firstChild
      var child = firstChild + 1
      while child < end do
        if times(child) - times(smallest) < 0 then smallest = child
        child += 1
      if firstChild < count && times(smallest) - due < 0 then
        put(place, heap(smallest).nn, times(smallest))
        place = smallest
      else moving = false
    put(place, alarm, due)

  private def put(place: Int, alarm: Alarm, due: Long): Unit =
    heap(place) = alarm
    times(place) = due
    alarm.place = place
