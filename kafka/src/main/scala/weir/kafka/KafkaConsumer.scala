package weir.kafka

import org.apache.kafka.common.TopicPartition
import scala.util.matching.Regex
import weir.kafka.consumer.{Consumption, MemberLoop, PartitionStreams, Subscription}
import weir.{Stream, Task}

/** Reads topics as a member of a consumer group. The members share the partitions.
  *
  * A separate thread polls. If a stream is slow, its partitions are paused, and the member stays in
  * the group. **At least once**: a record is committed once it is done, even if it comes after one
  * that is not. `CommittableRecord.done` marks it as done, and so do operators such as
  * `parEvalMapByKey`. After a kill, the records in flight and those done since the last commit are
  * repeated.
  *
  * {{{
  * val settings =
  *   ConsumerSettings("localhost:9092", () => StringDeserializer(), () => StringDeserializer())
  * val billed = KafkaConsumer(settings)
  *   .records(Set("orders"), group = "billing")
  *   .parEvalMapByKey(256)(order => bill(order.value))
  * }}}
  */
final class KafkaConsumer[K, V](settings: ConsumerSettings[K, V]):

  /** Emits the records of the partitions that this member of the group gets, and does not end.
    *
    * At a revoke, no more records of the partition are emitted. The member waits, up to
    * `ConsumerSettings.revokeDeadline`, for the records in flight, which were emitted and are not
    * done. (Of the records that `parEvalMapByKey` has taken, only those whose task runs are in
    * flight.) Then the member commits.
    *
    * **Waits** for records. **Cancelled** at once. Records that are done are committed then; if the
    * broker does not answer, that takes up to six seconds. **Fails** with a [[KafkaFailure]],
    * within `ConsumerSettings.connectTimeout`, if no broker answers, a topic does not exist, or the
    * broker refuses the credentials or the group. If a broker becomes unavailable later, the stream
    * waits for it. A later error, such as a record that cannot be decoded, fails the stream after
    * the earlier records of its partition, and after the records of other partitions that have been
    * read by then. Until the stream is over, records that are done are committed. **Order**: that
    * of each partition.
    *
    * {{{
    * consumer.records(Set("orders"), "billing").evalTap(r => bill(r.value).andThen(r.done))
    * consumer.records("orders-.*".r, "billing") // and topics that are created later
    * }}}
    *
    * @param topics
    *   the names of topics, which must exist; or an expression that the whole names match. Topics
    *   that are created later are found after `metadata.max.age.ms`, five minutes by default
    */
  def records(topics: Set[String] | Regex, group: String): Stream[CommittableRecord[K, V]] =
    Stream.fromSource(
      Consumption.merged(settings, Subscription.of(topics), named(group), MemberLoop(group))
    )

  /** As `records`, but emits a record that cannot be decoded as an [[UndecodableRecord]], which has
    * its bytes and the error.
    *
    * {{{
    * consumer
    *   .recordsAttempted(Set("orders"), "billing")
    *   .parEvalMapByKey(256, attempts = Attempts(5, deadLetters = Some(letters)))(bill)
    * }}}
    */
  def recordsAttempted(
      topics: Set[String] | Regex,
      group: String
  ): Stream[CommittableRecord[K, V] | UndecodableRecord] =
    Stream.fromSource(
      Consumption.attempted(settings, Subscription.of(topics), named(group), MemberLoop(group))
    )

  /** Emits a stream for each partition that this member of the group gets, and does not end. Run
    * these streams at the same time, as by `parJoinUnbounded`.
    *
    * If the stream of a partition is slow, or is not run, the partition is paused and delays no
    * other. When it is revoked, its stream ends. A record that cannot be decoded fails the stream
    * of its partition. A later error of the broker fails each of them, after the records that have
    * been read. Otherwise as `records`.
    *
    * {{{
    * consumer
    *   .partitions(Set("orders"), "billing")
    *   .map(partition => partition.records.evalTap(r => bill(r.value).andThen(r.done)))
    *   .parJoinUnbounded
    * }}}
    */
  def partitions(topics: Set[String] | Regex, group: String): Stream[AssignedPartition[K, V]] =
    Stream.fromSource(
      PartitionStreams.open(settings, Subscription.of(topics), named(group), MemberLoop(group))
    )

  /** Returns a member of the group that has not joined yet. It has the streams above, and can be
    * observed and controlled while it reads: lag, a graceful stop, pauses, seeks.
    *
    * {{{
    * for
    *   member <- consumer.member(Set("orders"), "billing")
    *   work = member.records.parEvalMapByKey(256)(order => bill(order.value)).drain
    *   _ <- Task.race(member.stopOnCancel(work), reportEachMinute(member.progress))
    * yield ()
    * }}}
    */
  def member(topics: Set[String] | Regex, group: String): Task[GroupMember[K, V]] =
    val subscription = Subscription.of(topics)
    val name = named(group)
    Task.delay(GroupMember(settings, subscription, name))

  /** Emits the records of these partitions from these positions on, and does not end. It belongs to
    * no group: no group assigns its partitions, and nothing is committed. If you need the offsets
    * later, store them elsewhere. `done` has no effect, and `ConsumerSettings.startAt` is not used.
    * Otherwise as `records`.
    *
    * {{{
    * consumer
    *   .recordsOf(Map(TopicPartition("orders", 0) -> Position.Earliest))
    *   .takeWhile(_.timestamp < noon)
    * }}}
    */
  def recordsOf(partitions: Map[TopicPartition, Position]): Stream[CommittableRecord[K, V]] =
    require(
      partitions.nonEmpty,
      "KafkaConsumer.recordsOf: no partition was given. Give one at least."
    )
    val startAt = StartAt.kept(_ => Task.pure(partitions))
    val fixed = Subscription.Fixed(partitions.keySet)
    val reading = settings.copy(startAt = startAt)
    Stream.fromSource(Consumption.merged(reading, fixed, group = "", MemberLoop("")))

  private def named(group: String): String =
    require(group.nonEmpty, "KafkaConsumer: the group was empty. Name one.")
    group
