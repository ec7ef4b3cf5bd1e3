package weir.kafka.consumer

import java.lang.Long as JLong
import java.util.TreeMap

/** Tracks the records of a partition that are not done, to find the offset that may be committed.
  *
  * It keeps a bit for each undone offset, in pages of 1,024 offsets, and no empty page. So its size
  * grows with the number of undone records, not with the distance between them. Offsets that do not
  * exist (compacted ones, the marks of transactions) are as good as done.
  *
  *   - **Invariant**: every offset below `position` has been added, was done before, or does not
  *     exist. So the first undone offset, or else `position`, is the end of the contiguous prefix
  *     of what is done.
  *   - What an earlier owner had done beyond its prefix (`restored`) is not undone: its gaps are,
  *     from the beginning.
  *
  * Not safe for several threads: `Assignment` guards it.
  */
private[kafka] final class OffsetTracker(restored: Option[DoneMap]):
  import OffsetTracker.*

  private val pages = TreeMap[JLong, Page]()

  /** The page of the last call: calls are for neighbours. */
  private var latest = Page(-1)

  /** The offset after all that has been added; before the first, what was committed with a map, or
    * -1.
    */
  private var position = restored.fold(-1L)(_.from)

  /** The offset after the last that is known to be done beyond the prefix. */
  private var doneUntil = -1L

  /** Up to where an earlier owner has said what is done. */
  private val restoredUntil = restored.fold(-1L)(_.until)

  restored.foreach { map =>
    map.undone.foreach((from, until) => setRange(from, until))
    doneUntil = map.until
  }

  /** No record before this one is still to be added. -1: nothing is known yet. */
  def end: Long = position

  /** Adds a record. Returns true if it must be processed, and false if an earlier owner has done
    * so. Offsets must be added in ascending order.
    */
  def add(offset: Long): Boolean =
    val isNew = offset >= restoredUntil
    if !isNew then clearRange(position, offset)
    else if position < restoredUntil then clearRange(position, restoredUntil)
    position = offset + 1
    if isNew then
      set(offset)
      true
    else isUndone(offset)

  /** Adds `count` records that follow each other, if none of them was done before: false if one may
    * have been, and then nothing has changed.
    */
  def addRange(from: Long, count: Int): Boolean =
    if from < restoredUntil || position < restoredUntil then false
    else
      setRange(from, from + count)
      position = from + count
      true

  /** Nothing that is to be processed comes before `next`, apart from what was added. */
  def moveTo(next: Long): Unit =
    if next > position then
      if position < restoredUntil then clearRange(position, math.min(next, restoredUntil))
      position = next

  /** False if it was done already. */
  def done(offset: Long): Boolean =
    val page = pageOf(offset)
    if page == null || !page.clear(offset) then false
    else
      if page.isEmpty then pages.remove(page.index): Unit
      if offset >= doneUntil then doneUntil = offset + 1
      true

  /** Returns the number of those that were not done already. */
  def doneRange(from: Long, until: Long): Long =
    var count = 0L
    var at = from
    while at < until do
      val end = math.min(until, ((at >> pageBits) + 1) << pageBits)
      val page = pageOf(at)
      if page != null then
        val cleared = page.clearRange(at, end)
        count += cleared
        if page.isEmpty then pages.remove(page.index): Unit
      at = end
    if count > 0 && until > doneUntil then doneUntil = until
    count

  def isUndone(offset: Long): Boolean =
    val page = pageOf(offset)
    page != null && page.has(offset)

  /** Returns the number of offsets before `end` that are not known to be done. */
  def undoneUntil(end: Long): Long =
    var undone = math.max(0, end - math.max(position, restoredUntil))
    pages.values.forEach(page => undone += page.size)
    undone

  /** Returns the end of the contiguous prefix, or -1 where nothing is known yet. */
  def prefixEnd: Long =
    val first = pages.firstEntry
    if first == null then position else first.getValue.firstFrom(0)

  /** Returns the offset and map to commit, the map in at most `limitBytes`; none if nothing is
    * known yet.
    */
  def progress(limitBytes: Int): Option[Progress] =
    val prefix = prefixEnd
    if prefix < 0 then None
    else if doneUntil <= prefix then Some(Progress(prefix, "", isWhole = true))
    else
      val encoded = DoneMap.encode(prefix, doneUntil, undoneFrom, limitBytes)
      Some(Progress(prefix, encoded.text, encoded.isWhole))

  /** Returns the first undone offset from `offset` on, or `Long.MaxValue`. */
  private def undoneFrom(offset: Long): Long =
    var entry = pages.floorEntry(offset >> pageBits)
    if entry == null then entry = pages.ceilingEntry(offset >> pageBits)
    var found = Long.MaxValue
    while found == Long.MaxValue && entry != null do
      val page = entry.getValue
      val inPage = page.firstFrom(math.max(0, offset - page.start))
      if inPage >= 0 then found = inPage
      else entry = pages.higherEntry(page.index)
    found

  private def pageOf(offset: Long): Page | Null =
    val index = offset >> pageBits
    if latest.index == index && !latest.isEmpty then latest
    else
      val found = pages.get(index)
      if found != null then latest = found
      found

  private def pageFor(offset: Long): Page =
    val found = pageOf(offset)
    if found != null then found
    else
      val made = Page(offset >> pageBits)
      pages.put(made.index, made)
      latest = made
      made

  private def set(offset: Long): Unit = pageFor(offset).set(offset)

  private def setRange(from: Long, until: Long): Unit =
    var at = from
    while at < until do
      val count = math.min(until - at, pageSize - (at & (pageSize - 1)))
      pageFor(at).setRange(at, count)
      at += count

  /** Clears a range that an earlier owner had not done and that does not exist any more. */
  private def clearRange(from: Long, until: Long): Unit =
    var at = undoneFrom(math.max(from, 0))
    while at < until do
      done(at): Unit
      at = undoneFrom(at)

private[kafka] object OffsetTracker:
  private val pageBits = 10
  private val pageSize = 1L << pageBits
  private val wordsInPage = 1 << (pageBits - 6)

  /** The content of a commit: an offset, and the map of the records that are done beyond it.
    *
    * @param isWhole
    *   false if the map had to be cut, so that a restart repeats some of what is done
    */
  final case class Progress(offset: Long, metadata: String, isWhole: Boolean)

  /** The undone ones of 1,024 offsets. */
  private final class Page(val index: Long):
    private val words = new Array[Long](wordsInPage)
    private var count = 0

    def start: Long = index << pageBits
    def size: Int = count
    def isEmpty: Boolean = count == 0

    private def wordOf(offset: Long): Int = (offset.toInt & ((1 << pageBits) - 1)) >> 6

    def has(offset: Long): Boolean = (words(wordOf(offset)) & (1L << offset)) != 0

    def set(offset: Long): Unit =
      val word = wordOf(offset)
      val before = words(word)
      val after = before | (1L << offset)
      if before != after then
        words(word) = after
        count += 1

    /** All `size` of them are in this page. */
    def setRange(from: Long, size: Long): Unit =
      count += change(from, from + size)((word, bits) => word | bits)

    /** All of them are in this page. Returns the number of those that were set. */
    def clearRange(from: Long, until: Long): Int =
      val cleared = change(from, until)((word, bits) => word & ~bits)
      count -= cleared
      cleared

    /** Returns the number of bits that have changed. */
    private inline def change(from: Long, until: Long)(inline to: (Long, Long) => Long): Int =
      var changed = 0
      var at = from
      while at < until do
        val inWord = math.min(64 - (at & 63), until - at)
        val word = wordOf(at)
        val before = words(word)
        val after = to(before, (-1L >>> (64 - inWord)) << at)
        words(word) = after
        changed += JLong.bitCount(after ^ before)
        at += inWord
      changed

    /** False if it was not set. */
    def clear(offset: Long): Boolean =
      val word = wordOf(offset)
      val before = words(word)
      val after = before & ~(1L << offset)
      if before == after then false
      else
        words(word) = after
        count -= 1
        true

    /** Returns the first undone offset at `from` in the page or after it, or -1. */
    def firstFrom(from: Long): Long =
      if from >= (1 << pageBits) then -1
      else
        var word = (from >> 6).toInt
        var bits = words(word) & (-1L << from)
        while bits == 0 && word + 1 < wordsInPage do
          word += 1
          bits = words(word)
        if bits == 0 then -1 else start + word * 64 + JLong.numberOfTrailingZeros(bits)
