package weir.bench.child.highload

import java.util.ArrayList
import java.util.concurrent.{ArrayBlockingQueue, ConcurrentLinkedQueue}
import java.util.concurrent.atomic.AtomicInteger
import scala.jdk.CollectionConverters.*

import weir.{Deferred, Poll, Task}

/** A queue for each consumer, who takes from the queues of the others when its own is empty.
  *
  * A producer puts a batch into the next queue that has room. A consumer takes a batch at once, of
  * its own queue or half of another one: so producer and consumers seldom touch the same queue
  * at the same time.
  *
  * A consumer that finds nothing says so in `idle` and looks once more before it waits; who puts a
  * value looks into `idle` afterwards. So one of the two sees the other. It is the same for room,
  * with `blocked`.
  *
  * @param capacity
  *   of each queue
  * @param batch
  *   at most so many values are taken at once
  */
private[highload] final class StealingQueues[A](consumers: Int, capacity: Int, batch: Int):
  require(
    consumers >= 1 && capacity >= 1 && batch >= 1,
    s"StealingQueues: there were $consumers consumers, a capacity of $capacity and batches of " +
      s"$batch. Each must be at least 1."
  )
  private val queues = Array.fill(consumers)(ArrayBlockingQueue[A](capacity))
  private val idle, blocked = StealingQueues.Waiters()
  private val turn = AtomicInteger()

  @volatile private var closed = false

  /** Puts the values into a queue, or into several where one has no room. **Waits** while all are
    * full. **Cancelled** while it waits: the rest of them are in none.
    */
  def offerAll(values: Seq[A]): Task[Unit] = Task.defer {
    if values.isEmpty then Task.unit
    else
      put(values) match
        case Some(rest) => goOn(values, rest)
        case None => Task.uncancelable(blocked.await(put(values), _).flatMap(goOn(values, _)))
  }

  private def goOn(values: Seq[A], rest: Seq[A]): Task[Unit] =
    idle.wakeAfter((), values.size - rest.size).flatMap(_ => offerAll(rest))

  /** Returns the next values for this consumer, at least one; none when all have been taken after
    * `close`. **Waits** while all queues are empty. **Cancelled** while it waits. **Order**: that
    * of each queue.
    */
  def take(consumer: Int): Task[Seq[A]] = Task.defer {
    poll(consumer) match
      case Some(found) => blocked.wakeAfter(found, found.size)
      case None =>
        Task.uncancelable(
          idle.await(poll(consumer), _).flatMap(found => blocked.wakeAfter(found, found.size))
        )
  }

  /** Says that no more values will be offered. */
  val close: Task[Unit] = Task { closed = true }.andThen(idle.wakeAll)

  /** Returns the values that have found no room, or none. */
  private def put(values: Seq[A]): Option[Seq[A]] =
    val first = Math.floorMod(turn.getAndIncrement(), consumers)
    var added = 0
    var i = 0
    while i < consumers && added < values.size do
      val queue = from(first, i)
      while added < values.size && queue.offer(values(added)) do added += 1
      i += 1
    Option.when(added > 0)(values.drop(added))

  /** Values; or none, for good; or nothing yet. */
  private def poll(consumer: Int): Option[Seq[A]] =
    val isLast = closed // before the look: so nothing comes after it
    val found = ArrayList[A]()
    queues(consumer).drainTo(found, batch)
    var i = 1
    while i < consumers && found.isEmpty do
      val other = from(consumer, i)
      other.drainTo(found, math.min(batch, (other.size + 1) / 2))
      i += 1
    Option.when(!found.isEmpty || isLast)(found.asScala.toSeq)

  private def from(first: Int, distance: Int): ArrayBlockingQueue[A] =
    queues((first + distance) % consumers)

private[highload] object StealingQueues:
  /** Fibers that wait until something has changed. */
  private final class Waiters:
    private val waiting = ConcurrentLinkedQueue[Deferred[Unit]]()

    /** Returns the result of `attempt`, tried again after each change. **Cancelled** as it waits.
      */
    def await[B](attempt: => Option[B], cancelable: Poll): Task[B] = Task.defer {
      val woken = Deferred.unsafe[Unit]
      waiting.add(woken): Unit
      attempt match
        case Some(found) => leave(woken).as(found)
        case None =>
          cancelable(woken.get)
            .onCancel(leave(woken))
            .andThen(Task.defer {
              attempt.fold(await(attempt, cancelable))(Task.pure)
            })
    }

    /** Passes the change on, if it was for this fiber. */
    private def leave(woken: Deferred[Unit]): Task[Unit] =
      Task.defer(if waiting.remove(woken) then Task.unit else wake(1))

    /** Wakes `count` waiting fibers, and returns `value`. No cancel comes in between. */
    def wakeAfter[B](value: B, count: Int): Task[B] =
      if waiting.isEmpty then Task.pure(value) else Task.uncancelable(_ => wake(count).as(value))

    def wakeAll: Task[Unit] = wake(Int.MaxValue)

    private def wake(count: Int): Task[Unit] = Task.defer {
      val next = if count == 0 then null else waiting.poll()
      if next == null then Task.unit else next.complete(()).flatMap(_ => wake(count - 1))
    }
