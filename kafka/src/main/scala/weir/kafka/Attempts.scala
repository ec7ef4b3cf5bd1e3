package weir.kafka

import scala.concurrent.duration.DurationInt
import weir.Schedule

/** How often a record is tried, and what happens to one that fails each time.
  *
  * @param max
  *   how often its task runs at most
  * @param backOff
  *   how long to wait between two attempts; it ends the attempts too when it says no more. A record
  *   that waits holds up its own key, and takes no place among those that run
  * @param deadLetters
  *   where a record goes that has failed each time. Without it the stream fails with the last error
  */
final case class Attempts[K, V](
    max: Int,
    backOff: Schedule[Throwable] = Attempts.backOff,
    deadLetters: Option[DeadLetters[K, V]] = None
):
  require(max >= 1, s"Attempts: max was $max. It must be at least 1. For no limit: Int.MaxValue.")

object Attempts:
  /** From 100 ms on, doubled each time, up to 30 s, and a random part less. */
  val backOff: Schedule[Throwable] =
    Schedule.exponential(100.millis).capped(30.seconds).jittered(0.2)

  /** Each record is tried once; an error is the error of the stream. */
  def once[K, V]: Attempts[K, V] = Attempts(1)
