package weir.console

import java.util.concurrent.locks.ReentrantLock
import weir.FiberDump.{Entry, State}
import weir.WeirRuntime
import weir.console.Json.json

/** Answers questions about fibers, from the latest dump. While somebody asks, a thread of the
  * console calls `refresh` again and again, so that only the first question waits for a dump.
  */
private[console] final class FiberPages(runtime: WeirRuntime):
  import FiberPages.*

  private val takes = ReentrantLock()
  @volatile private var latest: Fibers | Null = null
  @volatile private var askedNanos = System.nanoTime() - forgottenNanos

  /** Returns the fibers as they were a moment ago. */
  def fibers(): Fibers =
    touch()
    val known = latest
    if (known ne null) && ageOf(known) < forgottenNanos then known else taken()

  /** Notes that somebody watches. */
  def touch(): Unit = askedNanos = System.nanoTime()

  /** Takes a dump, if somebody has asked lately and the last one is old. The longer a dump takes,
    * the older it gets, so that dumps take at most a tenth of a processor.
    */
  def refresh(): Unit =
    val known = latest
    if System.nanoTime() - askedNanos > forgottenNanos then latest = null
    else if (known eq null) || ageOf(known) > known.tookNanos * 10 then taken(): Unit

  /** Returns the latest fibers, if there are any. */
  def known: Option[Fibers] = latest match
    case fibers: Fibers => Some(fibers)
    case null => None

  /** Takes a dump, or waits for the one that another thread takes. */
  private def taken(): Fibers =
    val asked = System.nanoTime()
    takes.lock()
    try
      val known = latest
      if (known ne null) && known.takenNanos > asked then known
      else
        val begun = System.nanoTime()
        val dump = runtime.fiberDump()
        val fibers = Fibers(dump, System.nanoTime(), System.nanoTime() - begun)
        latest = fibers
        fibers
    finally takes.unlock()

  def page(search: String, sort: String): Json =
    val shown = fibers()
    val found = shown.searched(search)
    val sorted = sort match
      case "count" => found.sortBy(-_.count)
      case "line" => found.sortBy(_.title)
      case _ => found.sortBy(-_.oldestNanos)
    Json.fields(
      "total" -> shown.size.toDouble.json,
      "found" -> found.map(_.count).sum.toDouble.json,
      "states" -> counts(shown.states),
      "tookMillis" -> (shown.tookNanos / 1000000).toDouble.json,
      "cycles" -> shown.cycles.map(_.map(entry(_)).json).json,
      "longest" -> shown.longest.map(entry(_)).json,
      "groupCount" -> sorted.size.toDouble.json,
      "groups" -> sorted.take(rows).map(groupRow(_)).json
    )

  def group(id: String, search: String): Option[Json] =
    val shown = fibers()
    shown.searched(search).find(_.id == id).map { group =>
      Json.fields(
        "id" -> id.json,
        "count" -> group.count.toDouble.json,
        "fibers" -> group.entries.take(rows).map(entry(_)).json
      )
    }

  /** Returns the fibers that `parent` waits for, or those for which none waits if it is empty. */
  def tree(parent: String): Json =
    val shown = fibers()
    val found =
      if parent.isEmpty then shown.roots else shown.find(parent).fold(Vector.empty)(shown.under)
    Json.fields(
      "total" -> shown.size.toDouble.json,
      "count" -> found.size.toDouble.json,
      "fibers" -> found.take(rows).map(one => entry(one, shown.under(one).size)).json
    )

  def one(fiber: String): Option[Json] = fibers().find(fiber).map(entry(_))

private[console] object FiberPages:
  /** The largest number of rows of a page. */
  private inline val rows = 200
  private inline val forgottenNanos = 30_000_000_000L

  private def ageOf(fibers: Fibers): Long = System.nanoTime() - fibers.takenNanos

  private def counts(states: Vector[(State, Int)]): Json =
    Json.Fields(states.map((state, count) => state.toString.toLowerCase -> count.toDouble.json))

  private def groupRow(group: Fibers.Group): Json =
    Json.fields(
      "id" -> group.id.json,
      "title" -> group.title.json,
      "lines" -> group.lines.map(_.json).json,
      "count" -> group.count.toDouble.json,
      "oldest" -> seconds(group.oldestNanos),
      "states" -> counts(group.states),
      "awaits" -> group.awaits.json
    )

  /** @param under the number of fibers that it waits for, which are shown below it */
  private def entry(entry: Entry, under: Int = 0): Json =
    Json.fields(
      "under" -> under.toDouble.json,
      "fiber" -> entry.fiber.json,
      "state" -> entry.state.toString.toLowerCase.json,
      "since" -> seconds(entry.sinceNanos),
      "awaits" -> entry.awaits.json,
      "holders" -> entry.holders.take(10).map(_.json).json,
      "thread" -> entry.thread.json,
      "title" -> Fibers.titleOf(entry).json,
      "lines" -> Fibers.linesOf(entry).map(_.json).json
    )

  /** -1 stands for a time that is not known. */
  private def seconds(nanos: Long): Json = (if nanos < 0 then -1.0 else nanos / 1e9).json
