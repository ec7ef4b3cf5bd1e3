package weir.trace

import java.lang.ref.WeakReference
import weir.kernel.RunLoop
import weir.sync.Awaited

/** The fibers that have waited for something which only its user's code knows, and the groups that have spawned workers, for the
  * dump to find them.
  *
  * A fiber enters with its first such wait and leaves when it ends, so a fiber that waits again and again pays once. A group enters
  * before it spawns the first worker and leaves when it is over. They are held weakly: a fiber that waits for what nobody can complete
  * any more is collected with its stack.
  *
  *   - **Stripes**: each is an array under a lock of its own; a place knows its stripe and its index there, so leaving moves
  *     the last place into the gap.
  *   - **Swept when full**: places whose member has been collected go before the array grows; it shrinks as it empties.
  *   - **Size**: a place is one object of 32 bytes, with the header, the four fields of a reference and one of its own.
  */
private[weir] final class Roster:
  private val stripes = Array.fill(Roster.stripeCount)(Roster.Stripe())

  /** `home` spreads the callers. */
  def enter(member: RunLoop | Awaited, home: Int): Roster.Place =
    val stripe = home & (Roster.stripeCount - 1)
    val place = Roster.Place(member)
    stripes(stripe).add(place, stripe)
    place

  /** To be called once, while the caller can reach the member. */
  def leave(place: Roster.Place): Unit =
    stripes(place.at & (Roster.stripeCount - 1)).remove(place)

  /** The fibers that are in it, and those of the groups, as far as they have not been collected. */
  def fibers: Iterator[RunLoop] = stripes.iterator.flatMap(_.members).flatMap {
    case fiber: RunLoop => Iterator.single(fiber)
    case group: Awaited => group.holders
  }

  /** Places taken, also by members that have been collected since the last sweep. */
  def size: Int = stripes.map(_.size).sum

private[weir] object Roster:
  private[trace] inline val stripeBits = 4
  private[trace] inline val stripeCount = 16
  private inline val smallest = 64

  /** Where a fiber or a group stands: the stripe in the lowest bits, the index above. */
  final class Place(member: RunLoop | Awaited) extends WeakReference[RunLoop | Awaited](member):
    private[trace] var at = 0

  private final class Stripe:
    // shared, under this object's lock
    private var places = new Array[Place | Null](smallest)
    private var count = 0

    def size: Int = synchronized(count)

    def add(place: Place, stripe: Int): Unit = synchronized {
      if count == places.length then
        sweep(stripe)
        if count > places.length / 2 then resize(places.length * 2)
      put(place, count, stripe)
      count += 1
    }

    def remove(place: Place): Unit = synchronized {
      // It is there still: a sweep leaves out what has been collected, and this member is ending.
      count -= 1
      val last = places(count).nn
      places(count) = null
      if last ne place then put(last, place.at >>> stripeBits, place.at & (stripeCount - 1))
      if count < places.length / 4 && places.length > smallest then
        try resize(places.length / 2)
        catch case _: OutOfMemoryError => () // at one of the next; who leaves has others to tell
    }

    def members: Seq[RunLoop | Awaited] =
      val present = synchronized(java.util.Arrays.copyOf(places, count))
      present.toSeq.flatMap(place => Option(place.nn.get))

    private def put(place: Place, index: Int, stripe: Int): Unit =
      places(index) = place
      place.at = index << stripeBits | stripe

    private def sweep(stripe: Int): Unit =
      var kept = 0
      var i = 0
      while i < count do
        val place = places(i).nn
        if place.get ne null then
          put(place, kept, stripe)
          kept += 1
        i += 1
      java.util.Arrays.fill(places.asInstanceOf[Array[AnyRef]], kept, count, null)
      count = kept

    private def resize(length: Int): Unit = places = java.util.Arrays.copyOf(places, length)
