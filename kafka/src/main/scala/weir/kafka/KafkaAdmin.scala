package weir.kafka

import java.time.Duration
import java.util.Optional
import java.util.concurrent.{CompletionException, ExecutionException}
import org.apache.kafka.clients.admin.{
  AbortTransactionSpec,
  Admin,
  AdminClientConfig,
  AlterConfigOp,
  ConfigEntry,
  ConsumerGroupDescription,
  ListTransactionsOptions,
  NewTopic,
  OffsetSpec
}
import org.apache.kafka.clients.consumer.OffsetAndMetadata
import org.apache.kafka.common.config.ConfigResource
import org.apache.kafka.common.errors.TopicExistsException
import org.apache.kafka.common.{KafkaFuture, TopicPartition}
import scala.concurrent.duration.{DurationInt, FiniteDuration}
import scala.jdk.CollectionConverters.*
import weir.kafka.consumer.{DoneMap, OffsetTracker}
import weir.{Resource, Task}

/** The requests to the brokers that most programs need: for topics, offsets and groups. For all
  * others, use `client`, Kafka's own.
  *
  * Each method **waits** for the brokers, at most for the timeout of the resource, and **fails**
  * with a [[KafkaFailure]] if they do not answer, refuse, or do not have the topic.
  *
  * {{{
  * KafkaAdmin.resource("localhost:9092").use { admin =>
  *   admin.createTopic("orders", partitions = 12).andThen(admin.lag("billing"))
  * }
  * }}}
  */
final class KafkaAdmin private (val client: Admin, brokers: String):

  // ---- topics ----

  /** Creates a topic, and **waits** until its partitions can be read and written. Returns false if
    * there is one of that name.
    *
    * @param replicas
    *   0 for the number that the brokers choose
    * @param properties
    *   of the topic, such as `cleanup.policy`
    */
  def createTopic(
      name: String,
      partitions: Int,
      replicas: Int = 0,
      properties: Map[String, String] = Map.empty
  ): Task[Boolean] =
    val copies =
      if replicas == 0 then Optional.empty[java.lang.Short]
      else Optional.of(java.lang.Short.valueOf(replicas.toShort))
    def topic = NewTopic(name, Optional.of(Integer.valueOf(partitions)), copies)
      .configs(properties.asJava)
    val made = ask(name)(client.createTopics(java.util.List.of(topic)).all)
      .as(true)
      .recoverWith {
        case failure: KafkaFailure if failure.getCause.isInstanceOf[TopicExistsException] =>
          Task.pure(false)
      }
    made.flatMap { isNew =>
      val ends = (0 until partitions).map(TopicPartition(name, _) -> Position.Latest).toMap
      // A producer that begins before its leaders serve it may hang: KAFKA-14359.
      if isNew then offsets(ends).as(true) else Task.pure(false)
    }

  /** Deletes a topic with its records. */
  def deleteTopic(name: String): Task[Unit] =
    ask(name)(client.deleteTopics(java.util.List.of(name)).all).void

  /** Returns the topics, except Kafka's internal ones. */
  def topics: Task[Set[String]] = ask("topics")(client.listTopics.names).map(_.asScala.toSet)

  /** Returns the partitions of the topics. */
  def partitions(topics: Set[String]): Task[Set[TopicPartition]] =
    ask(topics.mkString(", "))(client.describeTopics(topics.asJava).allTopicNames).map { found =>
      for
        (name, topic) <- found.asScala.toSet
        partition <- topic.partitions.asScala
      yield TopicPartition(name, partition.partition)
    }

  // ---- offsets ----

  /** Returns the offsets of these positions. */
  def offsets(positions: Map[TopicPartition, Position]): Task[Map[TopicPartition, Long]] =
    val known = positions.collect { case (partition, Position.Offset(offset)) =>
      partition -> offset
    }
    val specs = positions.collect {
      case (partition, Position.Earliest) => partition -> OffsetSpec.earliest
      case (partition, Position.Latest) => partition -> OffsetSpec.latest
      case (partition, Position.Time(at)) => partition -> OffsetSpec.forTimestamp(at.toEpochMilli)
    }
    if specs.isEmpty then Task.pure(known)
    else
      val names = specs.keySet.map(_.topic).mkString(", ")
      ask(names)(client.listOffsets(specs.asJava).all).flatMap { found =>
        val asked = found.asScala.toMap.map((partition, at) => partition -> at.offset)
        val (later, none) = asked.partition(_._2 >= 0) // -1: nothing was written since that time
        if none.isEmpty then Task.pure(known ++ later)
        else offsets(none.map((at, _) => at -> Position.Latest)).map(known ++ later ++ _)
      }

  /** Returns the offsets that the next records of these topics will have. */
  def endOffsets(topics: Set[String]): Task[Map[TopicPartition, Long]] =
    partitions(topics).flatMap(all => offsets(all.iterator.map(_ -> Position.Latest).toMap))

  // ---- groups ----

  /** Returns the names of the groups of consumers. */
  def groups: Task[Set[String]] = ask("groups")(client.listGroups.all).map { found =>
    found.asScala.iterator.map(_.groupId).toSet
  }

  /** Returns the state and the members of a group. */
  def describe(group: String): Task[ConsumerGroupDescription] =
    ask(group)(client.describeConsumerGroups(java.util.List.of(group)).all).map(_.get(group).nn)

  /** Sets properties of a group, which apply to all its members, such as the position at which a
    * new share group begins. By default a share group begins with the records that are written
    * after its first member has joined.
    *
    * {{{
    * admin.configureGroup("senders", Map("share.auto.offset.reset" -> "earliest"))
    * }}}
    */
  def configureGroup(group: String, properties: Map[String, String]): Task[Unit] =
    val changes: java.util.Collection[AlterConfigOp] = properties.toVector.map { (name, value) =>
      AlterConfigOp(ConfigEntry(name, value), AlterConfigOp.OpType.SET)
    }.asJava
    val resource = ConfigResource(ConfigResource.Type.GROUP, group)
    ask(group)(client.incrementalAlterConfigs(java.util.Map.of(resource, changes)).all).void

  /** Returns the offsets that a group has committed. */
  def committed(group: String): Task[Map[TopicPartition, Long]] =
    commits(group).map(_.map((partition, commit) => partition -> commit.offset))

  /** Sets the offsets at which a group continues. The group must have no members.
    *
    * {{{
    * admin.commit("billing", Map(TopicPartition("orders", 0) -> 0L))
    * }}}
    */
  def commit(group: String, offsets: Map[TopicPartition, Long]): Task[Unit] =
    val commits = offsets.map((partition, offset) => partition -> OffsetAndMetadata(offset))
    ask(group)(client.alterConsumerGroupOffsets(group, commits.asJava).all).void

  /** Returns the number of records that are left in the partitions in which a group has committed.
    * Records that Weir's consumers have done beyond the committed offset are not counted.
    */
  def lag(group: String): Task[Map[TopicPartition, Long]] =
    commits(group).flatMap { commits =>
      offsets(commits.map((partition, _) => partition -> Position.Latest)).map { ends =>
        ends.map((partition, end) => partition -> KafkaAdmin.left(commits(partition), end))
      }
    }

  // ---- transactions ----

  /** Returns the transactions that are open in a partition of these topics, but not for the brokers
    * that coordinate transactions. So nothing will end them. Readers of committed records wait at
    * the first record of such a transaction. A transaction in `__consumer_offsets` holds offsets:
    * no member of the group begins to read the partitions of these offsets.
    *
    * {{{
    * admin.hangingTransactions(Set("__consumer_offsets", "invoices"))
    *   .flatMap(Task.traverse(_)(admin.abort))
    * }}}
    *
    * Brokers of the versions 4.3 and 4.4 leave such transactions if they are killed while one is
    * open, and restart after its timeout (KAFKA-20734).
    */
  def hangingTransactions(topics: Set[String]): Task[Vector[HangingTransaction]] =
    partitions(topics).flatMap { partitions =>
      openTransactions(partitions).flatMap { before =>
        if before.isEmpty then Task.pure(before)
        else
          for
            known <- knownTransactions(before.iterator.map(_.producerId).toSet)
            // One that is open before and after the coordinators answer was open then.
            after <- openTransactions(partitions)
          yield before.filter(one => after.contains(one) && !known(one.producerId -> one.partition))
      }
    }

  /** Aborts a transaction in its partition. Its records there are never seen. */
  def abort(hanging: HangingTransaction): Task[Unit] =
    val spec = AbortTransactionSpec(
      hanging.partition,
      hanging.producerId,
      hanging.producerEpoch.toShort,
      hanging.coordinatorEpoch
    )
    ask(hanging.partition.toString)(client.abortTransaction(spec).all).void

  /** Returns all open transactions, including those that are still in use. */
  private[kafka] def openTransactions(
      partitions: Set[TopicPartition]
  ): Task[Vector[HangingTransaction]] =
    ask(partitions.mkString(", "))(client.describeProducers(partitions.asJava).all).map { found =>
      for
        (partition, states) <- found.asScala.toVector
        producer <- states.activeProducers.asScala
        if producer.currentTransactionStartOffset.isPresent
      yield HangingTransaction(
        partition,
        producer.currentTransactionStartOffset.getAsLong,
        producer.producerId,
        producer.producerEpoch,
        producer.coordinatorEpoch.orElse(0)
      )
    }

  /** Returns the ids of the producers, with the partitions of their open transactions. */
  private def knownTransactions(producers: Set[Long]): Task[Set[(Long, TopicPartition)]] =
    val options = ListTransactionsOptions().filterProducerIds(producers.map(Long.box).asJava)
    for
      listed <- ask("transactions")(client.listTransactions(options).all)
      ids = listed.asScala.map(_.transactionalId).asJavaCollection
      described <- ask("transactions")(client.describeTransactions(ids).all)
    yield for
      transaction <- described.asScala.valuesIterator.toSet
      partition <- transaction.topicPartitions.asScala
    yield transaction.producerId -> partition

  private def commits(group: String): Task[Map[TopicPartition, OffsetAndMetadata]] =
    ask(group)(client.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata)
      .map(_.asScala.toMap.filter(_._2 != null))

  private def ask[A](of: String)(call: => KafkaFuture[A]): Task[A] =
    Task.fromCompletionStage(call.toCompletionStage).adaptError { case error =>
      val first = error match
        case wrapped: (CompletionException | ExecutionException) if wrapped.getCause != null =>
          wrapped.getCause
        case other => other
      KafkaAdmin.explain(brokers, of)(first)
    }

object KafkaAdmin:
  /** Opens a client of Kafka's administration.
    *
    * @param timeout
    *   the time within which the brokers must answer each request
    * @param properties
    *   further properties of Kafka's client, such as those for TLS and SASL
    */
  def resource(
      brokers: String,
      timeout: FiniteDuration = 8.seconds,
      properties: Map[String, String] = Map.empty
  ): Resource[KafkaAdmin] =
    val own = Map(
      AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG -> timeout.toMillis.toString,
      AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG -> timeout.toMillis.toString
    )
    val all = own ++ properties + (AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG -> brokers)
    Resource.make(Task.delay {
      try
        new KafkaAdmin(
          Admin.create(all.asJava.asInstanceOf[java.util.Map[String, AnyRef]]),
          brokers
        )
      catch
        case error: Exception =>
          throw KafkaFailure.explain(brokers, "this client", Set.empty)(error)
    })(admin => Task.delay(admin.client.close(Duration.ZERO)))

  private def explain(brokers: String, of: String)(error: Throwable): Throwable =
    KafkaFailure.explain(brokers, "this client", Set(of))(error) match
      case failure: KafkaFailure => failure
      case other => KafkaFailure(s"Kafka at $brokers refused a request for '$of': $other.", other)

  private def left(commit: OffsetAndMetadata, end: Long): Long =
    DoneMap.decode(commit.offset, commit.metadata) match
      case None => math.max(0, end - commit.offset)
      case restored => OffsetTracker(restored).undoneUntil(end)
