package weir.console

import weir.FiberDump.{Entry, State}

/** Something that is probably wrong.
  *
  * @param kind a word for each rule, such as `queue-grows`
  * @param fibers the fibers that show it, and their lines
  */
private[console] final case class Warning(
    kind: String,
    title: String,
    text: String,
    fibers: Vector[Warning.OfFiber] = Vector.empty
)

private[console] object Warning:
  /** @param line the line at which the fiber is, or what it waits for; empty if it has ended */
  final case class OfFiber(name: String, line: String)

/** Rules that find what is probably wrong: in the course of the figures, and in a dump.
  *
  * @param window the number of moments for which a permit must be gone, or a queue be full
  * @param growth the number of moments for which a queue must grow
  * @param heldNanos the time after which a wait for a permit is too long
  * @param waitNanos the time after which a wait for something that nobody holds is too long
  * @param spinNanos the time after which a computation is too long
  */
private[console] final class Lints(
    window: Int = 20,
    growth: Int = 10,
    heldNanos: Long = 20_000_000_000L,
    waitNanos: Long = 60_000_000_000L,
    spinNanos: Long = 1_000_000_000L
):
  import Lints.*

  // ---- figures ----

  /** @param recent the last moments of a thing, the oldest first */
  def ofThing(recent: Vector[ThingFigures]): Option[Warning] =
    growing(recent).orElse(
      Option.when(recent.size >= window)(recent.takeRight(window)).flatMap(stuck)
    )

  private def growing(recent: Vector[ThingFigures]): Option[Warning] =
    val last = recent.last
    val sizes = recent.takeRight(growth).map(_("size").getOrElse(0.0))
    Option.when(isQueue(last) && sizes.size == growth && grows(sizes)) {
      Warning(
        "queue-grows",
        s"The ${called(last)} only grows",
        s"It had ${sizes.head.toLong} values $growth seconds ago and has ${sizes.last.toLong}. " +
          s"Its takers are slower than its givers. Add takers, or bound it.${named(last)}"
      )
    }

  private def isQueue(thing: ThingFigures): Boolean =
    thing.kind == "queue" || thing.kind == "channel"

  private def called(thing: ThingFigures): String = s"${thing.kind} \"${thing.name}\""

  private def named(thing: ThingFigures): String =
    thing.namedAt.fold("")(line => s" It is named at $line.")

  private def stuck(moments: Vector[ThingFigures]): Option[Warning] =
    val last = moments.last
    val free = moments.map(_("free").getOrElse(1.0))
    val what = called(last)
    last.kind match
      case _ if isQueue(last) && isStuckFull(moments) =>
        Some(
          Warning(
            "queue-full",
            s"The $what is full",
            s"${waiting(last).toLong} fibers wait for room, and their number only grows. " +
              s"Nobody takes, or takers are slower than givers.${named(last)}"
          )
        )
      case "semaphore" | "mutex" if free.forall(_ == 0) && onlyGrows(moments.map(waiting)) =>
        Some(
          Warning(
            "not-released",
            s"The $what is not released",
            s"It had no free permit for $window seconds, and ${waiting(last).toLong} fibers " +
              s"wait for one. Its holder may never return it.${named(last)}"
          )
        )
      case "circuit breaker" if last("state open").contains(1.0) =>
        Some(Warning("breaker-open", s"The $what is open", "Calls through it fail at once."))
      case _ => None

  private def waiting(thing: ThingFigures): Double =
    thing.figures
      .filter(f => f.label == "waiting" || f.label == "waiting for room")
      .map(_.value)
      .sum

  private def isStuckFull(moments: Vector[ThingFigures]): Boolean =
    moments.forall(m => m("capacity").exists(capacity => m("size").exists(_ >= capacity))) &&
      onlyGrows(moments.map(waiting))

  /** @param spins the number of spins in the last minute */
  def ofRuntime(figures: Figures, spins: Long): Vector[Warning] =
    val lost = figures.value("weir.fibers.ended", "outcome" -> "lost").toLong
    val age = figures.value("weir.scheduler.queue.age")
    val abandoned = figures.value("weir.tasks.abandoned").toLong
    Vector(
      Option.when(spins > 0)(
        Warning(
          "spins",
          s"Tasks computed for long without yielding: $spins in the last minute",
          "Each occupied a carrier for over 200 ms. The program's standard error names the lines."
        )
      ),
      Option.when(age > overloadedSeconds)(
        Warning(
          "overloaded",
          f"A fiber has been ready for $age%.1f s, and no carrier is free",
          "The carriers are overloaded, or something computes for long."
        )
      ),
      Option.when(lost > 0)(
        Warning(
          "lost",
          s"$lost fibers are lost",
          "They waited for something that nothing could complete any more, and were collected."
        )
      ),
      Option.when(abandoned > 0)(
        Warning(
          "abandoned",
          s"$abandoned abandoned tasks still run",
          "Each of them occupies a thread."
        )
      )
    ).flatten

  // ---- fibers ----

  def ofFibers(fibers: Fibers): Vector[Warning] =
    fibers.cycles.map(cycle) ++ fibers.groups.flatMap(ofGroup(_, fibers))

  private def cycle(fibers: Vector[Entry]): Warning =
    Warning(
      "cycle",
      s"${fibers.size} fibers wait for each other",
      if fibers.exists(_.awaits.startsWith("Semaphore")) then
        "None of them can continue, unless `release` adds a permit."
      else "None of them can ever continue.",
      fibers.map(of)
    )

  private def of(entry: Entry): Warning.OfFiber =
    Warning.OfFiber(entry.fiber, Fibers.titleOf(entry))

  private def ofGroup(group: Fibers.Group, fibers: Fibers): Option[Warning] =
    val oldest = group.entries.head
    val holders = oldest.holders.map(name => fibers.find(name).getOrElse(name))
    def shown = (holders.map {
      case entry: Entry => of(entry)
      case name: String => Warning.OfFiber(name, "")
    } ++ group.entries.map(of)).take(namesShown)
    val line = if group.lines.isEmpty then "" else s"Its line: ${group.title}. "
    val about = s"${line}It waits for ${oldest.awaits}."
    def longerThan(nanos: Long) = Fibers.waits(oldest) && oldest.sinceNanos >= nanos
    if oldest.state == State.Running && oldest.sinceNanos >= spinNanos then
      Some(
        Warning(
          "computes",
          s"A fiber has computed for ${seconds(oldest)} without yielding",
          s"Its line: ${group.title}.",
          Vector(of(oldest))
        )
      )
    else if permits.exists(oldest.awaits.startsWith) && holders.nonEmpty &&
      oldest.areAllHolders && holders.forall(waitsForNothing)
    then
      Some(
        Warning(
          "not-released",
          s"A fiber waits for a permit that does not come back${others(group)}",
          s"$about ${haveIt(oldest, "waits", "wait")} for nothing that can come.",
          shown
        )
      )
    else if permits.exists(oldest.awaits.startsWith) && longerThan(heldNanos) then
      Some(
        Warning(
          "not-released",
          s"A fiber has waited for a permit for ${seconds(oldest)}${others(group)}",
          if oldest.holders.isEmpty then s"$about The permit may never be returned."
          else s"$about ${haveIt(oldest, "may", "may")} never return it.",
          shown
        )
      )
    else if oldest.holders.isEmpty && unheld.exists(oldest.awaits.startsWith) &&
      longerThan(waitNanos)
    then
      Some(
        Warning(
          "waits-long",
          s"A fiber has waited for ${seconds(oldest)}, and no fiber is known to end that" +
            others(group),
          about,
          shown
        )
      )
    else None

private[console] object Lints:
  private inline val namesShown = 3
  private inline val overloadedSeconds = 0.1
  private inline val leastSize = 10

  /** The wait of a fiber that only a cancel ends. */
  private val never = "nothing: Task.never"

  private val permits = List("Semaphore", "Mutex", "KeyedMutex")

  /** Things that one event ends. A fiber that waits at a queue, or that sleeps, may do so for ever.
    */
  private val unheld = List("Deferred", "CountDownLatch", "CyclicBarrier")

  /** Says who has the permits that `entry` waits for, and begins what one or several do. */
  private def haveIt(entry: Entry, one: String, several: String): String =
    val first = entry.holders.head
    val more = entry.holders.size - 1
    if more == 0 then s"Fiber $first has it, and $one"
    else s"Fiber $first and $more more have permits, and $several"

  private def waitsForNothing(holder: Entry | String): Boolean = holder match
    case entry: Entry => entry.awaits == never
    case _: String => false

  private def seconds(entry: Entry): String = s"${entry.sinceNanos / 1000000000L} s"

  private def others(group: Fibers.Group): String =
    if group.count == 1 then "" else s", and ${group.count - 1} more at the same line"

  /** Returns true if each third of the values is above the third before it, so that values which go
    * up and down do not count.
    */
  private[console] def grows(values: Vector[Double]): Boolean =
    val third = values.size / 3
    val List(first, second, last) =
      List(values.take(third), values.slice(third, 2 * third), values.drop(2 * third)): @unchecked
    first.nonEmpty && last.last >= leastSize && first.max <= second.min && second.max <= last.min &&
    first.min < last.max && second.min < last.max && first.min < second.max

  private[console] def onlyGrows(values: Vector[Double]): Boolean =
    values.head < values.last && values.zip(values.drop(1)).forall(_ <= _)
