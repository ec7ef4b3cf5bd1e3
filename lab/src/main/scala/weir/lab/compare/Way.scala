package weir.lab.compare

/** A way to get all tasks produced and consumed, and the time below which it cannot end.
  *
  * @param says
  *   what it does, and what its bound is, as the help has it
  */
enum Way(val name: String, val says: String):
  case Batch
      extends Way(
        "batch",
        "Produce a batch, consume all of it, then the next batch. Bound: the sum, over the batches, " +
          "of producing it and of its slowest task."
      )
  case BlockingQueue
      extends Way(
        "blocking-queue",
        "A java.util.concurrent queue: the producer blocks in put and the consumers in take. " +
          s"Bound: $queueBound"
      )
  case Queue
      extends Way(
        "queue",
        "The library's own queue, on which only the fiber waits. Bound: as blocking-queue."
      )
  case Stream
      extends Way(
        "stream",
        "A stream of batches whose tasks are consumed concurrently. Bound: a batch is begun when " +
          "the last task of the one before has found a consumer."
      )
  case Prefetch
      extends Way("prefetch", "The same stream with a prefetch. Bound: as blocking-queue.")
  case ParallelQueue
      extends Way(
        "parallel-queue",
        "Two producers, each of half the batches, and the library's queue. Bound: as queue, with " +
          "both producers at work."
      )
  case ParallelStream
      extends Way(
        "parallel-stream",
        "Two streams of half the batches each, joined, and a prefetch. Bound: as parallel-queue."
      )

  /** What hung in the source, where two consumers held both threads of the pool. */
  case Hang
      extends Way(
        "hang",
        "Two consumers that block in take, started before the producer. Bound: as blocking-queue."
      )

  /** What the way is compared with: the rival that has it. */
  def rival: String = this match
    case Stream | Prefetch | ParallelStream => "fs2"
    case _ => "cats-effect"

  /** The time, in nanoseconds, that the delays of `plan` alone make of it. */
  def boundNanos(plan: Plan): Long = this match
    case Batch => Bound.batchByBatch(plan)
    case Stream => Bound.handedOver(plan)
    case BlockingQueue | Queue | Prefetch | Hang => Bound.queued(plan, producers = 1)
    case ParallelQueue | ParallelStream => Bound.queued(plan, producers = 2)

  /** After so long it is given up.
    *
    * The one that may hang is given up early: where it does, it does nothing at all, and there is no
    * reason to keep the user waiting.
    */
  def deadlineNanos(plan: Plan): Long =
    val bound = boundNanos(plan)
    if this == Hang then bound + bound / 4 + slackNanos else 3 * bound + 5 * slackNanos

  private def slackNanos: Long = 1_000_000_000L

private def queueBound: String =
  s"producer and consumers never wait but for each other, with ${Plan.usualCapacity} tasks between them."

object Way:
  def named(name: String): Option[Way] = values.find(_.name == name)
