package weir.testkit.explore

import java.util.IdentityHashMap

/** The monitors of a run: who has entered which, and how often. An explored thread enters one only
  * while it is free here, so that the JVM never has to make it wait.
  */
private[explore] final class Monitors:
  private final class Held:
    var by: Strand | Null = null
    var times = 0

    /** The clock of whoever has left it last. */
    var left: Array[Int] = Array.empty

  private val held = IdentityHashMap[AnyRef, Held]()

  def clear(): Unit = held.clear()

  def isFreeFor(monitor: AnyRef, strand: Strand): Boolean =
    val known = held.get(monitor)
    (known eq null) || (known.by eq null) || (known.by eq strand)

  def isHeldBy(monitor: AnyRef, strand: Strand): Boolean =
    val known = held.get(monitor)
    (known ne null) && (known.by eq strand)

  /** Who has entered it; null for none. */
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
      if known.times == 0 then
        known.by = null
        known.left = strand.clock

  /** The steps of `strand` come after those of whoever has had the monitor before. */
  def join(monitor: AnyRef, strand: Strand): Unit =
    val known = held.get(monitor)
    if known ne null then
      Clocks.join(strand.clock, java.util.Arrays.copyOf(known.left, strand.clock.length))

/** The types of objects that several threads may share, though a variable's type does not tell. */
private[explore] object SharedTypes:
  private val isShared = new ClassValue[java.lang.Boolean]:
    override def computeValue(of: Class[?]): java.lang.Boolean =
      val name = of.getName
      name.startsWith("java.util.concurrent.") || name.startsWith("scala.collection.concurrent.") ||
      name.startsWith("java.util.Collections$Synchronized") || name == "java.util.Hashtable" ||
      name == "java.util.Vector" ||
      name.startsWith("scala.collection.convert.JavaCollectionWrappers$JConcurrent")

  def isShared(of: Class[?]): Boolean = isShared.get(of).booleanValue
