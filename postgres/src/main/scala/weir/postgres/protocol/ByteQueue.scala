package weir.postgres.protocol

/** A first-in first-out queue of bytes in one array that grows. */
private[postgres] final class ByteQueue(initialBytes: Int):
  private var bytes = new Array[Byte](initialBytes)
  private var from = 0
  private var until = 0

  def size: Int = until - from
  def isEmpty: Boolean = from == until

  def put(source: Array[Byte], offset: Int, length: Int): Unit =
    if length > bytes.length - until then makeRoom(length)
    System.arraycopy(source, offset, bytes, until, length)
    until += length

  /** Moves at most `length` bytes to `target`, and returns how many. */
  def take(target: Array[Byte], offset: Int, length: Int): Int =
    val count = math.min(length, size)
    System.arraycopy(bytes, from, target, offset, count)
    from += count
    if isEmpty then clear()
    count

  /** All bytes; the queue is empty afterwards. */
  def takeAll(): Array[Byte] =
    val all = java.util.Arrays.copyOfRange(bytes, from, until)
    clear()
    all

  /** Drops an array that a long message has made large. */
  private def clear(): Unit =
    from = 0
    until = 0
    if bytes.length > 16 * initialBytes then bytes = new Array[Byte](initialBytes)

  private def makeRoom(length: Int): Unit =
    val target =
      if size + length <= bytes.length then bytes
      else new Array[Byte](math.max(size + length, 2 * bytes.length))
    System.arraycopy(bytes, from, target, 0, size)
    until -= from
    from = 0
    bytes = target
