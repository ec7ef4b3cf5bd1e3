package weir.lab.compare

/** A way to get all tasks produced and consumed, and the time below which it cannot end. */
enum Way(val name: String):
  /** A batch is produced, all of it is consumed, and then comes the next. */
  case Batch extends Way("batch")

  /** A queue of java.util.concurrent: the producer blocks in put, and the consumers in take. */
  case BlockingQueue extends Way("blocking-queue")

  /** The library's own queue, on which only the fiber waits. */
  case Queue extends Way("queue")

  /** A stream of batches, whose tasks are consumed concurrently. */
  case Stream extends Way("stream")

  /** The same stream with a prefetch. */
  case Prefetch extends Way("prefetch")

  /** Two producers, each of half the batches, and the library's queue. */
  case ParallelQueue extends Way("parallel-queue")

  /** Two streams of half the batches each, joined, and a prefetch. */
  case ParallelStream extends Way("parallel-stream")

  /** Two consumers that block in take, started before the producer: in the source, where they held
    * both threads of the pool, it hung.
    */
  case Hang extends Way("hang")

  /** Returns the rival that has this way, for comparison. */
  def rival: String = this match
    case Stream | Prefetch | ParallelStream => "fs2"
    case _ => "cats-effect"

  /** Returns the time, in nanoseconds, that the delays of `plan` alone make of it. */
  def boundNanos(plan: Plan): Long = this match
    case Batch => Bound.batchByBatch(plan)
    case Stream => Bound.handedOver(plan)
    case BlockingQueue | Queue | Prefetch | Hang => Bound.queued(plan, producers = 1)
    case ParallelQueue | ParallelStream => Bound.queued(plan, producers = 2)

  /** Returns the time after which a run is given up. The way that may hang is given up early: once
    * it hangs it does nothing at all, so there is no reason to wait. The others have time for a
    * busy machine.
    */
  def deadlineNanos(plan: Plan): Long =
    val bound = boundNanos(plan)
    if this == Hang then bound + bound / 4 + slackNanos else 3 * bound + 30 * slackNanos

  private def slackNanos: Long = 1_000_000_000L

object Way:
  def named(name: String): Option[Way] = values.find(_.name == name)
