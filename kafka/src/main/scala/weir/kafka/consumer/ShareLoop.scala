package weir.kafka.consumer

import java.lang.{Long as JLong}
import java.lang.System.Logger.Level
import java.time.Duration
import java.util.{ArrayList, HashMap, LinkedHashMap, Map as JMap, Set as JSet}
import java.util.concurrent.locks.ReentrantLock
import org.apache.kafka.clients.consumer.{AcknowledgeType, ShareConsumer}
import org.apache.kafka.common.TopicIdPartition
import org.apache.kafka.common.errors.{CorruptRecordException, WakeupException}
import scala.jdk.CollectionConverters.*

/** The thread of a member of a share group. It alone calls the client.
  *
  * {{{
  * poll -> open, handed out -> settled by streams -> acknowledged -> ... -> all are: poll
  *           ^        a third of the lock's time is over
  *           |                 |
  *           +-- polled again -+-> renewing --the lock is lost--> lost
  * }}}
  *
  * Kafka's client does not poll while a record of the last poll is not acknowledged, or renewed.
  * And a poll after a renewal returns the renewed records alone. So it works batch by batch.
  */
private[kafka] final class ShareLoop(
    consumer: ShareConsumer[Array[Byte], Array[Byte]],
    topics: Set[String],
    queue: FairQueue[SharedDelivery],
    explain: Throwable => Throwable,
    pollInterval: Duration
):
  import ShareLoop.*
  import SharedDelivery.Place

  private val lock = ReentrantLock()
  private val changed = lock.newCondition()

  // guarded by lock
  private var justSettled = ArrayList[SharedDelivery]()
  private var isStopping = false

  // this thread only
  /** The records of the last poll that the client waits for. */
  private val open = LinkedHashMap[Place, SharedDelivery]()

  /** Those that the client has renewed, and not returned yet: they cannot be acknowledged. */
  private val renewing = LinkedHashMap[Place, SharedDelivery]()

  /** Those whose lock is lost while streams work on them. If one is delivered here once more, it
    * is not handed out twice.
    */
  private val lost = HashMap[Place, SharedDelivery]()

  private var askedAtMillis = System.currentTimeMillis()
  private var renewAtMillis = 0L
  private var hasFailed = false
  private var thread: Thread | Null = null

  def start(name: String): Unit = thread =
    Thread.ofPlatform().daemon().name(name).start(() => run())

  /** Ends the thread soon: it releases what is not settled. */
  def stop(): Unit =
    locked:
      isStopping = true
      changed.signal()
    consumer.wakeup()

  def join(): Unit = thread.nn.join()

  def settled(delivery: SharedDelivery): Unit = locked:
    justSettled.add(delivery)
    changed.signal()

  private def run(): Unit =
    try
      consumer.setAcknowledgementCommitCallback(answered(_, _))
      consumer.subscribe(topics.asJava)
      while !mustStop do
        try iterate()
        catch
          case _: WakeupException => ()
          // It has not passed: the client rejects the batch.
          case error: CorruptRecordException => fail(error)
          case error: Exception if ClientErrors.mayPass(error) => Thread.sleep(commitTime)
          case error: Exception => fail(error)
    catch case error: Throwable => fail(error)
    finally finish()

  private def mustStop: Boolean = locked(isStopping)

  private def iterate(): Unit =
    acknowledge(awaitSettled())
    val isDue = System.currentTimeMillis() >= renewAtMillis || isAwaited
    if !open.isEmpty && !isDue then consumer.commitAsync()
    else if !open.isEmpty || !renewing.isEmpty then renew()
    else if hasFailed then consumer.commitAsync()
    else ask()

  /** Returns true if one is settled that must come back before it can be acknowledged. */
  private def isAwaited: Boolean = renewing.values.stream.anyMatch(_.settlement.isDefined)

  /** **Waits** until all open records are settled, or some are and the time of a commit is over, or
    * the locks must be renewed. Returns those that are settled.
    */
  private def awaitSettled(): ArrayList[SharedDelivery] = locked:
    var left = commitTime.toNanos
    while !isStopping && left > 0 && (hasFailed || justSettled.size < open.size) do
      left = changed.awaitNanos(left)
    val found = justSettled
    justSettled = ArrayList()
    found

  private def acknowledge(settled: ArrayList[SharedDelivery]): Unit =
    settled.forEach { delivery =>
      if open.remove(delivery.place, delivery) then tell(delivery)
      else lost.remove(delivery.place, delivery): Unit
    }

  private def tell(delivery: SharedDelivery): Unit =
    delivery.settlement.foreach(tell(delivery, _))

  /** Returns false if the client knows of no lock: it is lost. */
  private def tell(delivery: SharedDelivery, as: AcknowledgeType): Boolean =
    try
      consumer.acknowledge(delivery.record, as)
      true
    catch case _: IllegalStateException => false

  /** The answer of a broker. After an error the client does not return what it should renew. */
  private def answered(
      offsets: JMap[TopicIdPartition, JSet[JLong]],
      error: Exception | Null
  ): Unit =
    if error != null then
      offsets.forEach { (partition, all) =>
        all.forEach { offset =>
          val delivery = renewing.remove(Place(partition.topicPartition, offset))
          if delivery != null then lose(delivery)
        }
        log.log(
          Level.WARNING,
          s"Kafka did not take acknowledgements of ${partition.topicPartition}: ${all.size}. " +
            s"These records may be delivered again. $error"
        )
      }

  private def lose(delivery: SharedDelivery): Unit =
    delivery.lockedUntilMillis = 0
    if delivery.settlement.isEmpty then lost.put(delivery.place, delivery): Unit

  /** The poll sends the acknowledgements, those that renew too. The one that returns the records
    * is a later one: after the answer has come.
    */
  private def renew(): Unit =
    val now = System.currentTimeMillis()
    open.values.forEach { delivery =>
      if tell(delivery, AcknowledgeType.RENEW) then renewing.put(delivery.place, delivery): Unit
      else lose(delivery)
    }
    open.clear()
    polled(renewTime, lockedSince = now)
    val over = ArrayList(renewing.values)
    over.removeIf(_.lockedUntilMillis > System.currentTimeMillis())
    over.forEach { delivery =>
      renewing.remove(delivery.place)
      lose(delivery)
    }

  /** Asks for further records. The client may have fetched them since it was last asked. */
  private def ask(): Unit =
    val since = askedAtMillis
    askedAtMillis = System.currentTimeMillis()
    polled(pollTime, lockedSince = since)

  private def polled(time: Duration, lockedSince: Long): Unit =
    val records = consumer.poll(time)
    if !records.isEmpty then
      val lockMillis = consumer.acquisitionLockTimeoutMs.map(_.toLong).orElse(usualLockMillis)
      val now = System.currentTimeMillis()
      // Without polls the client leaves the group, too.
      renewAtMillis = lockedSince + math.min(lockMillis / 3, pollInterval.toMillis / 2)
      val found = ArrayList[SharedDelivery]()
      records.forEach { record =>
        val place = SharedDelivery.placeOf(record)
        val known = Option(renewing.remove(place)).getOrElse(lost.remove(place))
        val delivery = if known == null then SharedDelivery(record, this) else known
        delivery.lockedUntilMillis = now + lockMillis
        if delivery.settlement.isDefined then tell(delivery)
        else open.put(place, delivery): Unit
        if known == null then found.add(delivery): Unit
      }
      queue.offerAll(found)

  /** Ends the queue with an error. Records that streams settle after it are acknowledged until they
    * stop this loop.
    */
  private def fail(error: Throwable): Unit =
    if !hasFailed then
      hasFailed = true
      queue.fail(explain(error))

  /** The client sends the acknowledgements when it is closed, and the broker releases what is still
    * locked for a member that leaves. If the broker is away, the locks end.
    */
  private def finish(): Unit =
    try
      try
        acknowledge(locked(justSettled))
        open.values.forEach(tell(_, AcknowledgeType.RELEASE): Unit)
        awaitRenewed()
      finally consumer.close(Commits.stopTime)
    catch case error: Exception => fail(error)

  /** **Waits** a moment for those that are settled, and acknowledges them.
    */
  private def awaitRenewed(): Unit =
    val end = System.currentTimeMillis() + lastTime.toMillis
    while isAwaited && System.currentTimeMillis() < end do
      try
        consumer.poll(renewTime).forEach { record =>
          val known = renewing.remove(SharedDelivery.placeOf(record))
          val settlement = Option(known).flatMap(_.settlement)
          consumer.acknowledge(record, settlement.getOrElse(AcknowledgeType.RELEASE))
        }
      catch case _: WakeupException => () // it was for the stop

  private def locked[A](body: => A): A =
    lock.lock()
    try body
    finally lock.unlock()

private object ShareLoop:
  /** The time between two commits of records that are settled one by one. */
  val commitTime: Duration = Duration.ofMillis(50)
  val pollTime: Duration = Duration.ofSeconds(1)

  /** Of a poll after a renewal, which does not return as soon as the answer is there. */
  val renewTime: Duration = Duration.ofMillis(20)

  /** Of the wait, at a stop, for records that are settled and being renewed. */
  val lastTime: Duration = Duration.ofMillis(300)

  val log: System.Logger = System.getLogger("weir.kafka")

  /** Kafka's own, for brokers that do not say it. */
  val usualLockMillis = 30_000L
