package weir.kafka.testkit

import java.util.concurrent.atomic.AtomicInteger
import org.apache.kafka.clients.consumer.ConsumerRecord
import org.apache.kafka.clients.producer.ProducerRecord
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.serialization.{StringDeserializer, StringSerializer}
import weir.kafka.consumer.Clients
import weir.kafka.{ConsumerSettings, ProducerSettings}
import weir.{Resource, Task}

/** Kafka's brokers in memory, for tests of code that uses Weir's `KafkaConsumer`, `KafkaProducer`,
  * `TransactionalProducer` and `ExactlyOnce`. Settings with its `address` use it. All of Weir's own
  * code runs as with real brokers: only Kafka's clients are replaced. On a test runtime its time is
  * virtual.
  *
  * A test causes the events of a group: a rebalance, a member that is cut off or that the group
  * gives up, a poll or a send that fails. A member reacts in its next poll.
  *
  * It does not simulate failures of brokers. Offsets have no gaps, and `KafkaAdmin` is not
  * supported.
  *
  * {{{
  * TestRuntime.run(TestKafka.resource.use { kafka =>
  *   for
  *     _ <- kafka.createTopic("orders", partitions = 4)
  *     _ <- kafka.write("orders", "alice" -> "3 apples", "bob" -> "1 pear")
  *     read <- KafkaConsumer(kafka.consumerSettings)
  *       .records(Set("orders"), "billing")
  *       .evalTap(_.done)
  *       .take(2)
  *       .map(_.value)
  *       .toVector
  *   yield assert(read.toSet == Set("3 apples", "1 pear"))
  * })
  * }}}
  */
final class TestKafka private (cluster: MemoryCluster):

  /** The address for `ConsumerSettings.brokers` and `ProducerSettings.brokers`. */
  val address: String = s"memory-${TestKafka.numbers.incrementAndGet()}:0"

  /** Settings for keys and values that are texts. */
  def consumerSettings: ConsumerSettings[String, String] =
    ConsumerSettings(address, () => StringDeserializer(), () => StringDeserializer())

  /** Settings for keys and values that are texts. */
  def producerSettings: ProducerSettings[String, String] =
    ProducerSettings(address, () => StringSerializer(), () => StringSerializer())

  // ---- topics ----

  /** Creates a topic. **Fails** if there is one of that name. */
  def createTopic(name: String, partitions: Int = 1): Task[Unit] =
    Task.delay(cluster.create(name, partitions))

  /** Writes keys and values that are texts, each to the partition of its key. */
  def write(topic: String, records: (String, String)*): Task[Unit] =
    write(records.map((key, value) => ProducerRecord(topic, key, value)))

  /** Writes records of texts. */
  def write(records: Iterable[ProducerRecord[String, String]]): Task[Unit] = Task.delay {
    val producer = MemoryProducer(
      cluster,
      Map.empty,
      StringSerializer().asInstanceOf,
      StringSerializer().asInstanceOf
    )
    records.foreach(record => producer.send(record.asInstanceOf[ProducerRecord[Any, Any]]))
  }

  /** Returns the records of a topic as texts: those of each partition in their order. */
  def records(topic: String): Task[Vector[ConsumerRecord[String, String]]] = Task.delay {
    val texts = StringDeserializer()
    for
      partition <- (0 until cluster.partitionCount(topic)).toVector
      at = TopicPartition(topic, partition)
      (stored, offset) <- cluster.read(at, 0, Int.MaxValue).zipWithIndex
    yield
      val (key, value) =
        (texts.deserialize(topic, stored.key), texts.deserialize(topic, stored.value))
      val record = ConsumerRecord(topic, partition, offset.toLong, key, value)
      stored.headers.foreach(record.headers.add)
      record
  }

  // ---- groups ----

  /** Returns the offsets that a group has committed. */
  def committed(group: String): Task[Map[TopicPartition, Long]] =
    Task.delay(cluster.group(group).offsets.view.mapValues(_.offset).toMap)

  /** Returns the partitions of each member, in the order in which they joined. */
  def members(group: String): Task[Vector[Set[TopicPartition]]] =
    Task.delay(cluster.group(group).seats.map(_.owned))

  /** Gives each partition to the next member. Nothing is lost: the present member gives it up
    * first, as `KafkaConsumer` does at any revoke.
    */
  def rebalance(group: String): Task[Unit] = Task.delay(cluster.group(group).shift())

  /** Gives the partitions of a member to the others at once, as a group does when the session of
    * the member has expired. The member notices that it has lost them, and joins again.
    *
    * @param member
    *   its number from 0 on, in the order of `members`
    */
  def expire(group: String, member: Int): Task[Unit] = Task.delay {
    val of = cluster.group(group)
    of.expire(of.seat(member))
  }

  /** Cuts a member off: it reads and commits nothing, and the group gives it up after
    * `session.timeout.ms`, 45 seconds by default. Returns a task that ends this.
    */
  def cutOff(group: String, member: Int): Task[Task[Unit]] = Task.delay {
    val seat = cluster.group(group).seat(member)
    cluster.synchronized { seat.cutOffNanos = Some(cluster.clock.nanoTime) }
    Task.delay {
      cluster.synchronized { seat.cutOffNanos = None }
      cluster.changed()
    }
  }

  // ---- failures ----

  /** Makes the next poll of a member fail. */
  def failPoll(group: String, member: Int, error: Exception): Task[Unit] = Task.delay {
    val seat = cluster.group(group).seat(member)
    cluster.synchronized(seat.pollFailures.enqueue(error)): Unit
    cluster.changed()
  }

  /** Makes the next sends of producers fail, one with each error. */
  def failSends(errors: Exception*): Task[Unit] = Task.delay(cluster.failSends(errors))

object TestKafka:
  private val numbers = AtomicInteger()

  /** Brokers without topics. After the release, their address is not valid any more. */
  val resource: Resource[TestKafka] =
    val opened = Task.delay {
      val cluster = MemoryCluster(MemoryClients.Clock)
      val kafka = new TestKafka(cluster)
      (kafka, Clients.register(kafka.address, MemoryClients(cluster)))
    }
    Resource.make(opened)((_, registration) => Task.delay(registration.close())).map(_._1)
