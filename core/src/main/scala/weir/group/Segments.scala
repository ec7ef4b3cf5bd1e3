package weir.group

import java.util.concurrent.atomic.AtomicReference

/** The results of a group's children, which become one list.
  *
  * Results that one runner stores one after the other are linked in a segment as they come, so that
  * nothing is left to do for each of them at the end.
  */
private[weir] abstract class Segments:

  /** Keeps the result of the child that `runner` has taken. */
  def store(runner: Runner, value: Any): Unit

  /** Returns true if the result of the child `index`, taken by the runner whose latest segment this
    * is, may be appended to it.
    */
  def goesOn(segment: Segment, index: Int): Boolean

  /** Returns all results. Must be called once, when all have been stored and the writes of all
    * runners can be seen.
    */
  def list: List[Any]

/** Results next to each other in a list. Only its runner changes it. */
private[weir] final class Segment(val first: ::[Any]):
  var last: ::[Any] = first

  /** The index after that of the last child. */
  var end: Int = 0

  /** The segment that was begun before this one, by any runner. */
  var previous: Segment | Null = null

  def append(value: Any): Unit = last = ListCells.append(last, value)

/** Results in the order of the children's indexes.
  *
  *   - `cells` begins as the children's items. The runner of a child, which has read the item, puts
  *     the first cell of a segment there, at the index of the segment's first child. While that
  *     cell is the only one, it is stored without a segment, which saves an object if no runner
  *     stores two results in a row.
  */
private[weir] final class OrderedSegments(cells: Array[AnyRef], size: Int) extends Segments:

  def store(runner: Runner, value: Any): Unit =
    val index = runner.index
    if runner.segmentEnd == index then
      var segment = runner.segment
      if segment eq null then
        segment = Segment(cells(index - 1).asInstanceOf[::[Any]])
        cells(index - 1) = segment
        runner.segment = segment
      segment.append(value)
      segment.end = index + 1
    else
      cells(index) = new ::[Any](value, Nil)
      runner.segment = null
    runner.segmentEnd = index + 1

  def goesOn(segment: Segment, index: Int): Boolean = segment.end == index

  def list: List[Any] =
    val before = new ::[Any](null, Nil)
    var last = before
    var i = 0
    while i < size do
      cells(i) match
        case segment: Segment =>
          ListCells.link(last, segment.first)
          last = segment.last
          i = segment.end
        case cell: ::[?] =>
          ListCells.link(last, cell)
          last = cell.asInstanceOf[::[Any]]
          i += 1
    ListTail.publish()
    before.tail

/** Results in the order in which they come.
  *
  *   - **Shared**: `latest` is the segment that was begun last. A runner appends to its own segment
  *     while that is the latest: no other runner has begun one since. Otherwise it begins a new
  *     one. The order is that of the reads and the CASes of `latest`.
  */
private[weir] final class UnorderedSegments extends Segments:
  private val latest = AtomicReference[Segment | Null](null)

  def store(runner: Runner, value: Any): Unit =
    val own = runner.segment
    if (own ne null) && goesOn(own, runner.index) then own.append(value)
    else
      val segment = Segment(new ::[Any](value, Nil))
      runner.segment = segment
      while
        val before = latest.get
        segment.previous = before
        !latest.compareAndSet(before, segment)
      do ()

  def goesOn(segment: Segment, index: Int): Boolean = latest.get eq segment

  def list: List[Any] =
    var list: List[Any] = Nil
    var segment = latest.get
    while segment ne null do
      ListCells.link(segment.last, list)
      list = segment.first
      segment = segment.previous
    ListTail.publish()
    list

/** Builds lists front to back: see `ListTail`. */
private[weir] object ListCells:
  /** Appends a new last cell, which holds `value`, and returns it. */
  def append(last: ::[Any], value: Any): ::[Any] =
    val cell = new ::[Any](value, Nil)
    link(last, cell)
    cell

  def link(last: ::[?], next: List[?]): Unit =
    ListTail.link(last.asInstanceOf[::[AnyRef]], next.asInstanceOf[List[AnyRef]])

  /** Must be called before another thread sees a list that was built with `link`: see `ListTail`.
    */
  def publish(): Unit = ListTail.publish()
