package weir.testkit.explore

import java.util.IdentityHashMap

/** The monitors of a run: which strand has entered each, and how often. An explored thread enters a
  * monitor only while it is free here, so that the JVM never has to make the thread wait.
  */
private[explore] final class Monitors:
  private final class Held:
    var by: Strand | Null = null
    var times = 0

    /** The number of strands that are in `wait`, of those that were notified, and of those that can
      * go on.
      */
    var waiting = 0
    var notified = 0
    var goingOn = 0

    /** The clock of the strand that has left it last. */
    var left: Array[Int] = Array.empty

  private val held = IdentityHashMap[AnyRef, Held]()

  def clear(): Unit =
    held.clear()
    isHandingOn = false

  def isFreeFor(monitor: AnyRef, strand: Strand): Boolean =
    val known = held.get(monitor)
    (known eq null) || (known.by eq null) || (known.by eq strand)

  def isHeldBy(monitor: AnyRef, strand: Strand): Boolean =
    val known = held.get(monitor)
    (known ne null) && (known.by eq strand)

  /** Returns true if the strand has entered the monitor once, so that it leaves it next. */
  def isHeldOnceBy(monitor: AnyRef, strand: Strand): Boolean =
    val known = held.get(monitor)
    (known ne null) && (known.by eq strand) && known.times == 1

  /** Returns the strand that has entered it; null for none. */
  def holder(monitor: AnyRef): Strand | Null =
    val known = held.get(monitor)
    if known eq null then null else known.by

  def enter(monitor: AnyRef, strand: Strand): Unit =
    var known = held.get(monitor)
    if known eq null then
      known = Held()
      held.put(monitor, known): Unit
    known.by = strand
    known.times += 1

  def exit(monitor: AnyRef, strand: Strand): Unit =
    val known = held.get(monitor)
    if (known ne null) && (known.by eq strand) then
      known.times -= 1
      if known.times == 0 then leave(known, strand)

  private def leave(known: Held, strand: Strand): Unit =
    known.by = null
    known.left = strand.clock
    // The JVM hands on to one thread at a time.
    if known.notified > 0 && known.goingOn == 0 then isHandingOn = true

  // ---- wait and notify ----

  /** True from the moment at which a monitor is left that the JVM then hands on to a thread that
    * was notified, until that thread can go on.
    */
  var isHandingOn = false

  def handedOn(): Unit = isHandingOn = false

  /** Lets the strand leave the monitor to wait. Returns how often it had entered it. */
  def beginWait(monitor: AnyRef, strand: Strand): Int =
    val known = held.get(monitor)
    if (known eq null) || (known.by ne strand) then 0
    else
      val times = known.times
      known.times = 0
      known.waiting += 1
      strand.awaits = monitor
      leave(known, strand)
      times

  /** Reports that the strand is back in the monitor. */
  def endWait(monitor: AnyRef, strand: Strand, times: Int): Unit =
    val known = held.get(monitor)
    if times > 0 && (known ne null) then
      known.by = strand
      known.times = times
      known.waiting -= 1
      known.notified = math.max(0, known.notified - 1)
      known.goingOn = math.max(0, known.goingOn - 1)
      strand.awaits = null
      strand.wants = null
      join(monitor, strand)

  /** Reports that one strand that waits can go on, as soon as the monitor is free. */
  def canGoOn(monitor: AnyRef): Unit =
    val known = held.get(monitor)
    if known ne null then
      isHandingOn = false
      known.goingOn += 1
      if known.notified < known.goingOn then known.notified = known.goingOn

  def notify(monitor: AnyRef, all: Boolean): Unit =
    val known = held.get(monitor)
    if known ne null then
      known.notified = if all then known.waiting else math.min(known.waiting, known.notified + 1)

  /** Orders the steps of `strand` after those of the strands that have had the monitor before. */
  def join(monitor: AnyRef, strand: Strand): Unit =
    val known = held.get(monitor)
    if known ne null then
      Clocks.join(strand.clock, java.util.Arrays.copyOf(known.left, strand.clock.length))

/** Finds the types of objects that several threads may share, even if a variable's type does not
  * tell.
  */
private[explore] object SharedTypes:
  private val isShared = new ClassValue[java.lang.Boolean]:
    override def computeValue(of: Class[?]): java.lang.Boolean =
      val name = of.getName
      name.startsWith("java.util.concurrent.") || name.startsWith("scala.collection.concurrent.") ||
      name.startsWith("java.util.Collections$Synchronized") || name == "java.util.Hashtable" ||
      name == "java.util.Vector" ||
      name.startsWith("scala.collection.convert.JavaCollectionWrappers$JConcurrent")

  def isShared(of: Class[?]): Boolean = isShared.get(of).booleanValue
