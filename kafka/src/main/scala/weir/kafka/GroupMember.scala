package weir.kafka

import org.apache.kafka.common.{Metric, MetricName, TopicPartition}
import scala.concurrent.duration.{DurationInt, FiniteDuration}
import weir.kafka.consumer.{
  Consumption,
  MemberFigures,
  MemberLoop,
  PartitionRequests,
  PartitionStreams,
  Subscription
}
import weir.{Resource, Stream, Task}

/** A member of a consumer group, which can be observed and controlled while it reads.
  * `KafkaConsumer.member` makes it. It joins the group when one of its streams begins to run, and
  * leaves it when that stream is over. It reads once: run one of its streams, one time.
  *
  * {{{
  * for
  *   member <- consumer.member(Set("orders"), "billing")
  *   work = member.records.parEvalMapByKey(256)(order => bill(order.value)).drain
  *   _ <- Task.race(member.stopOnCancel(work), reportEachMinute(member.progress))
  * yield ()
  * }}}
  *
  * The other methods see no partitions before the stream begins and after it is over. A `stop`
  * before the beginning ends the stream as soon as it begins. The poll thread answers them between
  * two polls, and not while it waits for the records in flight of a revoke.
  */
final class GroupMember[K, V] private[kafka] (
    settings: ConsumerSettings[K, V],
    subscription: Subscription,
    group: String
):
  private val loop = MemberLoop(group)

  /** See `KafkaConsumer.records`. */
  def records: Stream[CommittableRecord[K, V]] =
    Stream.fromSource(Consumption.merged(settings, subscription, group, loop))

  /** See `KafkaConsumer.recordsAttempted`. */
  def recordsAttempted: Stream[CommittableRecord[K, V] | UndecodableRecord] =
    Stream.fromSource(Consumption.attempted(settings, subscription, group, loop))

  /** See `KafkaConsumer.partitions`. */
  def partitions: Stream[AssignedPartition[K, V]] =
    Stream.fromSource(PartitionStreams.open(settings, subscription, group, loop))

  // ---- the end ----

  /** Ends the stream gracefully: no further record begins, and the stream ends once the records in
    * flight are done and committed. So nothing is repeated, and others get the partitions at once.
    * Records that wait for their key or their next attempt are left to the next owner. As at a
    * revoke, the commit waits for the records in flight at most for
    * `ConsumerSettings.revokeDeadline`; a task that takes longer continues, and its record is
    * repeated.
    *
    * Does not wait. When the stream has ended, all of these records are committed.
    *
    * {{{
    * val untilNoon = Task.race(work, Task.sleep(toNoon).andThen(member.stop).andThen(Task.never))
    * }}}
    */
  def stop: Task[Unit] = Task.delay(loop.leave())

  /** Runs `work`, which runs a stream of this member. A cancel, such as that of an application at
    * SIGTERM, stops the member instead of `work`, as `stop` does.
    *
    * **Waits** until `work` has ended. **Cancelled**: waits for that too, and `work` itself is not
    * cancelled. So limit its time. **Fails** as `work` does.
    *
    * {{{
    * member.stopOnCancel(member.records.parEvalMapByKey(256)(order => bill(order.value)).drain)
    * }}}
    */
  def stopOnCancel[A](work: Task[A]): Task[A] = Task.uncancelable { poll =>
    work.start.flatMap { fiber =>
      poll(fiber.join).onCancel(stop.andThen(fiber.joinOrFail).void).map(_.get)
    }
  }

  // ---- what it has and does ----

  /** Returns the partitions that this member has. */
  def assigned: Task[Set[TopicPartition]] = loop.ask(Set.empty)(_.assigned)

  /** Returns the progress in each of the partitions that this member has. It counts records that
    * are done. (Kafka's own metrics count those that are committed or fetched.) **Waits** for the
    * brokers, at most about a second.
    */
  def progress: Task[Map[TopicPartition, PartitionProgress]] =
    loop.ask(Map.empty)(_.progress)

  /** Asks for the `progress` at once and then once in each `every`, and adds it to the metrics of
    * the JVM while the resource is in use, with the group as the name: see `weir.metrics.Metrics`.
    * There are no metrics before the stream begins and after it is over, and no lag while the
    * brokers do not answer.
    *
    * **Fails** with an `IllegalArgumentException` if `every` is less than a second.
    *
    * {{{
    * consumer.member(Set("orders"), "billing").flatMap { member =>
    *   member.watched().use(_ => member.records.parEvalMapByKey(256)(o => bill(o.value)).drain)
    * }
    * }}}
    */
  def watched(every: FiniteDuration = 10.seconds): Resource[Unit] =
    require(
      every >= 1.second,
      s"GroupMember.watched: every was $every. It must be at least 1 second: the brokers are " +
        "asked each time."
    )
    MemberFigures(group, progress, every).watched

  /** Returns the metrics of Kafka's client. */
  def metrics: Task[Map[MetricName, Metric]] = Task.delay(loop.metrics)

  // ---- steering ----

  /** Emits no more records of these partitions, and fetches none, until `resume`. Of each
    * partition, up to 500 records that were taken already may still be emitted. If the member loses
    * a partition and gets it back, it is no longer paused. The other partitions continue, and the
    * member stays in its group.
    *
    * **Fails** with a [[KafkaFailure]] if this member does not have all of the partitions.
    */
  def pause(partitions: Set[TopicPartition]): Task[Unit] = steer(partitions)(_.pause(partitions))

  /** Ends a `pause`. **Fails** as it does. */
  def resume(partitions: Set[TopicPartition]): Task[Unit] = steer(partitions)(_.resume(partitions))

  /** Returns the offset of the first record that is not done, to which the next commit is made.
    *
    * **Waits** for the brokers if nothing has been read. **Fails** as `pause`.
    */
  def position(partition: TopicPartition): Task[Long] =
    steer(Set(partition))(_.position(partition))

  /** Continues at another position, and commits that. Records that were not emitted yet are
    * dropped. The tasks of records in flight run to their end, but these records are not committed.
    * In `partitions` the stream of the partition ends, and another one begins.
    *
    * **Waits** for the brokers. **Fails** as `pause`, and if the brokers do not answer.
    */
  def seek(partition: TopicPartition, to: Position): Task[Unit] =
    steer(Set(partition))(_.seek(partition, to))

  private def steer[A](partitions: Set[TopicPartition])(
      call: PartitionRequests => A
  ): Task[A] =
    loop.ask(throw KafkaFailure.notAssigned(settings.brokers, group, partitions))(call)
