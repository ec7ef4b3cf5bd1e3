package weir.task

import java.util.concurrent.atomic.AtomicReference

/** The results of a group's children, which become one list: runs of results that one runner has stored one after the other
  * are linked as they come, so that nothing is left to be done for each of them at the end.
  */
private[task] abstract class Segments:

  /** Keeps what the child that `runner` has claimed has returned. */
  def store(runner: Runner, value: Any): Unit

  /** True if the result of the child `index`, claimed by the runner whose latest segment this is, may be appended to it. */
  def goesOn(segment: Segment, index: Int): Boolean

  /** All of them. To be called once, when all have been stored and the writes of all runners can be seen. */
  def list: List[Any]

/** Results next to each other in a list. Changed by its runner alone. */
private[task] final class Segment(val first: ::[Any]):
  var last: ::[Any] = first

  /** The number of the child after the last one. */
  var end: Int = 0

  /** The one that was begun before this one, by any runner. */
  var previous: Segment | Null = null

  def append(value: Any): Unit = last = ListCells.append(last, value)

/** In the order of the children's numbers.
  *
  *   - `places` begins as the children's items. A child's runner, which has read the item, puts the first cell of a segment
  *     there: in the place of its first child, as a cell while it is the only one, which spares an object where
  *     no runner stores two in a row.
  */
private[task] final class OrderedSegments(places: Array[AnyRef], size: Int) extends Segments:

  def store(runner: Runner, value: Any): Unit =
    val index = runner.index
    if runner.end == index then
      var segment = runner.segment
      if segment eq null then
        segment = Segment(places(index - 1).asInstanceOf[::[Any]])
        places(index - 1) = segment
        runner.segment = segment
      segment.append(value)
      segment.end = index + 1
    else
      places(index) = new ::[Any](value, Nil)
      runner.segment = null
    runner.end = index + 1

  def goesOn(segment: Segment, index: Int): Boolean = segment.end == index

  def list: List[Any] =
    val before = new ::[Any](null, Nil)
    var last = before
    var i = 0
    while i < size do
      places(i) match
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

/** In the order in which they come.
  *
  *   - **Shared**: `latest` is the segment that was begun last. A runner whose segment that still is appends to it: nobody else
  *     has stored anything since. Otherwise it begins a new one. The order is that of the reads and the CASes of `latest`.
  */
private[task] final class UnorderedSegments extends Segments:
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
