package weir.kafka.consumer

import java.lang.Long as JLong
import java.util.{Optional, TreeMap}

/** The leader epochs of the offsets of a partition. A commit has the epoch of its offset, so that
  * the next owner's client finds out if the broker has lost records before it (KIP-320).
  *
  * It is the epoch of the record that is read next, if that is known, not of the record before.
  * There may be a gap between the two. If an epoch of the leader began in that gap, the epoch of
  * the record before would look as if records were lost.
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

  /** Returns the epoch of the offset. No lower offset may be asked for later. */
  def of(offset: Long): Optional[Integer] =
    val found = begins.floorEntry(offset)
    if found == null then Optional.empty
    else
      begins.headMap(found.getKey, false).clear()
      found.getValue
