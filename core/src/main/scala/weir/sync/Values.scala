package weir.sync

/** Values in the order in which they came, at most `capacity`, in an array that grows and shrinks with them.
  *
  * Every method must be called with the lock of the primitive that owns them held, but `size`, which a dump may ask for: it may
  * be old there.
  */
private[weir] final class Values(capacity: Int):
  private var array = new Array[Any](math.min(capacity, Values.smallest))
  private var head = 0
  private var count = 0

  def size: Int = count
  def isEmpty: Boolean = count == 0
  def isFull: Boolean = count >= capacity

  /** Adds one, where there is room. */
  def append(value: Any): Unit =
    if count == array.length then grow()
    val end = head + count
    array(if end >= array.length then end - array.length else end) = value
    count += 1

  /** The oldest one, where there is any. */
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
    val larger = new Array[Any](math.min(capacity.toLong, array.length * 2L).toInt)
    System.arraycopy(array, head, larger, 0, array.length - head)
    System.arraycopy(array, 0, larger, array.length - head, head)
    array = larger
    head = 0

private[weir] object Values:
  /** The first array. */
  private inline val smallest = 16

  /** An array longer than this is given back once it is empty. */
  private inline val large = 1024
