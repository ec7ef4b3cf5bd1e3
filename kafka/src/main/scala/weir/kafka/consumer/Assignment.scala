package weir.kafka.consumer

import java.lang.Long as JLong
import java.util.concurrent.atomic.AtomicLong
import java.util.{ArrayList, HashSet, List as JList, Optional}
import org.apache.kafka.clients.consumer.OffsetAndMetadata
import org.apache.kafka.common.TopicPartition
import weir.kafka.consumer.OffsetTracker.Progress

/** A partition, from when this consumer gets it until it is revoked or lost. README.md has its
  * states.
  *
  * The poll thread delivers records and commits; one reader at a time hands them out; one fiber at
  * a time, mostly the reader, starts them; any fiber says that one is done.
  *
  * @param before
  *   the commit of an earlier owner
  * @param uncommittedLimit
  *   the number of records that may be done and in no commit
  */
private[kafka] final class Assignment(
    val partition: TopicPartition,
    before: Option[OffsetAndMetadata],
    uncommittedLimit: Long,
    poller: Poller
):
  // shared
  /** False as soon as no more records may be started. Written by the poll thread; pairs with
    * `started`: see `tryStart`.
    */
  @volatile private var isOpen = true

  /** False once another consumer may have the partition. Written by the poll thread. */
  @volatile private var owned = true

  /** The number of records that were in chunks that have been handed out. Written by the reader. */
  @volatile private var handed = 0L

  /** The number of records that were started. Written by the fiber that starts them. */
  @volatile private var started = 0L

  /** The number of records that are done, that the tracker knows of, and in no commit that
    * succeeded. Written under this lock.
    */
  @volatile private var uncommitted = 0L

  /** The latest run: records that were done one after the other. The tracker does not know of them
    * yet. `runFrom` is written under this lock, and `runEnd` by whoever has done the record there:
    * see `done`.
    */
  @volatile private var runFrom = -1L
  private val runEnd = AtomicLong(-1L)

  /** The number of records after which the run must be told to the tracker. Written under this
    * lock.
    */
  @volatile private var runLimit = 0L

  /** True once a record was held back. Written under this lock. */
  @volatile private var holdsBack = false

  /** Written by the poll thread, `paused` last; it pairs with `handed`: see `hasRoom`. */
  @volatile private var resumeAt = 0L
  @volatile private var paused = false

  /** The number of fibers in `awaitCommit`. Written under this lock. */
  @volatile private var awaiting = 0

  // under this lock
  private val tracker =
    OffsetTracker(before.flatMap(commit => DoneMap.decode(commit.offset, commit.metadata)))
  private val leaderEpochs = LeaderEpochs()
  before.foreach(commit => leaderEpochs.add(commit.offset, commit.leaderEpoch))
  private var doneCount = 0L

  /** The records that are started and not done, and wait in an operator, as for a permit. */
  private val heldBack = HashSet[JLong]()

  /** The number of done records that a commit covers. If two commits end in another order than they
    * began, the one that covers more counts.
    */
  private var doneCommitted = 0L

  /** The largest offset that was committed. */
  private var committedOffset = -1L

  // poll thread only
  private var delivered = 0L

  /** The average size of the records of the last poll. */
  private var recordBytes = Assignment.objectBytes
  private var committed: Progress | Null = null

  /** True if the user has paused it. */
  var isHeld = false

  def isOwned: Boolean = owned

  // ---- the reader, and who starts records ----

  /** Returns true if the next record may be worked on; it is in flight then. **Waits** while too
    * many records are done and not committed, and after a sleep: see `Poller.isCurrent`.
    *
    * A start first adds the record to the count and then reads `isOpen` again. The poll thread
    * first writes `isOpen` and then reads the count. So the record is either not started, or the
    * poll thread waits for it.
    *
    * @param looks
    *   false for a record shortly after one for which this was true: see `ClockLooks`
    */
  def tryStart(looks: Boolean = true): Boolean =
    if isFull || looks && !poller.isCurrent then awaitTurn()
    if !isOpen then false
    else
      started += 1
      if isOpen then true
      else
        started -= 1
        poller.unpark()
        false

  private def isFull: Boolean = notCommitted >= uncommittedLimit
  private def mustWait: Boolean = isFull || !poller.isCurrent

  private def awaitTurn(): Unit = synchronized {
    takeRun()
    while mustWait && isOpen do
      if isFull then wait() // for `countCommitted`
      else wait(Assignment.lookAgainMillis)
  }

  /** After the last record of a chunk. */
  def handedOut(records: Int): Unit =
    handed += records
    if paused && hasRoom then poller.wake()

  /** Returns true if a paused partition has handed out enough to be resumed. */
  def hasRoom: Boolean = buffered <= resumeAt

  /** Returns the number of records that are in chunks that were delivered and have not been handed
    * out. The reader may see too few, but never once `paused` is set.
    */
  def buffered: Long = deliveredCount - handed

  /** A copy of `delivered` for the reader. */
  @volatile private var deliveredCount = 0L

  /** Returns true if no more records are started. */
  def isClosed: Boolean = !isOpen

  /** Returns true if the streams are about to fail, once what was delivered is done. */
  def isEnding: Boolean = poller.isEnding

  // ---- any fiber ----

  /** The record waits for its turn: it is not in flight until `begin`. */
  def holdBack(offset: Long): Unit =
    synchronized {
      holdsBack = true
      takeRun()
      if tracker.isUndone(offset) then heldBack.add(offset): Unit
    }
    if !isOpen then poller.unpark()

  /** Returns true if the record that was held back may be worked on; it is in flight again then.
    * Otherwise it is for the next owner. **Waits** after a sleep: see `Poller.isCurrent`.
    *
    * The poll thread writes `isOpen` before it takes this lock to count.
    */
  def begin(offset: Long): Boolean = synchronized {
    while isOpen && !poller.isCurrent do wait(Assignment.lookAgainMillis)
    val mayBegin = isOpen
    if mayBegin then heldBack.remove(offset): Unit
    mayBegin
  }

  /** A reader without concurrency has one record done after the other. Then each continues a run,
    * which costs one CAS. Who looks at the tracker takes the run first. Any other record takes the
    * lock, and begins the next run.
    */
  def done(offset: Long): Unit =
    if !continuesRun(offset) then doneInLock(offset)
    if !isOpen then poller.unpark()

  private def continuesRun(offset: Long): Boolean =
    offset == runEnd.get && offset - runFrom < runLimit && !holdsBack &&
      runEnd.compareAndSet(offset, offset + 1)

  /** Half of the limit is reached once on the way up. While more than that are uncommitted, the
    * poll thread goes on to commit without being woken: it asks for `wantsCommit` in every
    * iteration.
    */
  private def doneInLock(offset: Long): Unit =
    val reachesHalf = synchronized {
      val before = uncommitted
      takeRun()
      if tracker.done(offset) then
        if !heldBack.isEmpty then heldBack.remove(offset): Unit // a `Long` is boxed for it
        doneCount += 1
        count()
        beginRun(offset + 1)
      before < halfOfLimit && uncommitted >= halfOfLimit
    }
    if reachesHalf then poller.wake()

  /** Under this lock: tells the tracker of the run. A record may have been done before, too. */
  private def takeRun(): Unit =
    val end = runEnd.get
    if end > runFrom then
      doneCount += tracker.doneRange(runFrom, end)
      runFrom = end
      count()

  /** Under this lock. */
  private def beginRun(from: Long): Unit =
    while !runEnd.compareAndSet(runFrom, from) do takeRun()
    runFrom = from

  /** Under this lock. */
  private def count(): Unit =
    uncommitted = doneCount - doneCommitted
    runLimit = if uncommitted < halfOfLimit then halfOfLimit - uncommitted - 1 else Long.MaxValue

  /** Returns true once the group's offset is after this one: no member reads it again. Returns
    * false if the partition went before that. **Waits** for the next commit, which begins at once.
    */
  def awaitCommit(offset: Long): Boolean =
    if poller.commitsRecords then
      synchronized(awaiting += 1)
      poller.wake()
      synchronized {
        try while committedOffset <= offset && owned do wait(Assignment.lookAgainMillis)
        finally awaiting -= 1
        committedOffset > offset
      }
    else true

  private def halfOfLimit: Long = math.max(1, uncommittedLimit / 2)

  /** Returns true if a commit is due, since many records are done, or somebody waits for it. */
  def wantsCommit: Boolean = awaiting > 0 || notCommitted >= halfOfLimit

  // ---- the poll thread ----

  def isPaused: Boolean = paused

  def pauseUntil(buffered: Long): Unit =
    resumeAt = buffered
    paused = true

  def resume(): Unit = paused = false

  /** Returns the number of records that may wait, so that their bytes stay within the limit too. */
  def mostBuffered(records: Int, bytes: Int): Long =
    math.max(1, math.min(records.toLong, bytes / recordBytes))

  /** Returns about the memory of the records that have not been handed out. */
  def bufferedBytes: Long = buffered * recordBytes

  /** Returns the elements of `records` to hand out. Returns null if the offsets have gone back:
    * this assignment knows nothing of such records.
    */
  def deliver(records: JList[BytesRecord]): JList[BytesRecord] | Null =
    recordBytes = averageBytes(records)
    synchronized(add(records))

  private def add(records: JList[BytesRecord]): JList[BytesRecord] | Null =
    val size = records.size
    val from = records.get(0).offset
    if from < tracker.end then null
    else
      val isRun = records.get(size - 1).offset - from == size - 1
      val toHandOut = if isRun && tracker.addRange(from, size) then records else undone(records)
      addLeaderEpochs(records)
      delivered += toHandOut.size
      deliveredCount = delivered
      toHandOut

  private def addLeaderEpochs(records: JList[BytesRecord]): Unit =
    val (first, last) = (records.get(0), records.get(records.size - 1))
    if first.leaderEpoch == last.leaderEpoch then leaderEpochs.add(first.offset, first.leaderEpoch)
    else records.forEach(record => leaderEpochs.add(record.offset, record.leaderEpoch))

  private def averageBytes(records: JList[BytesRecord]): Long =
    val step = math.max(1, records.size / Assignment.samples)
    var sum = 0L
    var count = 0
    var index = (records.get(0).offset % step).toInt
    while index < records.size do
      val record = records.get(index)
      sum += math.max(0, record.serializedKeySize) + math.max(0, record.serializedValueSize)
      count += 1
      index += step
    Assignment.objectBytes + sum / count

  private def undone(records: JList[BytesRecord]): JList[BytesRecord] =
    val chosen = ArrayList[BytesRecord](records.size)
    records.forEach(record => if tracker.add(record.offset) then chosen.add(record): Unit)
    chosen

  /** Moves to the consumer's position after all delivered records. */
  def moveTo(next: OffsetAndMetadata): Unit = synchronized {
    tracker.moveTo(next.offset)
    leaderEpochs.add(next.offset, next.leaderEpoch)
  }

  /** Ends the starting of records. */
  def close(): Unit =
    isOpen = false
    synchronized(notifyAll())

  /** Started, not held back, and not done. Exact once this is closed. */
  def inFlight: Long = synchronized {
    takeRun()
    started - heldBack.size - doneCount
  }

  /** Another consumer may have it from now on. */
  def release(): Unit =
    close()
    owned = false

  /** Returns the number of records that are done and in no commit that succeeded; for a moment too
    * many, while the tracker is told of a run.
    */
  def notCommitted: Long = uncommitted + runEnd.get - runFrom

  /** Returns the number of offsets before `end` that are not done. */
  def undoneUntil(end: Long): Long = synchronized {
    takeRun()
    tracker.undoneUntil(end)
  }

  /** Nothing before it is undone; -1 where nothing is known. */
  def prefixEnd: Long = synchronized {
    takeRun()
    tracker.prefixEnd
  }

  /** Returns the offset and metadata to commit; none if they were committed last. */
  def toCommit(limitBytes: Int): Option[Assignment.ToCommit] = synchronized {
    takeRun()
    tracker.progress(limitBytes) match
      case Some(progress) if progress != committed =>
        val leaderEpoch = leaderEpochs.of(progress.offset)
        Some(Assignment.ToCommit(this, progress, leaderEpoch, doneCount))
      case _ =>
        countCommitted(doneCount) // all of them are in the last commit, or beyond its map
        None
  }

  /** The next commit has it, even if nothing has changed. */
  def commitAgain(): Unit = committed = null

  def hasCommitted(commit: Assignment.ToCommit): Unit =
    committed = commit.progress
    synchronized {
      committedOffset = math.max(committedOffset, commit.progress.offset)
      countCommitted(commit.done)
    }

  private def countCommitted(done: Long): Unit =
    if done > doneCommitted then
      doneCommitted = done
      count()
      notifyAll()

private[kafka] object Assignment:
  /** About what the objects of a record take, apart from its key and its value. */
  private val objectBytes = 200L

  /** The number of records of a poll whose sizes are looked at, at least. */
  private val samples = 64

  /** Nobody says that the poll thread is current again. That is rare, and takes longer. */
  private val lookAgainMillis = 20L

  /** @param done the number of done records that it covers
    */
  final case class ToCommit(
      assignment: Assignment,
      progress: Progress,
      leaderEpoch: Optional[Integer],
      done: Long
  )

/** The requests of fibers to the poll thread. Any thread may call its methods, and none of them
  * waits.
  */
private[kafka] trait Poller:
  /** Ends a wait for records, so that it looks for what is due. */
  def wake(): Unit

  /** Ends a wait for records that are in flight. */
  def unpark(): Unit

  /** Returns false if this process may have slept for so long that the group has given its
    * partitions away. Then no record begins: another member may have done it, and later ones of its
    * key. True again once the group has confirmed that this member belongs to it.
    */
  def isCurrent: Boolean

  /** Returns false without a group, and where transactions commit. */
  def commitsRecords: Boolean = true

  /** Returns true if nothing more is fetched, since the streams have an error to come. */
  def isEnding: Boolean
