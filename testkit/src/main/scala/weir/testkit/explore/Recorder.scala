package weir.testkit.explore

import java.util.IdentityHashMap
import scala.collection.mutable.ArrayBuffer
import weir.fiber.{FiberCore, TaskFiber}
import weir.testkit.agent.Site
import weir.trace.Functions

/** Records a run for its story: one event for each step that a reader should see. */
private[explore] final class Recorder:
  val events: ArrayBuffer[Event] = ArrayBuffer()

  /** The sites at which the user's code has made the tasks that this library runs. */
  private val madeAt = IdentityHashMap[AnyRef, Site]()
  private val names = Names()

  /** The access whose effect is not known yet: it comes after the event. */
  private var open: (Event, AnyRef, Site) | Null = null

  /** The instruction of each strand that is in the story already. */
  private val toldOf = IdentityHashMap[Strand, AnyRef]()

  def made(task: AnyRef, site: Site): Unit = madeAt.put(task, site): Unit

  def touched(strand: Strand, on: AnyRef, site: Site): Unit =
    close()
    if site.isUsers then
      val event = Event(strand, s"${names.of(on, site)}${call(site)}", site.place)
      add(event)
      open = (event, on, site)
    else if !site.isPlain then ofLibrary(strand, on, site)

  private def call(site: Site): String =
    if site.isField then if site.kind == Site.READ then "" else " set" else s".${site.operation}"

  /** Records an access by this library. The first access of an instruction stands for all of it. */
  private def ofLibrary(strand: Strand, on: AnyRef, site: Site): Unit =
    on match
      case fiber: FiberCore =>
        if fiber ne strand.fiber then
          val name = names.of(fiber)
          val field = site.operation
          if field == "cancelRequested" && site.kind == Site.WRITE then
            add(Event(strand, s"cancels $name", placeOf(strand)))
          else if field == "ending" && site.kind == Site.READ then
            add(Event(strand, s"joins $name", placeOf(strand)))
      case other =>
        val instruction = strand.instruction
        if (instruction ne null) && (toldOf.get(strand) ne instruction) && names.isTold(other, site)
        then
          toldOf.put(strand, instruction): Unit
          val made = madeAt.get(instruction)
          val operation = if made eq null then site.operation else made.operation
          val event = Event(strand, s"${names.of(other, site)}.$operation", placeOf(strand))
          add(event)
          open = (event, other, site)

  private def placeOf(strand: Strand): String =
    val instruction = strand.instruction
    val made = if instruction eq null then null else madeAt.get(instruction)
    if made ne null then made.place
    else
      strand.fiber match
        case fiber: TaskFiber => line(fiber)
        case _ => ""

  /** Returns the line with which the fiber continues. */
  private def line(fiber: TaskFiber): String =
    val lines = (fiber.topFrames(8).iterator ++ Iterator(fiber.origin)).flatMap {
      case null => Nil
      case node: weir.fiber.Node => Functions.ofFrame(node)
      case other => Functions.in(other)
    }
    lines.nextOption().fold("")(line => s"${line.getFileName}:${line.getLineNumber}")

  /** Returns the place at which the code of `strand` begins, for the head of its column. */
  def begin(strand: Strand): String =
    events.find(event => (event.strand eq strand) && event.place.nonEmpty).fold("")(_.place)

  /** Replaces all in `text` that differs from run to run. */
  def stable(text: String): String = names.stable(text)

  def preempted(strand: Strand): Unit =
    close()
    add(Event(strand, "is pre-empted", "", isPreemption = true))

  def rings(strand: Strand, atNanos: Long): Unit =
    close()
    add(Event(strand, s"the clock is at ${Names.time(atNanos)}", ""))

  def begins(strand: Strand): Unit = names.add(strand)

  /** Records that the strand's code fails, since it is disturbed. */
  def fails(strand: Strand): Unit =
    close()
    add(Event(strand, "an error is thrown here", placeOf(strand), isPreemption = true))

  /** Records that the strand waits. */
  def waits(strand: Strand): Unit =
    close()
    strand.fiber match
      case fiber: TaskFiber if strand.mount eq null =>
        val wait = fiber.suspendedIn
        val awaited = if wait eq null then null else wait.awaited
        val what = if awaited eq null then "" else s" for ${names.stable(awaited.awaitedAs)}"
        add(Event(strand, s"waits$what", ""))
      case _ => add(Event(strand, "waits", ""))

  /** Fills in the value that the latest access has seen. */
  def close(): Unit =
    val last = open
    open = null
    if last ne null then last._1.seen = names.value(last._2, last._3)

  /** Adds an event, unless it is the same as the last one: an instruction may look at an object
    * several times.
    */
  private def add(event: Event): Unit =
    val last = events.lastOption
    val isSame = last.exists(l =>
      (l.strand eq event.strand) && l.place == event.place && l.what == event.what &&
        l.seen.isEmpty
    )
    if !isSame then events += event

/** A line of a story: the action of `strand`, and the value that it has seen. */
private[explore] final class Event(
    val strand: Strand,
    val what: String,
    val place: String,
    val isPreemption: Boolean = false
):
  var seen: String = ""
  def text: String = if seen.isEmpty then what else s"$what $seen"
