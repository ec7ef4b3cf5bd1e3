package weir.kafka

import java.nio.ByteBuffer
import java.util.concurrent.ConcurrentHashMap
import org.apache.kafka.common.TopicPartition
import weir.{Semaphore, Stream, Task}

extension [K, V](records: Stream[CommittableRecord[K, V] | UndecodableRecord])

  /** Runs the task that `f` returns for each record, and emits its value. At most `parallelism`
    * tasks run at a time, and one at a time for each key of a partition. A record is done once its
    * task has succeeded, so put everything that must happen before that into the task. Records
    * without a key are in no order.
    *
    * A record that fails is tried again as `attempts` says. After the last attempt it is written to
    * the dead letters, and the stream has no value for it. A record of `recordsAttempted` that
    * cannot be decoded is written there at once. Up to `buffer` more records are taken, which wait
    * for their key or their next attempt.
    *
    * **Fails** with the first error of a task, which cancels the other tasks; their records are not
    * done. An error of `records`, such as a record that cannot be decoded, fails the stream once
    * all records that were taken before it are done. **Order**: for each key, that of the records;
    * otherwise that in which the tasks end. A key that is slow, or fails, delays no other key,
    * until `buffer` of its records wait.
    *
    * {{{
    * consumer.records(Set("orders"), "billing").parEvalMapByKey(256)(order => bill(order.value))
    * }}}
    */
  def parEvalMapByKey[B](
      parallelism: Int,
      buffer: Int = 4096,
      attempts: Attempts[DeadLetters] = Attempts.once
  )(f: CommittableRecord[K, V] => Task[B]): Stream[B] =
    KeyedRecords(records, parallelism, buffer, attempts, f)

private object KeyedRecords:
  def apply[K, V, B](
      records: Stream[CommittableRecord[K, V] | UndecodableRecord],
      parallelism: Int,
      buffer: Int,
      attempts: Attempts[DeadLetters],
      f: CommittableRecord[K, V] => Task[B]
  ): Stream[B] =
    require(
      parallelism >= 1 && buffer >= 0,
      s"Stream.parEvalMapByKey: the parallelism was $parallelism and the buffer $buffer. " +
        "They must be at least 1 and 0."
    )
    if attempts.max == 1 && attempts.deadLetters.isEmpty then
      records
        .map(decoded)
        .parEvalMapBy(parallelism, buffer)(keyOf)(record => ifBegun(record)(f(record)))
        .unNone
    else
      Stream.suspend {
        val permits = Semaphore.unsafe(parallelism)
        val retried = Retried(permits, attempts, f)
        // The buffer also holds the records that wait for a permit, or for the end of their
        // back-off.
        val running = (parallelism + buffer.toLong).min(Int.MaxValue).toInt
        attempts.deadLetters match
          case None =>
            records.map(decoded).parEvalMapBy(running, buffer = 0)(keyOf)(retried(_)).unNone
          case Some(letters) =>
            records
              .map(heldBack)
              .parEvalMapBy(running, buffer = 0)(keyOf) {
                case record: CommittableRecord[K, V] @unchecked => retried(record)
                case undecodable: UndecodableRecord =>
                  permits.withPermit(dead(letters, undecodable)).as(None)
              }
              .unNone
      }

  /** An error here is one of upstream, which comes after all that was taken before it. */
  private def decoded[K, V](
      record: CommittableRecord[K, V] | UndecodableRecord
  ): CommittableRecord[K, V] = heldBack(record) match
    case undecodable: UndecodableRecord => throw undecodable.error
    case record: CommittableRecord[K, V] @unchecked => record

  private def heldBack[R <: CommittableRecord[?, ?] | UndecodableRecord](record: R): R =
    UndecodableRecord.recordOf(record).holdBack()
    record

  private def dead(letters: DeadLetters, undecodable: UndecodableRecord): Task[Any] =
    val record = undecodable.record
    ifBegun(record)(letters.send(record.bytes, undecodable.cause, attempts = 0))

  /** Runs `task`, and marks the record as done. Returns none if the partition has gone before the
    * record could begin.
    */
  private def ifBegun[B](record: CommittableRecord[?, ?])(task: => Task[B]): Task[Option[B]] =
    Task.defer {
      if !record.begin() then Task.pure(None)
      else
        task.map { value =>
          record.markDone()
          Some(value)
        }
    }

  /** Returns the key by which a record is ordered among others. It names the partition, not this
    * assignment of it. So if a partition comes back, its first records wait for those that still
    * run.
    */
  private[kafka] def keyOf(record: CommittableRecord[?, ?] | UndecodableRecord): AnyRef =
    record match
      case _: UndecodableRecord => new Object
      case record: CommittableRecord[?, ?] =>
        record.key match
          case null => new Object
          case bytes: Array[Byte] => PartitionKey(record.topicPartition, ByteBuffer.wrap(bytes))
          case key => PartitionKey(record.topicPartition, key)

  private final case class PartitionKey(partition: TopicPartition, key: Any)

  /** Runs a record's task up to the number of attempts. It holds a permit only while the task runs.
    */
  private final class Retried[K, V, B](
      permits: Semaphore,
      attempts: Attempts[DeadLetters],
      f: CommittableRecord[K, V] => Task[B]
  ):
    /** The keys of records that have failed and are left to the next run: a later record of such a
      * key must not be done before them.
      */
    private val keysLeft = ConcurrentHashMap.newKeySet[AnyRef]()
    private val schedule = attempts.schedule

    /** Returns none for a dead letter, and for a record that is left to the next run: its partition
      * has gone before it could begin, or it has failed when the stream is about to fail, which
      * only waits for those that are in flight.
      */
    def apply(record: CommittableRecord[K, V]): Task[Option[B]] = Task.defer {
      val key = keyOf(record)
      if keysLeft.contains(key) then Task.pure(None) else attempt(record, key)
    }

    private def attempt(record: CommittableRecord[K, V], key: AnyRef): Task[Option[B]] =
      var tried = 0
      // It is held back but while it runs: see `begin`.
      val once = ifBegun(record) {
        tried += 1
        f(record)
      }.onError { case _ => Task.delay(record.holdBack()) }
      permits
        .withPermit(once)
        .retry(schedule.whileInput(_ => !record.isLeftToNextRun))
        .handleErrorWith { error =>
          if record.isLeftToNextRun && tried < attempts.max then
            Task.delay(keysLeft.add(key)).as(None)
          else
            attempts.deadLetters match
              case None => Task.fail(error)
              case Some(letters) =>
                ifBegun(record)(letters.send(record.bytes, error, tried)).as(None)
        }
