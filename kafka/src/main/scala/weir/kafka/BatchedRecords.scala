package weir.kafka

import java.util.ArrayDeque
import java.util.concurrent.ConcurrentHashMap
import scala.concurrent.duration.FiniteDuration
import weir.{Stream, Task}

extension [K, V](records: Stream[CommittableRecord[K, V]])

  /** Runs the task that `f` returns for a batch of records, one batch after the other, and emits
    * its value. A batch has up to `size` records, which arrive within `time` after its first one.
    * All records of a batch are done once its task has succeeded.
    *
    * **Fails** with the first error of a task, whose records are not done. **Order**: that of each
    * partition. Records of a partition that was revoked before the batch began are left out.
    *
    * {{{
    * consumer
    *   .records(Set("clicks"), "counts")
    *   .evalMapBatched(1000, 100.millis)(clicks => insertAll(clicks.map(_.value)))
    * }}}
    */
  def evalMapBatched[B](size: Int, time: FiniteDuration)(
      f: Vector[CommittableRecord[K, V]] => Task[B]
  ): Stream[B] =
    records
      .map(BatchedRecords.heldBack)
      .groupWithin(size, time)
      .evalMap(batch => BatchedRecords.done(batch)(f))
      .unNone

  /** As `parEvalMapByKey`, but a task gets all waiting records of its key, up to `size`. So a key
    * with many records needs few tasks, each of which may be one write.
    *
    * A batch has records of one key of one partition; records without a key are on their own. All
    * of them are done once the task has succeeded.
    *
    * {{{
    * consumer
    *   .records(Set("prices"), "latest")
    *   .parEvalMapByKeyBatched(64)(prices => store(prices.last.key, prices.last.value))
    * }}}
    */
  def parEvalMapByKeyBatched[B](parallelism: Int, size: Int = 500, buffer: Int = 4096)(
      f: Vector[CommittableRecord[K, V]] => Task[B]
  ): Stream[B] =
    require(
      parallelism >= 1 && size >= 1 && buffer >= 0,
      s"Stream.parEvalMapByKeyBatched: the parallelism was $parallelism, the size $size and the " +
        s"buffer $buffer. They must be at least 1, 1 and 0."
    )
    Stream.suspend {
      val waiting = BatchedRecords.Waiting[K, V](size)
      records
        .map(record => waiting.add(BatchedRecords.heldBack(record)))
        .prefetchN(math.max(1, buffer)) // so that records wait while all tasks are busy
        .parEvalMapBy(parallelism, buffer)(identity)(key =>
          Task.defer(BatchedRecords.done(waiting.take(key))(f))
        )
        .unNone
    }

private object BatchedRecords:
  def heldBack[R <: CommittableRecord[?, ?]](record: R): R =
    record.holdBack()
    record

  /** Runs the task for the records whose partition this member still has. Returns none if there are
    * no such records.
    */
  def done[K, V, B](batch: Vector[CommittableRecord[K, V]])(
      f: Vector[CommittableRecord[K, V]] => Task[B]
  ): Task[Option[B]] = Task.defer {
    val begun = batch.filter(_.begin())
    if begun.isEmpty then Task.pure(None)
    else
      f(begun).map { value =>
        begun.foreach(_.markDone())
        Some(value)
      }
  }

  /** The records that were taken and have not begun, by their keys. One task at a time takes those
    * of a key.
    */
  final class Waiting[K, V](size: Int):
    private val byKey = ConcurrentHashMap[AnyRef, ArrayDeque[CommittableRecord[K, V]]]()

    /** Returns the key. */
    def add(record: CommittableRecord[K, V]): AnyRef =
      val key = KeyedRecords.keyOf(record)
      byKey.compute(
        key,
        (_, found) =>
          val queue = if found == null then ArrayDeque[CommittableRecord[K, V]](1) else found
          queue.add(record)
          queue
      ): Unit
      key

    /** Takes the first records of the key; none if an earlier task has taken all. */
    def take(key: AnyRef): Vector[CommittableRecord[K, V]] =
      val taken = Vector.newBuilder[CommittableRecord[K, V]]
      byKey.computeIfPresent(
        key,
        (_, queue) =>
          var left = size
          while left > 0 && !queue.isEmpty do
            taken += queue.remove()
            left -= 1
          if queue.isEmpty then null else queue
      ): Unit
      taken.result()
