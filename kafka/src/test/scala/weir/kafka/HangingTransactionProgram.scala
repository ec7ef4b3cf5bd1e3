package weir.kafka

import java.time.Duration
import java.util.concurrent.ThreadLocalRandom
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsOptions
import org.apache.kafka.clients.consumer.{ConsumerGroupMetadata, OffsetAndMetadata}
import org.apache.kafka.clients.producer.{KafkaProducer as Client, ProducerRecord}
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.serialization.StringSerializer
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import scala.util.Using
import weir.Task

/** Shows by Kafka's producer alone that a broker which was killed may leave transactions open in
  * their partitions that it calls aborted (KAFKA-20734, Kafka 4.4.0), and that
  * `KafkaAdmin.hangingTransactions` finds them and `abort` ends them.
  *
  * A broker that starts again is the leader of `__transaction_state` by the metadata that it finds.
  * It aborts the transactions whose time is over. If its former life is fenced before it has sent
  * the markers, then no partition has a leader. It takes such a partition for a deleted one, sends
  * no marker to it, and calls the transaction complete.
  *
  * Its argument: the number of rounds. It needs the system properties that the build gives to the
  * tests of this module.
  */
object HangingTransactionProgram:
  private val (topic, offsets, producers) = ("results", "__consumer_offsets", 20)

  def main(arguments: Array[String]): Unit =
    val rounds = arguments(0).toInt
    Using.resource(ChaosCluster(1, 0)): cluster =>
      cluster.topic(topic, 2)
      val found = (1 to rounds).count(leavesOpen(cluster, _))
      println(s"transactions were left open in $found of $rounds rounds")
    sys.exit()

  private def leavesOpen(cluster: ChaosCluster, round: Int): Boolean =
    val clients = (0 until producers).map(n => begin(cluster.address, s"$round-$n"))
    cluster.kill(0, ThreadLocalRandom.current.nextInt(2500).millis)
    clients.foreach(_.close(Duration.ZERO))
    Thread.sleep(10_000) // the broker aborts what is open by then
    val (before, after) = KafkaAdmin
      .resource(cluster.address, timeout = 30.seconds)
      .use { admin =>
        for
          before <- admin.hangingTransactions(Set(topic, offsets))
          _ <- Task.traverse(before)(admin.abort)
          after <- admin.hangingTransactions(Set(topic, offsets))
        yield (before, after)
      }
      .runSync()
    val stable = (0 until producers).count(n => isStable(cluster, s"$round-$n"))
    println(s"$round: ${before.size} open, ${after.size} after abort, $stable groups are stable")
    before.foreach(one => println(s"  $one"))
    if after.nonEmpty || stable < producers then throw AssertionError("not all are aborted")
    before.nonEmpty

  /** Its transaction is open, and its time soon over. */
  @scala.annotation.nowarn("cat=deprecation") // of the metadata of a group without members
  private def begin(address: String, name: String): Client[String, String] =
    val producer = Client[String, String](
      Map[String, AnyRef](
        "bootstrap.servers" -> address,
        "transactional.id" -> name,
        "transaction.timeout.ms" -> "1000"
      ).asJava,
      StringSerializer(),
      StringSerializer()
    )
    producer.initTransactions()
    producer.beginTransaction()
    producer.send(ProducerRecord(topic, name, name)).get(): Unit
    val done = java.util.Map.of(TopicPartition(topic, 0), OffsetAndMetadata(1))
    producer.sendOffsetsToTransaction(done, ConsumerGroupMetadata(name))
    producer

  private def isStable(cluster: ChaosCluster, group: String): Boolean =
    val options = ListConsumerGroupOffsetsOptions().requireStable(true)
    val found = cluster.admin.listConsumerGroupOffsets(group, options)
    try found.partitionsToOffsetAndMetadata.get != null
    catch case _: Exception => false
