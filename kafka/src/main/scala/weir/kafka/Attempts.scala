package weir.kafka

import scala.concurrent.duration.DurationInt
import weir.Schedule

/** Says how often to try a record, and what to do with one that fails each time.
  *
  * @param max
  *   the largest number of times that its task runs
  * @param backOff
  *   the wait between two attempts; when this schedule ends, so do the attempts. A record that
  *   waits delays only the records of its own key, and does not count towards the parallelism
  * @param deadLetters
  *   the topic to which a record is sent that has failed each time. Without it the stream fails
  *   with the last error
  */
final case class Attempts[K, V](
    max: Int,
    backOff: Schedule[Throwable] = Attempts.backOff,
    deadLetters: Option[DeadLetters[K, V]] = None
):
  require(max >= 1, s"Attempts: max was $max. It must be at least 1. For no limit: Int.MaxValue.")

object Attempts:
  /** Waits 100 ms at first, twice as long each time, up to 30 s, less a random part. */
  val backOff: Schedule[Throwable] =
    Schedule.exponential(100.millis).capped(30.seconds).jittered(0.2)

  /** Tries each record once: an error fails the stream. */
  def once[K, V]: Attempts[K, V] = Attempts(1)
