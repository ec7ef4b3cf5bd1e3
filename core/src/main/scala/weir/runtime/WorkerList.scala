package weir.runtime

/** Lists, for dumps, the workers that have run a job and not ended, including blocked ones. A
  * worker that was spawned is listed only once it runs a second job.
  *
  * In a burst of tasks that block, each task has a worker of its own, so adding and removing must
  * cost very little. The workers themselves are the links of a list, under a lock that is held for
  * a few instructions. Each slot has a list, so that carriers seldom wait for each other's lock.
  */
private[runtime] final class WorkerList(slots: Int):
  private val stripes = Array.fill(slots)(WorkerList.Stripe())

  /** Adds a worker. Must be called once by `worker`, which holds `slot`. */
  def add(worker: Worker, slot: Int): Unit =
    Counters.count(Counters.WorkerListed)
    stripes(slot).add(worker)
    worker.stripe = slot

  /** Removes a worker. Must be called by `worker` as it ends. */
  def remove(worker: Worker): Unit =
    if worker.stripe >= 0 then stripes(worker.stripe).remove(worker)

  def iterator: Iterator[Worker] = stripes.iterator.flatMap(_.workers)

private[runtime] object WorkerList:
  private object Stripe:
    def apply(): Stripe = new Padded

    /** A stripe that shares no cache line with another one. */
    private final class Padded extends Stripe, Padding

  private abstract class Stripe:
    // shared, under this object's lock, as are the links of the workers in it
    private var first: Worker | Null = null

    def add(worker: Worker): Unit = synchronized {
      val next = first
      worker.following = next
      if next ne null then next.previous = worker
      first = worker
    }

    def remove(worker: Worker): Unit = synchronized {
      val previous = worker.previous
      val next = worker.following
      if previous eq null then first = next else previous.following = next
      if next ne null then next.previous = previous
      worker.previous = null
      worker.following = null
    }

    def workers: List[Worker] = synchronized {
      Iterator.iterate(first)(_.nn.following).takeWhile(_ ne null).map(_.nn).toList
    }
