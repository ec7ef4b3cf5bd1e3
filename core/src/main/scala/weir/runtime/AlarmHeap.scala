package weir.runtime

/** Alarms in the order of their times. An alarm knows its place, so a cancelled one leaves at once, in O(log n). Every
  * method must be called with the lock of the timer that owns the heap held.
  *
  * A heap with four children for each node: half the depth of a binary one, and the children share a
  * cache line.
  */
private[weir] final class AlarmHeap:
  private var heap = new Array[Alarm | Null](64)
  private var count = 0

  def size: Int = count

  /** The one that is due first, or null. */
  def first: Alarm | Null = heap(0)

  /** All alarms, in no order. */
  def all: Array[Alarm | Null] = java.util.Arrays.copyOf(heap, count)

  /** True if the alarm is the first now. */
  def add(alarm: Alarm): Boolean =
    if count == heap.length then heap = java.util.Arrays.copyOf(heap, count * 2)
    count += 1
    up(count - 1, alarm)
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
      down(place, last)
      if last.place == place then up(place, last)

  private def up(from: Int, alarm: Alarm): Unit =
    var place = from
    var moving = place > 0
    while moving do
      val parentPlace = (place - 1) >> 2
      val parent = heap(parentPlace).nn
      if alarm.dueNanos - parent.dueNanos < 0 then
        put(place, parent)
        place = parentPlace
        moving = place > 0
      else moving = false
    put(place, alarm)

  private def down(from: Int, alarm: Alarm): Unit =
    var place = from
    var moving = true
    while moving do
      val firstChild = (place << 2) + 1
      val end = math.min(firstChild + 4, count)
      var smallest = firstChild
      var child = firstChild + 1
      while child < end do
        if heap(child).nn.dueNanos - heap(smallest).nn.dueNanos < 0 then smallest = child
        child += 1
      if firstChild < count && heap(smallest).nn.dueNanos - alarm.dueNanos < 0 then
        put(place, heap(smallest).nn)
        place = smallest
      else moving = false
    put(place, alarm)

  private def put(place: Int, alarm: Alarm): Unit =
    heap(place) = alarm
    alarm.place = place
