package weir.cli.compare.way

import java.util.concurrent.{ArrayBlockingQueue, ConcurrentLinkedQueue}
import java.util.concurrent.atomic.AtomicInteger

import weir.{Deferred, Poll, Task}

/** A queue for each consumer, who takes from the queues of the others when its own is empty.
  *
  * A producer puts each value into the next queue that has room. So producer and consumers seldom
  * touch the same queue at the same time.
  *
  * A consumer that finds nothing says so in `idle` and looks once more before it waits; who puts a
  * value looks into `idle` afterwards. So one of the two sees the other. It is the same for room,
  * with `blocked`.
  *
  * @param capacity
  *   of each queue
  */
private[compare] final class StealingQueues[A](consumers: Int, capacity: Int):
  require(
    consumers >= 1 && capacity >= 1,
    s"StealingQueues: there were $consumers consumers and a capacity of $capacity. Both must be " +
      "at least 1."
  )
  private val queues = Vector.fill(consumers)(ArrayBlockingQueue[A](capacity))
  private val idle, blocked = StealingQueues.Waiters()
  private val turn = AtomicInteger()

  @volatile private var closed = false

  /** Puts the value into a queue. **Waits** while all are full. **Cancelled** while it waits. */
  def offer(value: A): Task[Unit] = Task.uncancelable { cancelable =>
    blocked.await(put(value), cancelable).andThen(idle.wakeOne)
  }

  /** The next value for this consumer; none when all have been taken after `close`. **Waits** while
    * all queues are empty. **Cancelled** while it waits. **Order**: that of each queue.
    */
  def take(consumer: Int): Task[Option[A]] = Task.uncancelable { cancelable =>
    idle.await(poll(consumer), cancelable).flatMap { found =>
      if found.isEmpty then Task.pure(found) else blocked.wakeOne.as(found)
    }
  }

  /** Says that no more values will be offered. */
  val close: Task[Unit] = Task { closed = true }.andThen(idle.wakeAll)

  private def put(value: A): Option[Unit] =
    val first = Math.floorMod(turn.getAndIncrement(), consumers)
    Option.when(from(first).exists(_.offer(value)))(())

  /** A value; or none, for good; or nothing yet. */
  private def poll(consumer: Int): Option[Option[A]] =
    val isLast = closed // before the look: so nothing comes after it
    from(consumer).map(queue => Option(queue.poll())).find(_.nonEmpty).orElse {
      Option.when(isLast)(None)
    }

  private def from(first: Int): Iterator[ArrayBlockingQueue[A]] =
    Iterator.range(first, first + consumers).map(i => queues(i % consumers))

private[compare] object StealingQueues:
  /** Fibers that wait until something has changed. */
  private final class Waiters:
    private val waiting = ConcurrentLinkedQueue[Deferred[Unit]]()

    /** What `attempt` finds, which is tried again after each change. **Cancelled** while it waits.
      */
    def await[B](attempt: => Option[B], cancelable: Poll): Task[B] = Task.defer {
      attempt.fold(register(attempt, cancelable))(Task.pure)
    }

    private def register[B](attempt: => Option[B], cancelable: Poll): Task[B] = Task.defer {
      val woken = Deferred.unsafe[Unit]
      waiting.add(woken): Unit
      attempt match
        case Some(found) => leave(woken).as(found)
        case None =>
          cancelable(woken.get).onCancel(leave(woken)).andThen(await(attempt, cancelable))
    }

    /** Passes the change on, if it was for this fiber. */
    private def leave(woken: Deferred[Unit]): Task[Unit] =
      Task.defer(if waiting.remove(woken) then Task.unit else wakeOne)

    def wakeOne: Task[Unit] =
      Task.defer(Option(waiting.poll()).fold(Task.unit)(_.complete(()).void))

    def wakeAll: Task[Unit] =
      Task.defer(if waiting.isEmpty then Task.unit else wakeOne.andThen(wakeAll))
