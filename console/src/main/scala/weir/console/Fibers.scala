package weir.console

import java.util.Locale
import scala.collection.mutable
import weir.FiberDump
import weir.FiberDump.{Entry, State}

/** The fibers of a dump, grouped by their lines, so that 100,000 of them fit on a page.
  *
  * @param tookNanos the time that the dump took
  */
private[console] final class Fibers(dump: FiberDump, val takenNanos: Long, val tookNanos: Long):
  import Fibers.*

  val cycles: Vector[Vector[Entry]] =
    if dump.cycles.isEmpty then Vector.empty
    else dump.cycles.map(_.flatMap(name => dump.fibers.find(_.fiber == name)))

  /** The group whose oldest fiber is the oldest comes first. */
  val groups: Vector[Group] =
    dump.fibers.groupBy(keyOf).values.toVector.map(Group(_)).sortBy(-_.oldestNanos)

  val states: Vector[(State, Int)] = statesOf(dump.fibers)

  def size: Int = dump.fibers.size

  /** The fibers that have waited longest, for a second at least, apart from those that sleep. */
  lazy val longest: Vector[Entry] =
    groups
      .flatMap(_.entries.take(longestShown))
      .filter(entry =>
        waits(entry) && entry.sinceNanos >= leastWaitNanos && !entry.awaits.startsWith("Task.sleep")
      )
      .sortBy(-_.sinceNanos)
      .take(longestShown)

  private lazy val byName = dump.fibers.map(entry => entry.fiber -> entry).toMap

  def find(fiber: String): Option[Entry] = byName.get(fiber)

  /** The fibers for which no other fiber waits, and one of those that wait for each other. Those
    * that wait for others, such as their children, come first, and among these the oldest.
    */
  lazy val roots: Vector[Entry] =
    val held = dump.fibers.flatMap(entry => entry.holders.filter(_ != entry.fiber)).toSet
    val (rest, free) = dump.fibers.partition(entry => held(entry.fiber))
    val reached = mutable.Set[String]()
    def reach(entry: Entry): Unit =
      val left = mutable.Stack(entry)
      while left.nonEmpty do
        val next = left.pop()
        if reached.add(next.fiber) then left ++= under(next)
    free.foreach(reach)
    val ofCycles = rest.filter { entry =>
      val isNew = !reached(entry.fiber)
      if isNew then reach(entry)
      isNew
    }
    (free ++ ofCycles).sortBy(entry => (entry.holders.isEmpty, -entry.sinceNanos))

  /** The fibers that `entry` waits for. */
  def under(entry: Entry): Vector[Entry] = entry.holders.flatMap(byName.get)

  /** Returns the groups that have fibers with the text `search`, with those fibers only. */
  def searched(search: String): Vector[Group] =
    val wanted = search.trim.toLowerCase(Locale.ROOT)
    if wanted.isEmpty then groups
    else
      groups.flatMap { group =>
        val found = group.searched(wanted)
        Option.when(found.nonEmpty)(if found.size == group.count then group else Group(found))
      }

private[console] object Fibers:
  private inline val longestShown = 5
  private inline val leastWaitNanos = 1_000_000_000L

  /** Fibers with the same lines. Their ids are the same in each dump.
    *
    * @param unsorted at least one
    */
  final class Group(unsorted: Vector[Entry]):
    /** The oldest comes first. */
    val entries: Vector[Entry] = unsorted.sortBy(-_.sinceNanos)

    val lines: Vector[String] = linesOf(entries.head)
    val title: String = titleOf(entries.head)
    val id: String = (title +: lines).map(_.hashCode).foldLeft(17L)(_ * 1000003 + _).toHexString
    val states: Vector[(State, Int)] = statesOf(entries)
    def count: Int = entries.size
    def oldestNanos: Long = entries.head.sinceNanos
    def awaits: String = entries.head.awaits

    private[Fibers] def searched(wanted: String): Vector[Entry] =
      if (title +: lines).exists(has(_, wanted)) then entries
      else
        entries.filter(entry =>
          has(entry.fiber, wanted) || has(entry.awaits, wanted) || has(entry.thread, wanted) ||
            has(entry.state.toString, wanted) || entry.holders.exists(has(_, wanted))
        )

  def waits(entry: Entry): Boolean = entry.state == State.Waiting || entry.state == State.Awaiting

  /** Returns the user's lines of a fiber: the last element of its trace stands for the fiber. */
  def linesOf(entry: Entry): Vector[String] = own(entry).map(shown)

  /** Returns the line at which a fiber is, or what it waits for if no line is known. */
  def titleOf(entry: Entry): String =
    own(entry).headOption
      .map(shown)
      .getOrElse:
        val what = if entry.awaits.isEmpty then "no line known" else wait(entry)
        entry.started.fold(what)(line => s"$what, started before ${shown(line)}")

  /** Leaves out of a line what the compiler has added to the names of lambdas. */
  def shown(line: StackTraceElement): String =
    val name = line.getClassName.replaceFirst("[$].*", "")
    val method = line.getMethodName.replaceFirst("[$][$]?anonfun.*", "")
    val place = if method.isEmpty then name else s"$name.$method"
    s"$place(${line.getFileName}:${line.getLineNumber})"

  private def has(text: String, wanted: String): Boolean =
    text.toLowerCase(Locale.ROOT).contains(wanted)

  private def statesOf(entries: Vector[Entry]): Vector[(State, Int)] =
    val counts = entries.groupMapReduce(_.state)(_ => 1)(_ + _)
    State.values.toVector.flatMap(state => counts.get(state).map(state -> _))

  private def keyOf(entry: Entry): Any =
    val lines = own(entry)
    if lines.isEmpty then (wait(entry), entry.started) else lines

  /** Returns what a fiber waits for, without what differs from fiber to fiber. */
  private def wait(entry: Entry): String =
    entry.awaits.takeWhile(_ != ',').replaceFirst("the end of fiber .*", "the end of a fiber")

  /** A thread that blocks is in the JDK's code, at a line that changes. */
  private def own(entry: Entry): Vector[StackTraceElement] =
    entry.trace.dropRight(1).dropWhile { line =>
      val name = line.getClassName
      name.startsWith("java.") || name.startsWith("jdk.") || name.startsWith("sun.")
    }
