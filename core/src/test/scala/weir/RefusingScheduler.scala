package weir

import java.util.concurrent.atomic.{AtomicInteger, AtomicReference}
import weir.runtime.{Job, Scheduler}

/** A scheduler that can refuse a job, as one does whose system has no memory to spare. */
final class RefusingScheduler extends Scheduler(2, 4):
  private val accepted = AtomicInteger(-1)
  private val refused = AtomicReference[Thread | Null](null)

  /** Refuses one job, after `others` that are queued. */
  def refuseAfter(others: Int): Unit = accepted.set(others)

  /** Refuses the next job that this thread queues. */
  def refuseNextFromHere(): Unit = refused.set(Thread.currentThread)

  override def submit(job: Job, preferredShard: Int): Unit =
    val isRefused = refused.compareAndSet(Thread.currentThread, null) ||
      accepted.getAndUpdate(left => (left - 1).max(-1)) == 0
    if isRefused then throw RefusingScheduler.Refused()
    super.submit(job, preferredShard)

object RefusingScheduler:
  final class Refused extends RuntimeException("the job was refused")
