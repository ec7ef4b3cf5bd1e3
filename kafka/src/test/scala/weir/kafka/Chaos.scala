package weir.kafka

import java.time.Instant
import java.util.SplittableRandom
import java.util.concurrent.atomic.AtomicBoolean
import org.apache.kafka.clients.producer.{KafkaProducer as Client, ProducerRecord}
import org.apache.kafka.common.serialization.StringSerializer
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import scala.util.Using

/** A run of the plan, in which each kind of event comes once before any comes again. */
private final class Chaos(
    cluster: ChaosCluster,
    brokers: Int,
    protocol: GroupProtocol,
    what: String,
    seed: Long,
    toTell: String => Unit
) extends AutoCloseable:
  import Chaos.*

  private val (topic, resultTopic, group) = ("records", "results", "group")
  private val random = SplittableRandom(seed)
  private var kinds = Vector.empty[Int]
  private val keepsWriting = AtomicBoolean(true)
  @volatile private var partitions = 3
  @volatile private var sent = 0
  @volatile private var problem: Throwable | Null = null
  private val log = StringBuilder()

  /** The largest number of records that may be done twice. A member that is cut off, or whose
    * broker stands still, commits nothing for as long as that lasts, so it stops at its limit for
    * each partition. The time before a kill counts only if nothing else has happened.
    */
  var mostTwice = 0
  var calmKills: Vector[Kill] = Vector.empty
  var events = 0

  /** The number of transactions that `abortHanging` has aborted, each in one partition. */
  var aborted = 0

  cluster.topic(topic, partitions)
  cluster.topic(resultTopic, 2)
  val workers: Workers = Workers(what, protocol, group, topic, resultTopic, cluster.address)
  private val current = Array.tabulate(members)(start)
  private val writer = Thread.ofPlatform().start(() => write())

  private def start(member: Int) = workers.start(cluster.addressOf(member))

  def written: Int = sent
  def told: String = log.toString

  def results: Vector[(String, Int)] =
    cluster.readAll(resultTopic).map((key, value) => (key, value.toInt))

  def run(time: FiniteDuration): Unit =
    await("the group is complete")(isComplete)
    val end = time.fromNow
    while end.hasTimeLeft() do
      disturb()
      Thread.sleep(random.nextLong(3000)) // moments anywhere in what follows are the point
      check()
    keepsWriting.set(false)
    writer.join()
    await("all is done")(cluster.committedCount(group, topic).contains(sent.toLong))
    abortHanging()
    check()

  private def disturb(): Unit =
    val (member, broker) = (random.nextInt(members), random.nextInt(brokers))
    val away = random.nextLong(200, 9000).millis
    nextKind() match
      case 0 =>
        tell(s"member $member is killed", membersHit = 1)
        kill(member): Unit
      case 1 => sleep(member)
      case 2 =>
        tell(s"member $member is cut off for $away", membersHit = 1)
        cluster.cut(member, away)
      case 3 =>
        tell(s"what member $member sends is held for $away", membersHit = 1)
        cluster.hold(member, away)
      case 4 =>
        tell(s"broker $broker stands still for $away", membersHit = members)
        cluster.stop(broker, away)
      case 5 =>
        tell(s"broker $broker is killed, for ${away.toMillis / 3} ms", membersHit = members)
        cluster.kill(broker, away / 3)
      case 6 if partitions < mostPartitions =>
        tell("a partition is added", membersHit = 0)
        cluster.grow(topic, partitions + 1)
        partitions += 1
      case _ =>
        await("the group is complete")(isComplete)
        Thread.sleep(calm.toMillis)
        tell(s"member $member of an undisturbed group is killed", membersHit = 1)
        calmKills :+= kill(member)

  private def nextKind(): Int =
    if kinds.isEmpty then
      kinds = (0 until kindCount).toVector.map(kind => (random.nextLong(), kind)).sorted.map(_._2)
    val next = kinds.head
    kinds = kinds.tail
    next

  private def kill(member: Int): Kill =
    val killed = current(member)
    val now = Instant.now()
    killed.kill()
    current(member) = start(member)
    Kill(killed.number, now.getEpochSecond * 1_000_000 + now.getNano / 1000)

  /** A member that wakes ends what was in flight, and begins nothing until it is one again. */
  private def sleep(member: Int): Unit =
    val away = random.nextLong(5000, 9000).millis
    tell(s"member $member sleeps for $away", membersHit = 1)
    val sleeper = current(member)
    sleeper.stop()
    val before = sleeper.done.size
    Thread.sleep(away.toMillis)
    val ofOthers = workers.done.map(_.value).toSet -- sleeper.done.map(_.value)
    sleeper.wake()
    await("the sleeper is a member again")(isComplete)
    val late = sleeper.done.drop(before).map(_.value).count(ofOthers)
    tell(s"it did $late records that others had done", membersHit = 0)
    if what == "keyed" && late > WorkerProgram.parallelism then
      throw AssertionError(s"a sleeper did $late records that others had done")

  /** @param membersHit
    *   the number of members whose partitions may go to others without a commit of what is done
    */
  private def tell(event: String, membersHit: Int): Unit =
    log.append(s"${Instant.now()} $event\n")
    toTell(s"${Instant.now()} $event")
    events += 1
    val ofEach = mostPartitions * WorkerProgram.uncommittedLimit + WorkerProgram.parallelism
    mostTwice += membersHit * ofEach

  private def check(): Unit =
    if problem != null then throw AssertionError("the writer has failed", problem)
    for member <- 0 until members if !current(member).isAlive do
      throw AssertionError(s"member $member has ended: ${workers.failures}")

  private def isComplete: Boolean =
    cluster.membersOf(group).contains(current.map(_.clientId).toVector.sorted)

  /** A broker that has come back may leave a transaction open that it calls aborted: then nobody
    * gets the partitions whose offsets it has, and its results are not read. That is Kafka's fault,
    * which `HangingTransactionProgram` shows without this library. Whoever runs the brokers has to
    * abort it, and so does this.
    */
  private def abortHanging(): Unit =
    val hanging = cluster.abortHanging(Set("__consumer_offsets", resultTopic))
    if hanging.nonEmpty then
      tell(s"transactions that hang are aborted: ${hanging.mkString(", ")}", membersHit = 0)
      aborted += hanging.size

  private def await(event: String)(condition: => Boolean): Unit =
    val deadline = 4.minutes.fromNow
    var patience = 1.minute.fromNow
    while !condition do
      check()
      if patience.isOverdue() then
        abortHanging()
        patience = 1.minute.fromNow
      if deadline.isOverdue() then
        toTell(cluster.state(group, topic))
        current.foreach(member => toTell(member.dump))
        val committed = cluster.committedCount(group, topic)
        throw AssertionError(s"not so after 4 minutes: $event. $committed of $sent are committed")
      Thread.sleep(50)

  /** Writes records with a key of their partition, a little ahead of the group. */
  private def write(): Unit =
    val properties =
      Map[String, AnyRef]("bootstrap.servers" -> cluster.address, "delivery.timeout.ms" -> "900000")
    try
      Using.resource(Client(properties.asJava, StringSerializer(), StringSerializer())): producer =>
        while keepsWriting.get do
          val committed = cluster.committedCount(group, topic)
          if !committed.exists(sent - _ < mostAhead) then Thread.sleep(50)
          else
            val answers = (sent until sent + 100).map { n =>
              val partition = n % partitions
              val key = s"$partition-${n / partitions % 10}"
              producer.send(ProducerRecord(topic, partition, key, n.toString))
            }
            producer.flush()
            answers.foreach(_.get())
            sent += 100
    catch case error: Throwable => problem = error

  def close(): Unit =
    keepsWriting.set(false)
    workers.close()
    writer.join()

private object Chaos:
  /** A worker that was killed, and when. */
  final case class Kill(worker: Int, micros: Long)

  /** The time for which nothing else happens before a kill that is looked at by itself. */
  val calm: FiniteDuration = 5.seconds
  private val kindCount = 8
  val members = 3
  val mostPartitions = 6
  private val mostAhead = 2000
