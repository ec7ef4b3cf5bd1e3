package weir.runtime

import java.lang.ref.WeakReference

/** Lists, for fiber dumps, two kinds of objects: the fibers that have waited for something that
  * only user code can end, and the groups of children that have spawned workers.
  *
  * A fiber is added at its first such wait and removed when it ends, so a fiber that waits again
  * and again pays once. A group is added before it spawns its first worker and removed when it is
  * over. Both are held weakly: a fiber that waits for something that nobody can complete any more
  * is collected together with its stack.
  *
  *   - **Stripes**: one for each shard, each an array under a lock of its own. An entry knows its
  *     stripe and its index there, so removing it moves the last entry of the stripe into the gap.
  *   - **Swept when full**: entries whose fiber or group has been collected are dropped before the
  *     array grows. The array shrinks as it empties.
  *   - **Size**: an entry is one object of 32 bytes: the header, the four fields of a weak
  *     reference and one field of its own.
  *
  * This class is not final, only for tests.
  */
private[weir] class FiberRegistry(shardCount: Int):
  private val bits = Integer.numberOfTrailingZeros(math.min(shardCount, FiberRegistry.mostStripes))
  private val mask = (1 << bits) - 1
  private val stripes = Array.fill(1 << bits)(FiberRegistry.Stripe(bits))

  /** Adds `registered` and returns its entry. `preferredShard` spreads the callers over the
    * stripes.
    */
  def add(registered: Registered, preferredShard: Int): FiberRegistry.Entry =
    val stripe = preferredShard & mask
    val entry = registered match
      case _: Job => FiberRegistry.FiberEntry(registered)
      case _ => FiberRegistry.Entry(registered)
    Counters.count(Counters.RegistryEntry)
    stripes(stripe).add(entry, stripe)
    entry

  /** Removes `entry`. Must be called once, while the caller can still reach the fiber or group of
    * `entry`.
    */
  def remove(entry: FiberRegistry.Entry): Unit =
    stripes(entry.at & mask).remove(entry)

  /** Returns the fibers of all entries that have not been collected. */
  def fibers: Iterator[Job] =
    stripes.iterator.flatMap(_.registered).flatMap(_.registeredFibers)

  /** Returns the number of fibers that have been collected since the start: they waited for
    * something that no code could complete any more.
    */
  def collected: Long = stripes.iterator.map(_.collectedFibers).sum

  /** Returns the number of entries, including those collected since the last sweep. */
  def size: Int = stripes.map(_.size).sum

/** An object that the fiber registry lists: a fiber, or a group of children that run in fibers. */
private[weir] trait Registered:

  /** Returns the fibers that a dump finds through this object. Called on any thread, at any time.
    */
  private[weir] def registeredFibers: Iterator[Job]

private[weir] object FiberRegistry:
  /** The largest number of stripes, so that the index in a stripe keeps 25 bits. */
  private inline val mostStripes = 64
  private inline val smallest = 64

  /** One fiber or group in the registry. */
  class Entry(registered: Registered) extends WeakReference[Registered](registered):
    /** The number of the stripe in the lowest bits, the index in the stripe above them. */
    private[FiberRegistry] var at = 0

  /** As `Entry`, for a fiber, which is counted if it is collected. */
  final class FiberEntry(registered: Registered) extends Entry(registered)

  private object Stripe:
    def apply(bits: Int): Stripe = new Padded(bits)

    /** A stripe that shares no cache line with another one. */
    private final class Padded(bits: Int) extends Stripe(bits), Padding

  private abstract class Stripe(bits: Int):
    // shared, under this object's lock
    private var entries = new Array[Entry | Null](smallest)
    private var count = 0

    /** The number of fibers whose entries a sweep has dropped. */
    private var swept = 0L

    def size: Int = synchronized(count)

    def add(entry: Entry, stripe: Int): Unit = synchronized {
      if count == entries.length then
        sweep(stripe)
        if count > entries.length / 2 then resize(entries.length * 2)
      put(entry, count, stripe)
      count += 1
    }

    def remove(entry: Entry): Unit = synchronized {
      // The entry is still here: a sweep drops entries whose object has been collected, and the
      // caller holds this one.
      count -= 1
      val last = entries(count).nn
      entries(count) = null
      if last ne entry then put(last, entry.at >>> bits, entry.at & ((1 << bits) - 1))
      if count < entries.length / 4 && entries.length > smallest then
        try resize(entries.length / 2)
        // A later removal shrinks it. The fiber that ends has to wake those that join it.
        catch case _: OutOfMemoryError => ()
    }

    def registered: Seq[Registered] =
      val present = synchronized(java.util.Arrays.copyOf(entries, count))
      present.toSeq.flatMap(entry => Option(entry.nn.get))

    def collectedFibers: Long =
      val (before, present) = synchronized((swept, java.util.Arrays.copyOf(entries, count)))
      before + present.count(isCollected)

    private def isCollected(entry: Entry | Null): Boolean =
      entry.isInstanceOf[FiberEntry] && (entry.nn.get eq null)

    private def put(entry: Entry, index: Int, stripe: Int): Unit =
      entries(index) = entry
      entry.at = index << bits | stripe

    private def sweep(stripe: Int): Unit =
      var kept = 0
      var i = 0
      while i < count do
        val entry = entries(i).nn
        if entry.get ne null then
          put(entry, kept, stripe)
          kept += 1
        else if entry.isInstanceOf[FiberEntry] then swept += 1
        i += 1
      java.util.Arrays.fill(entries.asInstanceOf[Array[AnyRef]], kept, count, null)
      count = kept

    private def resize(length: Int): Unit = entries = java.util.Arrays.copyOf(entries, length)
