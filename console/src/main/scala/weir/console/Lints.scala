package weir.console

import weir.FiberDump.{Entry, State}

/** Something that is probably wrong.
  *
  * @param kind a word for each rule, such as `queue-grows`
  * @param fibers the names of fibers that show it
  */
private[console] final case class Warning(
    kind: String,
    title: String,
    text: String,
    fibers: Vector[String] = Vector.empty
)

/** Rules that find what is probably wrong: in the course of the figures, and in a dump.
  *
  * @param window the number of moments for which a queue must grow or a permit be gone
  * @param heldNanos the time after which a wait for a permit is too long
  * @param waitNanos the time after which a wait for something that nobody holds is too long
  * @param spinNanos the time after which a computation is too long
  */
private[console] final class Lints(
    window: Int = 20,
    heldNanos: Long = 20_000_000_000L,
    waitNanos: Long = 60_000_000_000L,
    spinNanos: Long = 1_000_000_000L
):
  import Lints.*

  // ---- figures ----

  /** @param recent the last moments of a thing, the oldest first */
  def ofThing(recent: Vector[ThingFigures]): Option[Warning] =
    Option.when(recent.size >= window)(recent.takeRight(window)).flatMap { moments =>
      val last = moments.last
      val sizes = moments.map(_("size").getOrElse(0.0))
      val free = moments.map(_("free").getOrElse(1.0))
      val what = s"${last.kind} \"${last.name}\""
      last.kind match
        case "queue" | "channel" if grows(sizes) =>
          Some(
            Warning(
              "queue-grows",
              s"The $what only grows",
              s"It had ${sizes.head.toLong} values $window seconds ago and has " +
                s"${sizes.last.toLong}. Its takers are slower than its givers. Add takers, or " +
                "bound it."
            )
          )
        case "queue" | "channel" if isStuckFull(moments) =>
          Some(
            Warning(
              "queue-full",
              s"The $what is full",
              s"${waiting(last).toLong} fibers wait for room, and their number only grows. " +
                "Nobody takes, or takers are slower than givers."
            )
          )
        case "semaphore" | "mutex" if free.forall(_ == 0) && onlyGrows(moments.map(waiting)) =>
          Some(
            Warning(
              "not-released",
              s"The $what is not released",
              s"It had no free permit for $window seconds, and ${waiting(last).toLong} fibers " +
                "wait for one. Its holder may never return it."
            )
          )
        case "circuit breaker" if last("state open").contains(1.0) =>
          Some(Warning("breaker-open", s"The $what is open", "Calls through it fail at once."))
        case _ => None
    }

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
    fibers.cycles.map(cycle) ++ fibers.groups.flatMap(ofGroup)

  private def cycle(fibers: Vector[Entry]): Warning =
    Warning(
      "cycle",
      s"${fibers.size} fibers wait for each other",
      "None of them can ever continue.",
      fibers.map(_.fiber)
    )

  private def ofGroup(group: Fibers.Group): Option[Warning] =
    val oldest = group.entries.head
    val line = if group.lines.isEmpty then "" else s"Its line: ${group.title}. "
    val about = s"${line}It waits for ${oldest.awaits}."
    def longerThan(nanos: Long) = Fibers.waits(oldest) && oldest.sinceNanos >= nanos
    if oldest.state == State.Running && oldest.sinceNanos >= spinNanos then
      Some(
        Warning(
          "computes",
          s"A fiber has computed for ${seconds(oldest)} without yielding",
          s"Its line: ${group.title}.",
          Vector(oldest.fiber)
        )
      )
    else if permits.exists(oldest.awaits.startsWith) && longerThan(heldNanos) then
      Some(
        Warning(
          "not-released",
          s"A fiber has waited for a permit for ${seconds(oldest)}${others(group)}",
          if oldest.holders.isEmpty then s"$about The permit may never be returned."
          else s"$about Fiber ${oldest.holders.head} has it, and may never return it.",
          (oldest.holders ++ group.entries.map(_.fiber)).take(namesShown)
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
          group.entries.take(namesShown).map(_.fiber)
        )
      )
    else None

private[console] object Lints:
  private inline val namesShown = 3
  private inline val overloadedSeconds = 0.1
  private inline val leastSize = 10

  private val permits = List("Semaphore", "Mutex", "KeyedMutex")

  /** Things that one event ends. A fiber that waits at a queue, or that sleeps, may do so for ever.
    */
  private val unheld = List("Deferred", "CountDownLatch", "CyclicBarrier")

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
