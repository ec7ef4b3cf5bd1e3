package weir.sync

import java.util.{ArrayDeque, HashMap, PriorityQueue}

/** The values of a `KeyedQueue`: those that may begin, those that wait for others of their key, and
  * those that wait for a time.
  *
  *   - **Every method** must be called with the lock of the queue held. A fiber dump reads `size`
  *     and `underWay` without it, and may get old values.
  *   - **Ready**: a line with a waiting value and room for one more under way, which is not held.
  *     Each line that is ready is in `ready`, once. A hold may make a line in `ready` unready: it
  *     is skipped when its turn comes.
  *   - **Fair**: a line that has given a value, and is still ready, goes behind all others.
  *   - **Memory**: a line is removed with its last value, if it is not held. A held line has one
  *     entry in `later`, however often the hold is made longer.
  *   - **Foreign code** that runs in here: `hashCode` and `equals` of the keys. Only `place` and
  *     `hold` look for a line, and they change nothing if these throw. A line is removed by a key
  *     that was found there before.
  */
private[weir] final class KeyedLines[K, A]:
  import KeyedLines.*

  private val lines = HashMap[K, Line[K, A]]()
  private val ready = ArrayDeque[Line[K, A]]()
  private val later = PriorityQueue[Later[K, A]]()
  private var added = 0L

  /** The number of values that wait for the first time. */
  var fresh = 0

  /** The number of values that wait, including those that wait for a time. */
  var size = 0

  /** The number of values that were taken, and have not been given back. */
  var underWay = 0

  def isEmpty: Boolean = size == 0 && underWay == 0

  /** Places each of `items` in the line of its key: all of them, or none if a method of a key
    * throws. Each must be added or dropped later.
    */
  def place(items: List[Item[K, A]]): Unit =
    try items.foreach(item => join(lineOf(item.key, item.limit), item))
    catch
      case error: Throwable =>
        for item <- items if item.isPlaced do leave(item.line)
        throw error

  /** Removes an item that was placed in its line and was not added. */
  def drop(item: Item[K, A]): Unit = leave(item.line)

  /** Adds an item that was placed in its line. */
  def add(item: Item[K, A]): Unit =
    if item.isFresh then fresh += 1
    size += 1
    enter(item)

  /** Adds an item that was placed in its line, at the time `dueNanos`. */
  def addLater(item: Item[K, A], dueNanos: Long): Unit =
    size += 1
    later.add(Later(dueNanos, nextNumber(), item, item.line)): Unit

  /** Returns the value that is next to begin, or null. Does not remove it. */
  def first(): Item[K, A] | Null =
    while !ready.isEmpty && !ready.peek.isReady do ready.poll().isListed = false
    if ready.isEmpty then null else ready.peek.waiting.peek

  /** Takes the value that `first` has just returned. */
  def take(): Unit =
    val line = ready.poll()
    line.isListed = false
    val item = line.waiting.poll()
    line.underWay += 1
    underWay += 1
    size -= 1
    if item.isFresh then fresh -= 1
    list(line)

  /** Ends a value that was taken. */
  def finish(item: Item[K, A]): Unit =
    val line = item.line
    line.underWay -= 1
    underWay -= 1
    list(line)
    leave(line)

  /** Makes a value that was taken wait again, before those of its key that were never taken. */
  def giveBack(item: Item[K, A]): Unit =
    item.isFresh = false
    item.line.underWay -= 1
    underWay -= 1
    size += 1
    queue(item)

  /** Lets no value of `key` begin before the time `dueNanos`. */
  def hold(key: K, limit: Int, dueNanos: Long): Unit = hold(lineOf(key, limit), dueNanos)

  /** As `hold`, for the key of an item that was placed in its line. */
  def holdLineOf(item: Item[K, A], dueNanos: Long): Unit = hold(item.line, dueNanos)

  private def hold(line: Line[K, A], dueNanos: Long): Unit =
    if !line.isHeld then
      line.isHeld = true
      line.heldUntil = dueNanos
      endHoldAt(line)
    else if dueNanos - line.heldUntil > 0 then line.heldUntil = dueNanos

  private def endHoldAt(line: Line[K, A]): Unit =
    later.add(Later(line.heldUntil, nextNumber(), null, line)): Unit

  /** Handles everything that is due by `now`. */
  def wake(now: Long): Unit =
    while !later.isEmpty && later.peek.dueNanos - now <= 0 do
      val due = later.poll()
      val item = due.item
      val line = due.line
      if item ne null then enter(item)
      else if line.heldUntil - now > 0 then endHoldAt(line) // it was made longer
      else
        line.isHeld = false
        list(line)
        removeUnused(line)

  /** Returns true if something is due at `nextNanos`. */
  def hasLater: Boolean = !later.isEmpty

  /** Returns the time at which the next thing is due. */
  def nextNanos: Long = later.peek.dueNanos

  /** Returns the number of keys that have a line. */
  def keys: Int = lines.size

  private def lineOf(key: K, limit: Int): Line[K, A] =
    val present = lines.get(key)
    if present ne null then present
    else
      val line = Line[K, A](key, limit)
      lines.put(key, line): Unit
      line

  private def join(line: Line[K, A], item: Item[K, A]): Unit =
    item.line = line
    line.values += 1

  private def leave(line: Line[K, A]): Unit =
    line.values -= 1
    removeUnused(line)

  private def nextNumber(): Long =
    added += 1
    added

  /** Adds the item behind those of the same rank. */
  private def enter(item: Item[K, A]): Unit =
    item.number = nextNumber()
    queue(item)

  private def queue(item: Item[K, A]): Unit =
    item.line.waiting.add(item)
    list(item.line)

  private def list(line: Line[K, A]): Unit =
    if !line.isListed && line.isReady then
      line.isListed = true
      ready.add(line): Unit

  private def removeUnused(line: Line[K, A]): Unit =
    if line.values == 0 && !line.isHeld then lines.remove(line.key): Unit

private[weir] object KeyedLines:
  /** A value.
    *
    * @param limit the number of values of its key that may be under way at once
    * @param priority values with a higher priority go before others of their key
    * @param isFresh true if it was never taken; such values go after all others of their key
    */
  final class Item[K, A](
      val key: K,
      val limit: Int,
      val value: A,
      priority: Long,
      var isFresh: Boolean
  ) extends Comparable[Item[K, A]]:
    private[KeyedLines] var line = null.asInstanceOf[Line[K, A]]
    private[KeyedLines] var number = 0L
    private[KeyedLines] def isPlaced: Boolean = line.asInstanceOf[AnyRef] ne null
    private def rank = priority

    def compareTo(other: Item[K, A]): Int =
      if isFresh != other.isFresh then if isFresh then 1 else -1
      else if priority != other.rank then java.lang.Long.compare(other.rank, priority)
      else java.lang.Long.compare(number, other.number)

  /** The values of a key, and its place in the turns. */
  private final class Line[K, A](val key: K, limit: Int):
    val waiting = PriorityQueue[Item[K, A]]()

    /** The number of its values, including those that wait for a time and those under way. */
    var values = 0
    var underWay = 0
    var isHeld = false
    var heldUntil = 0L
    var isListed = false
    def isReady: Boolean = !isHeld && underWay < limit && !waiting.isEmpty

  /** An event at `dueNanos`: `item` begins to wait for its turn, or, if that is null, the hold of
    * `line` ends.
    */
  private final class Later[K, A](
      val dueNanos: Long,
      val number: Long,
      val item: Item[K, A] | Null,
      val line: Line[K, A]
  ) extends Comparable[Later[K, A]]:
    def compareTo(other: Later[K, A]): Int =
      val sooner = java.lang.Long.compare(dueNanos - other.dueNanos, 0)
      if sooner != 0 then sooner else java.lang.Long.compare(number, other.number)
