package weir

import java.util.concurrent.atomic.AtomicInteger
import weir.runtime.{Job, Scheduler}

/** A scheduler that can refuse a job, as one does whose system has no memory to spare. */
final class RefusingScheduler extends Scheduler(2, 4):
  private val accepted = AtomicInteger(-1)

  /** Refuses one job, after `others` that are queued. */
  def refuseAfter(others: Int): Unit = accepted.set(others)

  override def submit(job: Job, preferredShard: Int): Unit =
    if accepted.getAndUpdate(left => (left - 1).max(-1)) == 0 then throw RefusingScheduler.Refused()
    else super.submit(job, preferredShard)

object RefusingScheduler:
  final class Refused extends RuntimeException("the job was refused")
