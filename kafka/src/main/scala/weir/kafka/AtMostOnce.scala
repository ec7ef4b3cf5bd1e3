package weir.kafka

import weir.{Stream, Task}

extension [K, V](records: Stream[CommittableRecord[K, V]])

  /** Emits each record once it is committed. So each is emitted **at most once** in its group:
    * records that were committed and not yet processed are lost when the process dies. A commit has
    * up to `batch` records, so at most `batch` records and those that later stages hold are lost.
    *
    * **Waits** for the commit. **Order**: that of the records. A revoke does not wait until they
    * are processed: the next owner may begin with later records of a key.
    *
    * {{{
    * consumer.records(Set("hints"), "cache").atMostOnce().evalMap(hint => warmUp(hint.value))
    * }}}
    */
  def atMostOnce(batch: Int = 500): Stream[CommittableRecord[K, V]] =
    require(batch >= 1, s"Stream.atMostOnce: the batch was $batch. It must be at least 1.")
    records
      .map { record =>
        record.holdBack()
        record
      }
      .prefetchN(batch)
      .chunks(batch)
      .evalMap(some => Task.delay(AtMostOnce.committed(some)))
      .mapConcat(identity)

private object AtMostOnce:
  /** Commits the records, and returns those that this member has committed. The others are for the
    * next owner of their partition.
    */
  def committed[K, V](records: Vector[CommittableRecord[K, V]]): Vector[CommittableRecord[K, V]] =
    val begun = records.filter(_.begin())
    begun.foreach(_.markDone())
    val ends = begun.groupMapReduce(_.assignment)(_.offset)(math.max)
    val taken = ends.filter((assignment, last) => assignment.awaitCommit(last)).keySet
    begun.filter(record => taken.contains(record.assignment))
