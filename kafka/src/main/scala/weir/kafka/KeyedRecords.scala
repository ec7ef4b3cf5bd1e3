package weir.kafka

import java.nio.ByteBuffer
import org.apache.kafka.common.TopicPartition
import weir.{Semaphore, Stream, Task}

extension [K, V](records: Stream[CommittableRecord[K, V]])

  /** Runs the task that `f` makes of each record, and emits its value. At most `parallelism` tasks
    * run at a time, and one at a time for each key of a partition. A record is done once its task
    * has succeeded, so put everything that must happen before into the task. Records without a key
    * are in no order.
    *
    * A record that fails is tried again as `attempts` says. Then it goes to the dead letters, and
    * the stream has no value for it. Up to `buffer` more records are taken, which wait for their
    * key or their next attempt.
    *
    * **Fails** with the first error, which cancels the other tasks; their records are not done.
    * **Order**: for each key, that of the records; otherwise that in which the tasks end. A key
    * that is slow, or fails, delays no other key, until `buffer` of its records wait.
    *
    * {{{
    * consumer.records(Set("orders"), "billing").parEvalMapByKey(256)(order => bill(order.value))
    * }}}
    */
  def parEvalMapByKey[B](
      parallelism: Int,
      buffer: Int = 4096,
      attempts: Attempts[K, V] = Attempts.once[K, V]
  )(f: CommittableRecord[K, V] => Task[B]): Stream[B] =
    KeyedRecords(records, parallelism, buffer, attempts, f)

private object KeyedRecords:
  def apply[K, V, B](
      records: Stream[CommittableRecord[K, V]],
      parallelism: Int,
      buffer: Int,
      attempts: Attempts[K, V],
      f: CommittableRecord[K, V] => Task[B]
  ): Stream[B] =
    require(
      parallelism >= 1 && buffer >= 0,
      s"Stream.parEvalMapByKey: the parallelism was $parallelism and the buffer $buffer. " +
        "They must be at least 1 and 0."
    )
    val held = records.map { record =>
      record.holdBack()
      record
    }
    if attempts.max == 1 && attempts.deadLetters.isEmpty then
      held
        .parEvalMapBy(parallelism, buffer)(keyOf)(record => ifBegun(record)(f(record)))
        .unNone
    else
      Stream.suspend {
        val permits = Semaphore.unsafe(parallelism)
        val retried = Retried(permits, attempts, f)
        // The buffer also holds the records that wait for a permit, or for the end of their
        // back-off.
        val running = (parallelism + buffer.toLong).min(Int.MaxValue).toInt
        held.parEvalMapBy(running, buffer = 0)(keyOf)(retried(_)).unNone
      }

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
  private[kafka] def keyOf(record: CommittableRecord[?, ?]): AnyRef = record.key match
    case null => new Object
    case bytes: Array[Byte] => PartitionKey(record.topicPartition, ByteBuffer.wrap(bytes))
    case key => PartitionKey(record.topicPartition, key)

  private final case class PartitionKey(partition: TopicPartition, key: Any)

  /** Runs a record's task up to the number of attempts. It holds a permit only while the task runs.
    */
  private final class Retried[K, V, B](
      permits: Semaphore,
      attempts: Attempts[K, V],
      f: CommittableRecord[K, V] => Task[B]
  ):
    private val schedule =
      if attempts.max == Int.MaxValue then attempts.backOff
      else attempts.backOff.times(attempts.max - 1L)

    /** Returns none for a dead letter, and for a record whose partition has gone before it could
      * begin.
      */
    def apply(record: CommittableRecord[K, V]): Task[Option[B]] = Task.defer {
      var tried = 0
      // It is held back but while it runs: see `begin`.
      val once = ifBegun(record) {
        tried += 1
        f(record)
      }.onError { case _ => Task.delay(record.holdBack()) }
      val value = permits.withPermit(once).retry(schedule)
      attempts.deadLetters match
        case None => value
        case Some(letters) =>
          value.handleErrorWith { error =>
            ifBegun(record)(letters.send(record, error, tried)).as(None)
          }
    }
