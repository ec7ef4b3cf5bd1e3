package weir.kafka

import weir.Stream
import weir.kafka.consumer.{Consumption, PartitionStreams}

/** Reads topics as a member of a consumer group, whose members share the partitions.
  *
  * A thread of its own polls, whatever the streams do: a stream that takes its time has its
  * partitions paused, and never falls out of the group. **At least once**: what is committed is
  * what is done (`CommittableRecord.done`, or an operator such as `parEvalMapByKey` that says so by
  * itself), also beyond a record that is not. After a kill, those are repeated that were in flight,
  * or were done since the last commit.
  *
  * {{{
  * val settings = ConsumerSettings("localhost:9092", StringDeserializer(), StringDeserializer())
  * val billed = KafkaConsumer(settings)
  *   .records(Set("orders"), group = "billing")
  *   .parEvalMapByKey(256)(order => bill(order.value))
  * }}}
  */
final class KafkaConsumer[K, V](settings: ConsumerSettings[K, V]):

  /** The records of the partitions that this member of the group gets, without an end.
    *
    * A revoke hands out no more records of the partition and waits, up to
    * `ConsumerSettings.revokeDeadline`, for those that are in flight: handed out, and not done (of
    * those that `parEvalMapByKey` has taken, the ones whose task runs). Then it commits.
    *
    * **Waits** for records. **Cancelled** at once; what is done is committed then, for which it
    * waits up to six seconds where the broker is away. **Fails** with [[KafkaFailure]], within
    * `ConsumerSettings.connectTimeout`, where no broker answers, a topic is not there, or the
    * broker refuses the credentials or the group. A broker that goes away later is waited for.
    * **Order**: that of each partition.
    *
    * {{{
    * consumer.records(Set("orders"), "billing").evalTap(r => bill(r.value).andThen(r.done))
    * }}}
    */
  def records(topics: Set[String], group: String): Stream[CommittableRecord[K, V]] =
    Stream.fromSource(Consumption.merged(settings, topics, group))

  /** A stream for each partition that is assigned to this member of the group, as they come,
    * without an end. They are to be run at the same time, as by `parJoinUnbounded`.
    *
    * A partition whose stream is slow, or is not run, is paused and holds up no other. When it is
    * revoked, its stream ends. Otherwise as `records`.
    *
    * {{{
    * consumer
    *   .partitions(Set("orders"), "billing")
    *   .map(partition => partition.records.evalTap(r => bill(r.value).andThen(r.done)))
    *   .parJoinUnbounded
    * }}}
    */
  def partitions(topics: Set[String], group: String): Stream[AssignedPartition[K, V]] =
    Stream.fromSource(PartitionStreams.open(settings, topics, group))
