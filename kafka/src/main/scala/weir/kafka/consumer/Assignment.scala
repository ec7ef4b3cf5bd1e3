package weir.kafka.consumer

import java.util.ArrayList
import java.util.List as JList
import java.util.concurrent.locks.LockSupport
import org.apache.kafka.clients.consumer.ConsumerRecord
import org.apache.kafka.common.TopicPartition
import weir.kafka.consumer.OffsetTracker.Progress

/** A partition, from when this consumer gets it until it is revoked or lost. README.md has its
  * states.
  *
  * The poll thread delivers records and commits; one reader at a time hands them out; any fiber
  * says that one is done.
  */
private[kafka] final class Assignment(
    val partition: TopicPartition,
    restored: Option[DoneMap],
    uncommittedLimit: Int,
    poller: Poller
):
  // shared
  /** False as soon as no more records may be handed out. Written by the poll thread; pairs with
    * `handed`: see `tryHandOut`.
    */
  @volatile private var isOpen = true

  /** False once another consumer may have the partition. Written by the poll thread. */
  @volatile private var owned = true

  /** How many records have been handed out. Written by the reader. */
  @volatile private var handed = 0L

  /** How many are done and in no commit that succeeded. Written under this lock. */
  @volatile private var uncommitted = 0L

  /** Written by the poll thread, `paused` last; it pairs with `handed`: see `hasRoom`. */
  @volatile private var resumeAt = 0L
  @volatile private var paused = false

  // under this lock
  private val tracker = OffsetTracker(restored)
  private var doneHanded = 0L
  private var commitIsAsked = false

  /** Handed out, and given back since this was closed before their work began. */
  private var givenBack = 0L

  /** How many of those that are done are covered by a commit. Of two commits that end in another
    * order than they began, the one that covers more counts.
    */
  private var doneCommitted = 0L

  // poll thread only
  private var delivered = 0L

  /** How long the records of the last poll were, on average. */
  private var recordBytes = 1L
  private var committed: Progress | Null = null

  def isOwned: Boolean = owned

  // ---- the reader ----

  /** Whether the reader may hand out the next record. **Waits** while too many records are done and
    * not committed.
    *
    * The record counts before `isOpen` is read again; the poll thread writes `isOpen` before it
    * reads the count. So it is either not handed out, or waited for.
    */
  def tryHandOut(): Boolean =
    if uncommitted >= uncommittedLimit then awaitCommit()
    if !isOpen then false
    else
      handed += 1
      if isOpen then true
      else
        handed -= 1
        poller.unpark()
        false

  private def awaitCommit(): Unit = synchronized {
    while uncommitted >= uncommittedLimit && isOpen do wait()
  }

  /** After the last record of a chunk. */
  def chunkHandedOut(): Unit = if paused && hasRoom then poller.wake()

  /** Of a paused partition: whether enough has been handed out. */
  def hasRoom: Boolean = buffered <= resumeAt

  /** Delivered and not handed out. The reader may see too few, but never once `paused` is set. */
  def buffered: Long = deliveredCount - handed

  /** A copy of `delivered` for the reader. */
  @volatile private var deliveredCount = 0L

  // ---- any fiber ----

  def done(offset: Long): Unit =
    val isUrgent = synchronized {
      if !tracker.done(offset) then false
      else
        doneHanded += 1
        uncommitted = doneHanded - doneCommitted
        asksForCommit()
    }
    if isUrgent then poller.commitSoon()
    if !isOpen then poller.unpark()

  /** Under the lock: whether half of the limit is reached, and nobody has asked since the last
    * commit began. While one is under way more is done, so that what it leaves may be above half.
    */
  private def asksForCommit(): Boolean =
    val asks = !commitIsAsked && uncommitted >= math.max(1, uncommittedLimit / 2)
    if asks then commitIsAsked = true
    asks

  /** Whether no more records are handed out. */
  def isClosed: Boolean = !isOpen

  /** Once this is closed: a record that was handed out will not be worked on. The next owner has
    * it.
    */
  def giveBack(): Unit =
    synchronized { givenBack += 1 }
    poller.unpark()

  // ---- the poll thread ----

  def isPaused: Boolean = paused

  def pauseUntil(buffered: Long): Unit =
    resumeAt = buffered
    paused = true

  def resume(): Unit = paused = false

  /** How many records may wait, so that their bytes are not many either. */
  def mostBuffered(records: Int, bytes: Int): Long =
    math.max(1, math.min(records.toLong, bytes / recordBytes))

  /** Those of `records` that are to be handed out, or null: the offsets have gone back, so that
    * this assignment says nothing about them.
    *
    * @param next
    *   the consumer's position after them, or -1
    */
  def deliver[K, V](
      records: JList[ConsumerRecord[K, V]],
      next: Long
  ): JList[ConsumerRecord[K, V]] | Null =
    recordBytes = averageBytes(records)
    synchronized(add(records, next))

  private def add[K, V](
      records: JList[ConsumerRecord[K, V]],
      next: Long
  ): JList[ConsumerRecord[K, V]] | Null =
    val size = records.size
    val from = records.get(0).offset
    if from < tracker.end then null
    else
      val isRun = records.get(size - 1).offset - from == size - 1
      val toHandOut = if isRun && tracker.addRange(from, size) then records else undone(records)
      tracker.moveTo(next)
      delivered += toHandOut.size
      deliveredCount = delivered
      toHandOut

  private def averageBytes[K, V](records: JList[ConsumerRecord[K, V]]): Long =
    var sum = 0L
    records.forEach { record =>
      sum += math.max(0, record.serializedKeySize) + math.max(0, record.serializedValueSize)
    }
    math.max(1, sum / records.size)

  private def undone[K, V](records: JList[ConsumerRecord[K, V]]): JList[ConsumerRecord[K, V]] =
    val chosen = ArrayList[ConsumerRecord[K, V]](records.size)
    records.forEach(record => if tracker.add(record.offset) then chosen.add(record): Unit)
    chosen

  def moveTo(next: Long): Unit = synchronized(tracker.moveTo(next))

  /** From now on no more is handed out. */
  def close(): Unit =
    isOpen = false
    synchronized(notifyAll())

  /** Handed out and not done. Exact once this is closed. */
  def inFlight: Long = synchronized(handed - doneHanded - givenBack)

  /** Another consumer may have it from now on. */
  def release(): Unit =
    close()
    owned = false

  /** What is to be committed, if that is not what was committed last. */
  def toCommit(limitBytes: Int): Option[Assignment.ToCommit] = synchronized {
    commitIsAsked = false
    tracker.progress(limitBytes) match
      case Some(progress) if progress != committed =>
        Some(Assignment.ToCommit(this, progress, doneHanded))
      case _ =>
        countCommitted(doneHanded) // all of them are in the last commit, or beyond its map
        None
  }

  def hasCommitted(commit: Assignment.ToCommit): Unit =
    committed = commit.progress
    synchronized(countCommitted(commit.done))

  private def countCommitted(done: Long): Unit =
    if done > doneCommitted then
      doneCommitted = done
      uncommitted = doneHanded - doneCommitted
      notifyAll()

private[kafka] object Assignment:
  /** @param done how many of the records that are done it covers */
  final case class ToCommit(assignment: Assignment, progress: Progress, done: Long)

/** What fibers ask of the poll thread; all of it may be asked by any thread, and waits for nothing.
  */
private[kafka] trait Poller:
  /** Ends a wait for records. */
  def wake(): Unit

  /** Has it commit before the interval is over. */
  def commitSoon(): Unit

  /** Ends a wait for records that are in flight. */
  def unpark(): Unit

private[kafka] object Poller:
  def unpark(thread: Thread): Unit = LockSupport.unpark(thread)
