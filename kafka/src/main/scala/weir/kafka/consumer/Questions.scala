package weir.kafka.consumer

import java.time.Duration
import org.apache.kafka.common.errors.WakeupException

/** Asks the brokers for what the poll thread cannot go on without. */
private[consumer] final class Questions(clock: PollClock, isStopping: () => Boolean):

  /** Returns the answer. Returns none if the brokers do not answer within `time`, if the loop is
    * stopped, or after an error for which `isPassing` is true.
    *
    * @param call
    *   asks, and waits at most so long
    */
  def ask[A](time: Duration, isPassing: Exception => Boolean)(call: Duration => A): Option[A] =
    val deadline = clock.nanoTime + time.toNanos
    var answer = Option.empty[A]
    var isOver = false
    while !isOver do
      val left = deadline - clock.nanoTime
      if left <= 0 || isStopping() then isOver = true
      else
        try
          answer = Some(call(Duration.ofNanos(left)))
          isOver = true
        catch
          case _: WakeupException => () // it was for the poll, or a stop
          case error: Exception if isPassing(error) => isOver = true
    answer
