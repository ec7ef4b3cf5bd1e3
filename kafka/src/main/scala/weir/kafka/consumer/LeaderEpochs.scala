package weir.kafka.consumer

import java.lang.Long as JLong
import java.util.{Optional, TreeMap}

/** Of which leader epoch the offsets of a partition are. A commit says that of its offset, so that
  * the next owner's client finds out whether the broker has lost what comes before it (KIP-320).
  *
  * It is the epoch of the record that is read next, where that is known, and not of the one before:
  * between the two there may be a gap that the leader's epoch begins in, which would look as if
  * records were lost.
  *
  * Not safe for several threads: `Assignment` guards it.
  */
private[kafka] final class LeaderEpochs:
  /** The offset at which each epoch begins. */
  private val begins = TreeMap[JLong, Optional[Integer]]()

  /** In the order of the offsets. */
  def add(offset: Long, epoch: Optional[Integer]): Unit =
    val last = begins.lastEntry
    if last == null || last.getValue != epoch then begins.put(offset, epoch): Unit

  /** That of the offset. No lower one is asked for later. */
  def of(offset: Long): Optional[Integer] =
    val found = begins.floorEntry(offset)
    if found == null then Optional.empty
    else
      begins.headMap(found.getKey, false).clear()
      found.getValue
