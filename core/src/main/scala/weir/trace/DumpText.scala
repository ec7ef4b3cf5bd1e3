package weir.trace

import weir.FiberDump
import weir.FiberDump.{Entry, State}
import weir.runtime.DurationText

/** Formats a dump as text. Fibers that do the same at the same lines are printed once, with their
  * number.
  */
private[weir] object DumpText:
  private inline val namesTold = 3

  def apply(dump: FiberDump): String =
    val text = StringBuilder()
    val counts = State.values.toVector
      .map(state => state -> dump.fibers.count(_.state == state))
      .collect { case (state, count) if count > 0 => s"$count ${state.toString.toLowerCase}" }
    text ++= s"${dump.fibers.size} fibers${
        if counts.isEmpty then "" else counts.mkString(": ", ", ", "")
      }\n"
    dump.cycles.foreach { cycle =>
      val unless = if mayBeReleased(cycle, dump) then ", unless `release` adds a permit" else ""
      text ++= s"\nDEADLOCK: fiber ${(cycle :+ cycle.head).mkString(" waits for ")}$unless\n"
    }
    groups(dump.fibers).foreach(alike => text ++= s"\n${describe(alike)}\n")
    text.toString

  /** Returns true if a fiber of the cycle waits for a semaphore, to which any fiber may add. */
  private def mayBeReleased(cycle: Vector[String], dump: FiberDump): Boolean =
    dump.fibers.exists(one => cycle.contains(one.fiber) && one.awaits.startsWith("Semaphore"))

  private def groups(fibers: Vector[Entry]): Vector[Vector[Entry]] =
    val byKind =
      fibers.groupBy(entry => (entry.state, entry.trace.dropRight(1), entry.started, entry.holders))
    byKind.values.toVector.sortBy(alike => (alike.head.state.ordinal, -alike.map(_.sinceNanos).max))

  private def describe(alike: Vector[Entry]): String =
    val first = alike.maxBy(_.sinceNanos)
    val who =
      if alike.size == 1 then s"fiber ${first.fiber}"
      else
        val names = alike.take(namesTold).map(_.fiber).mkString(", ")
        s"${alike.size} fibers, such as $names"
    val since =
      if first.sinceNanos < 0 then ""
      else s" for ${if alike.size == 1 then "" else "up to "}${DurationText(first.sinceNanos)}"
    val thread = if first.thread.isEmpty then "" else s", on ${first.thread}"
    val awaits = if first.awaits.isEmpty then "" else s"\n\twaits for ${first.awaits}"
    val held =
      if first.holders.isEmpty then ""
      else s"\n\theld by ${first.holders.map("fiber " + _).mkString(", ")}"
    s"$who: ${first.state.toString.toLowerCase}$since$thread$awaits$held" +
      first.trace.dropRight(1).map(line => s"\n\tat $line").mkString +
      first.started.fold("")(line => s"\n\tstarted before $line")
