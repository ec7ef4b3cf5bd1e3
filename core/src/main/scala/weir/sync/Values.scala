package weir.sync

/** Values in the order in which they were added, in an array that grows and shrinks with them.
  * There are at most `capacity`, except for values that were put back.
  *
  * Every method must be called with the lock of the primitive that owns the values held. A fiber
  * dump calls `size` and `isEmpty` without it, and may get an old value.
  */
private[weir] final class Values(capacity: Int):
  private var array = new Array[Any](math.min(capacity, Values.smallest))
  private var head = 0
  private var count = 0

  def size: Int = count
  def isEmpty: Boolean = count == 0
  def isFull: Boolean = count >= capacity

  /** Adds a value. There must be room. */
  def append(value: Any): Unit =
    if count == array.length then grow()
    val end = head + count
    array(if end >= array.length then end - array.length else end) = value
    count += 1

  /** Makes `value`, which was removed before, the oldest one again, even if there is no room. */
  def prepend(value: Any): Unit =
    if count == array.length then grow()
    head = if head == 0 then array.length - 1 else head - 1
    array(head) = value
    count += 1

  /** Removes the oldest value and returns it. There must be one. */
  def removeOldest(): Any =
    val value = array(head)
    array(head) = null
    head = if head + 1 == array.length then 0 else head + 1
    count -= 1
    if count == 0 && array.length > Values.large then
      array = new Array[Any](Values.smallest)
      head = 0
    value

  private def grow(): Unit =
    val most = if array.length < capacity then capacity else Int.MaxValue
    val length = math.min(most.toLong, math.max(array.length * 2L, Values.smallest))
    val larger = new Array[Any](length.toInt)
    System.arraycopy(array, head, larger, 0, array.length - head)
    System.arraycopy(array, 0, larger, array.length - head, head)
    array = larger
    head = 0

private[weir] object Values:
  /** The length of the first array. */
  private inline val smallest = 16

  /** An array longer than this is replaced by a small one once it is empty. */
  private inline val large = 1024
