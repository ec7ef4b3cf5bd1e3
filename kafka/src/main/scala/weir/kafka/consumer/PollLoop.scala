package weir.kafka.consumer

import java.time.Duration
import java.util.concurrent.atomic.AtomicBoolean
import java.util.concurrent.locks.LockSupport
import java.util.{ArrayList, Collection, HashMap, HashSet, Map as JMap}
import org.apache.kafka.clients.consumer.{
  CloseOptions,
  Consumer,
  ConsumerGroupMetadata,
  ConsumerRebalanceListener,
  OffsetAndMetadata
}
import org.apache.kafka.common.{Metric, MetricName, TopicPartition}
import org.apache.kafka.common.errors.{
  FencedInstanceIdException,
  GroupIdNotFoundException,
  WakeupException
}
import scala.jdk.CollectionConverters.*
import weir.Task
import weir.kafka.AssignmentChange

/** The thread that polls. It alone calls the consumer, and does not depend on the streams.
  * README.md describes the state that it shares with them.
  *
  * {{{
  * run:  pause, resume -> commit what is due -> poll -> deliver -> again
  *                                               +-- callbacks: assigned, revoked, lost
  * end:  an error of poll, or of decoding: fetch no more -> the same without records -> again
  * stop: start no more -> commit -> leave the group
  * }}}
  */
private[kafka] final class PollLoop(
    first: Consumer[Array[Byte], Array[Byte]],
    options: PollOptions,
    target: ChunkTarget
) extends Poller:
  // shared
  /** Kafka's client: another one after `joinAnew`. Written by the poll thread. */
  @volatile private var consumer = first
  @volatile private var isStopping = false
  @volatile private var isLeaving = false
  @volatile private var ending = false
  @volatile private var metadata: ConsumerGroupMetadata | Null = null
  private val clock: PollClock = options.clients
  private val life = SignsOfLife(options.sleepTime, clock)

  private val requests = Requests(() => wake())

  /** True if a wake-up was requested since the last iteration began. */
  private val isWoken = AtomicBoolean()

  // poll thread only
  private val owned = HashMap[TopicPartition, Assignment]()
  private val commits = Commits(consumer, options, () => isStopping)

  /** The partitions whose committed offsets the brokers have not sent yet. They are paused. */
  private val unread = HashSet[TopicPartition]()

  /** The time of the next request for them, and its limit. */
  private var askNanos = 0L
  private var askTime = options.pollTime

  /** The time at which another client joins, since the brokers have forgotten the group, as when it
    * was deleted while this member was cut off. A client of the new protocol never joins again. 0:
    * none does.
    */
  private var joinsNanos = 0L

  private val pauses = Pauses(consumer, options, owned)
  private val starts = StartOffsets(consumer, options.startAt, clock, () => isStopping)
  private val calls = PartitionRequests(
    consumer,
    owned,
    target,
    starts,
    (assignment, offset) => {
      drop(assignment)
      addAt(assignment.partition, offset)
    },
    options.notAssigned
  )

  /** The first error, which the streams have after what was delivered. */
  private var failure: Throwable | Null = null

  /** The error of the last commit, or of another thing that a stop does; read after the thread has
    * ended. The streams were over before it.
    */
  private var stopFailure: Throwable | Null = null

  @volatile private var thread: PollThread | Null = null

  def start(): Unit =
    thread = options.clients.start(s"weir-kafka-poll-${options.group}")(() => run())

  /** **Waits** until the thread has committed, has left the group and has ended. **Fails** if the
    * broker refuses the last commit, or the user's task for the last revoke fails: nobody else
    * would say so.
    */
  def stop(): Unit =
    isStopping = true
    isWoken.set(true)
    consumer.wakeup() // not only `wake`: the last one may have ended a call that began again
    unpark()
    if thread != null then thread.nn.join()
    val error = stopFailure
    if error != null then throw options.explain(error)

  /** Ends as a revoke of all partitions does: nothing begins any more, and what is in flight is
    * waited for and committed. Then the streams end.
    */
  def leave(): Unit =
    isLeaving = true
    wake()

  /** Returns the value of a call that the poll thread makes; that of `absent` once it has ended. */
  def ask[A](absent: => A)(call: PartitionRequests => A): Task[A] =
    requests.ask(absent)(call(calls))

  /** Kafka's client allows any thread to read them. */
  def metrics: JMap[MetricName, ? <: Metric] = consumer.metrics

  /** Returns the metadata of the group at the end of the last poll, or at the beginning of a
    * revoke. An assignment that was `isOwned` after this was read belongs to that generation.
    */
  def groupMetadata: ConsumerGroupMetadata | Null = metadata

  /** Makes the next iteration begin soon: `wakeup` ends the poll, or a call before it; then the
    * poll sees `isWoken`, and does not wait.
    */
  def wake(): Unit = if isWoken.compareAndSet(false, true) then consumer.wakeup()

  def unpark(): Unit =
    val running = thread
    if running != null then running.unpark()

  /** Fetches no more: the streams fail once they have handed out what was delivered. Until they
    * stop this thread, it keeps the member in its group, and commits what is done.
    */
  def end(): Unit = ending = true

  def isEnding: Boolean = ending

  override def commitsRecords: Boolean = options.commits

  /** With transactions, these find out before they begin with records. */
  def isCurrent: Boolean = !options.commits || hasNotSlept

  def hasNotSlept: Boolean = life.hasNotSlept

  def nowMillis: Long = clock.nowMillis

  /** Called once the group has confirmed that this member belongs to it: see `SignsOfLife`. */
  def confirmed(askedMillis: Long): Unit = life.confirmed(askedMillis)

  // ---- the poll thread ----

  private def run(): Unit =
    try
      life.confirmed(clock.nowMillis)
      options.subscription.begin(consumer, listener)
      while !isStopping && !isLeaving do
        try iterate()
        catch case error: Exception => fail(error)
      if !isStopping then
        try listener.onPartitionsRevoked(ArrayList(owned.keySet))
        catch case error: Exception => fail(error)
      finish()
    catch case error: Throwable => finishWith(error)
    finally requests.close()

  /** An error belongs in its place in the streams: after what was delivered before it. */
  private def fail(error: Exception): Unit =
    if failure == null then
      failure = error
      ending = true
      target.ended(options.explain(error))
    // No record begins that cannot be committed, or that another member has already.
    if commits.hasFailed || error.isInstanceOf[FencedInstanceIdException] then
      owned.values.forEach(_.close())
    if !isStopping then Thread.sleep(options.pollTime)

  private def iterate(): Unit =
    isWoken.set(false) // This iteration handles earlier requests: pairs with `wake`
    if hasNotSlept then life.give() else confirm()
    requests.run()
    if joinsNanos != 0 && clock.nanoTime - joinsNanos >= 0 then joinAnew()
    if ending then consumer.pause(consumer.assignment) else pauses.update()
    if !ending && !unread.isEmpty && clock.nanoTime - askNanos >= 0 then
      read(ArrayList(unread), askTime)
    if options.commits then commits.beginIfDue(owned.values)
    poll().foreach(records => if !ending then deliver(records))
    publishMetadata()

  /** After a sleep: another member may have the partitions. Then the group refuses the commit, and
    * a later poll takes them away.
    */
  private def confirm(): Unit =
    if ending && life.isOverdueFor(options.revokeDeadline) then owned.values.forEach(_.close())
    val askedMillis = clock.nowMillis
    val isAlone = owned.isEmpty || options.group.isEmpty
    if isAlone || options.commits && commits.confirm(owned.values) then life.confirmed(askedMillis)

  private def poll(): Option[PolledRecords] =
    try Some(consumer.poll(pollTime))
    catch
      case _: WakeupException => None
      case _: GroupIdNotFoundException if hasJoined =>
        unread.clear()
        listener.onPartitionsLost(ArrayList(owned.keySet))
        joinsNanos = clock.nanoTime + options.joinTime.toNanos
        None
      case error: Exception if ClientErrors.mayPass(error) =>
        Thread.sleep(options.pollTime)
        None

  private def hasJoined: Boolean =
    val known = metadata
    known != null && known.generationId > 0

  private def joinAnew(): Unit =
    joinsNanos = 0
    consumer.close(CloseOptions.timeout(Duration.ZERO))
    consumer = options.reopen()
    commits.forget()
    publishMetadata() // of a member that has not joined
    options.subscription.begin(consumer, listener)

  /** A commit that ends does not end a poll, so while one is under way a poll takes no longer than
    * a part of the time that the commit has taken.
    */
  private def pollTime: Duration =
    if isWoken.get then Duration.ZERO
    else if commits.isUnderWay then
      val part = Commits.most(commits.age.dividedBy(4), Duration.ofMillis(1))
      Commits.least(part, options.pollTime)
    else options.pollTime

  private def deliver(records: PolledRecords): Unit =
    val wentBack = HashSet[TopicPartition]()
    val chunks = ArrayList[Chunk]()
    records.partitions.forEach { partition =>
      val chunk = records.records(partition)
      Option(owned.get(partition)).foreach { assignment =>
        var current = assignment
        var toHandOut = current.deliver(chunk)
        if toHandOut == null then // the broker has lost records, or the offsets were reset
          val undoneFrom = assignment.prefixEnd
          current = replace(assignment)
          if undoneFrom >= chunk.get(0).offset then toHandOut = current.deliver(chunk)
          else // the undone records before the chunk still exist
            consumer.seek(partition, undoneFrom)
            // So that this is committed, in place of a map with records that are gone.
            current.moveTo(OffsetAndMetadata(undoneFrom))
            wentBack.add(partition): Unit
        if toHandOut != null then Chunk.split(current, toHandOut, chunks)
      }
    }
    if !chunks.isEmpty then target.offer(chunks)
    records.nextOffsets.forEach { (partition, position) =>
      val assignment = owned.get(partition)
      if assignment != null && !wentBack.contains(partition) then assignment.moveTo(position)
    }

  private def drop(assignment: Assignment): Unit =
    assignment.release()
    target.removed(assignment)

  private def replace(assignment: Assignment): Assignment =
    drop(assignment)
    add(assignment.partition, None)

  private def add(partition: TopicPartition, before: Option[OffsetAndMetadata]): Assignment =
    // If transactions commit, no commit of this thread would ever end the wait for one.
    val limit = if options.commits then options.uncommittedLimit.toLong else Long.MaxValue
    val assignment = Assignment(partition, before, limit, this)
    owned.put(partition, assignment)
    target.added(assignment)
    assignment

  /** A callback ends its poll: the calls in it may have used up a wake-up, and the next iteration
    * must handle requests that came meanwhile.
    */
  private object listener extends ConsumerRebalanceListener:
    def onPartitionsAssigned(partitions: Collection[TopicPartition]): Unit =
      if !partitions.isEmpty then read(partitions, options.callbackReadTime)
      publishMetadata()
      consumer.wakeup()

    def onPartitionsRevoked(partitions: Collection[TopicPartition]): Unit =
      // With the classic protocol the group is in its next generation by now, and refuses the one
      // before: without this, records in flight could not be consumed.
      if !isStopping then publishMetadata()
      unread.removeAll(partitions): Unit
      val leaving = assignmentsOf(partitions)
      leaving.foreach { assignment =>
        assignment.close()
        target.removed(assignment)
      }
      val deadline = clock.nanoTime + options.revokeDeadline.toNanos
      awaitInFlight(leaving, deadline)
      if options.commits then
        val left = Duration.ofNanos(deadline - clock.nanoTime)
        val time = Commits.most(left, options.commitTime)
        life.give(time)
        commits.commitNow(leaving.asJava, time)
        life.give()
      forget(leaving)
      tell(AssignmentChange.Revoked(leaving.iterator.map(_.partition).toSet))
      consumer.wakeup()

    override def onPartitionsLost(partitions: Collection[TopicPartition]): Unit =
      unread.removeAll(partitions): Unit
      val lost = assignmentsOf(partitions)
      lost.foreach { assignment =>
        assignment.release()
        target.removed(assignment)
      }
      forget(lost)
      tell(AssignmentChange.Lost(lost.iterator.map(_.partition).toSet))

  /** Begins to read those partitions once the brokers have sent their committed offsets and maps:
    * without the map, records that are done beyond the offset would be done again. It seeks to
    * these offsets, so that no partition waits for the client's own search for its position. The
    * other partitions go on, and so does the group. While a transaction for one of the partitions
    * is open, the brokers do not answer.
    */
  private def read(partitions: Collection[TopicPartition], time: Duration): Unit =
    val start = clock.nanoTime
    life.give(time)
    val asks = options.group.nonEmpty
    val answer = if asks then commits.committed(partitions, time) else Some(java.util.Map.of())
    val begins = answer.flatMap(begin(partitions, _, time))
    life.give()
    begins match
      case None =>
        if unread.addAll(partitions) then consumer.pause(partitions)
        // The others have as much time as this one. Slow brokers get more time with each request,
        // since the client may forget an answer that comes when nobody asks.
        val now = clock.nanoTime
        askNanos = now + (now - start)
        if askTime.compareTo(options.readTime) < 0 then askTime = askTime.multipliedBy(2)
      case Some(offsets) =>
        askTime = options.pollTime
        if unread.removeAll(partitions) then consumer.resume(partitions)
        tell(AssignmentChange.Assigned(partitions.asScala.toSet))
        partitions.forEach { partition =>
          offsets.get(partition) match
            case Some(offset) => addAt(partition, offset): Unit
            case None =>
              val before = answer.flatMap(committed => Option(committed.get(partition)))
              before.foreach(consumer.seek(partition, _))
              add(partition, before.filter(_ => options.commits)): Unit
        }

  /** Returns the offsets of the partitions that do not begin at the commit; none if the brokers do
    * not answer.
    */
  private def begin(
      partitions: Collection[TopicPartition],
      committed: JMap[TopicPartition, OffsetAndMetadata],
      time: Duration
  ): Option[Map[TopicPartition, Long]] =
    try starts.of(partitions, committed, time)
    catch
      case error: Exception =>
        fail(error)
        None

  private def addAt(partition: TopicPartition, offset: Long): Assignment =
    consumer.seek(partition, offset)
    val assignment = add(partition, None)
    assignment.moveTo(OffsetAndMetadata(offset))
    assignment

  /** An error of the user's task fails the streams; once these are over, the stop. */
  private def tell(change: AssignmentChange): Unit =
    if change.partitions.nonEmpty then
      try options.onAssignmentChange(change).runSync(): Unit
      catch case error: Exception => if isStopping then failStop(error) else fail(error)

  private def publishMetadata(): Unit =
    if options.group.nonEmpty then metadata = consumer.groupMetadata

  private def assignmentsOf(partitions: Collection[TopicPartition]): Vector[Assignment] =
    partitions.asScala.iterator.flatMap(partition => Option(owned.get(partition))).toVector

  private def forget(assignments: Vector[Assignment]): Unit = assignments.foreach { assignment =>
    assignment.release()
    owned.remove(assignment.partition, assignment): Unit
  }

  /** Meanwhile it commits done records, of the partitions that stay too: their streams go on. */
  private def awaitInFlight(leaving: Vector[Assignment], deadline: Long): Unit =
    while !isStopping && leaving.exists(_.inFlight > 0) && clock.nanoTime - deadline < 0 do
      LockSupport.parkNanos(5_000_000)
      val left = Duration.ofNanos(deadline - clock.nanoTime)
      life.give(options.commitTime)
      if options.commits then
        commits.commitIfDue(owned.values, Commits.least(left, options.commitTime))

  private def failStop(error: Throwable): Unit =
    val first = stopFailure
    if first == null then stopFailure = error
    else if first != error then first.addSuppressed(error)

  /** After a stop. It waits for nothing: the streams are over. */
  private def finish(): Unit =
    owned.values.forEach(_.close())
    target.ended(null)
    try if options.commits then commits.commitNow(owned.values, Commits.stopTime)
    catch case error: Throwable => failStop(error)
    try consumer.close(CloseOptions.timeout(Commits.stopTime))
    catch
      case later: Throwable =>
        val first = if failure == null then stopFailure else failure
        if first != null && later != first then first.addSuppressed(later)

  /** After an error of the JVM: nothing is done or committed any more. The streams get the error
    * before their partitions end.
    */
  private def finishWith(error: Throwable): Unit =
    isStopping = true
    owned.values.forEach(_.close())
    target.ended(options.explain(error))
    try consumer.close(CloseOptions.timeout(Commits.stopTime))
    catch case later: Throwable => if later != error then error.addSuppressed(later)
