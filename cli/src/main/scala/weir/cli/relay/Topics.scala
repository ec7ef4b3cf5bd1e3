package weir.cli.relay

import java.util.concurrent.ExecutionException
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.*
import scala.util.Try

import org.apache.kafka.clients.admin.{Admin, AdminClientConfig, NewTopic, OffsetSpec}
import org.apache.kafka.common.TopicPartition
import org.apache.kafka.common.errors.{
  TimeoutException,
  TopicExistsException,
  UnknownTopicOrPartitionException
}

import weir.program.BadInput

/** Asks the brokers about topics and groups. Each call **waits** for them, and **fails** with a
  * [[BadInput]] if they do not answer.
  *
  * @param isAwaited
  *   returns true if the call should ask again after that time without an answer
  */
final class Topics(brokers: String, isAwaited: FiniteDuration => Boolean = _ => false)
    extends AutoCloseable:
  private val admin =
    try
      Admin.create(
        Map[String, AnyRef](
          AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG -> brokers,
          AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG -> Topics.timeout.toMillis.toString,
          AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG -> Topics.timeout.toMillis.toString
        ).asJava
      )
    catch
      case error: Exception =>
        val why = Option(error.getCause).getOrElse(error).getMessage
        throw BadInput("--brokers", s"$brokers cannot be used: $why.", "Give HOST:PORT.")

  /** Creates the topics that do not exist. */
  def ensure(names: Seq[String], partitions: Int): Unit =
    val wanted = names.map(NewTopic(_, partitions, 1: Short))
    for topic <- wanted do
      try answer(admin.createTopics(java.util.List.of(topic)).all.get): Unit
      catch case _: TopicExistsException => ()
    while names.exists(name => Try(partitionsOf(name)).toOption.forall(_.size < partitions)) do
      Thread.sleep(20)
    // Their leaders serve them. A producer that begins earlier may hang: KAFKA-14359.
    names.foreach(ends(_): Unit)

  /** **Fails** with [[BadInput]] where there is no such topic.
    */
  def check(option: String, name: String): Unit =
    try partitionsOf(name): Unit
    catch
      case _: UnknownTopicOrPartitionException =>
        throw BadInput(option, s"there is no topic '$name' at $brokers.", "Create it first.")

  /** Returns the partitions that have a leader. */
  private def partitionsOf(name: String): Seq[TopicPartition] =
    val described = answer(admin.describeTopics(java.util.List.of(name)).allTopicNames.get)
    described
      .get(name)
      .partitions
      .asScala
      .toSeq
      .filter(_.leader != null)
      .map(found => TopicPartition(name, found.partition))

  /** Returns the offsets after the last records. */
  def ends(name: String): Map[TopicPartition, Long] = offsets(name, OffsetSpec.latest)

  private def offsets(name: String, spec: OffsetSpec): Map[TopicPartition, Long] =
    val asked = partitionsOf(name).map(partition => partition -> spec).toMap
    val found = answer(admin.listOffsets(asked.asJava).all.get).asScala
    found.map((partition, at) => partition -> at.offset).toMap

  /** Returns the number of records that the group has left below these offsets. */
  def left(group: String, ends: Map[TopicPartition, Long]): Long =
    val committed =
      answer(admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata.get).asScala
    val starts =
      ends.keys.headOption.fold(Map.empty)(first => offsets(first.topic, OffsetSpec.earliest))
    ends.map { (partition, end) =>
      val at = committed.get(partition).filter(_ != null).map(_.offset)
      math.max(0, end - at.getOrElse(starts.getOrElse(partition, 0L)))
    }.sum

  def close(): Unit = admin.close(java.time.Duration.ofSeconds(1))

  private def answer[A](body: => A): A =
    val start = System.nanoTime()
    var answer = Option.empty[A]
    while answer.isEmpty do
      try answer = Some(body)
      catch
        case error: ExecutionException =>
          error.getCause match
            case known: (UnknownTopicOrPartitionException | TopicExistsException) => throw known
            case _: TimeoutException if isAwaited((System.nanoTime() - start).nanos) => ()
            case cause =>
              throw BadInput(
                "--brokers",
                s"$brokers gave no answer (${cause.getMessage.stripSuffix(".")}).",
                "Check the address."
              )
    answer.get

object Topics:
  private val timeout: FiniteDuration = 8.seconds
