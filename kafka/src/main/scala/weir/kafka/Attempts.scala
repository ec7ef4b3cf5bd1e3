package weir.kafka

import scala.concurrent.duration.DurationInt
import weir.Schedule

/** The number of attempts for a record, the waits between them, and the place for a record that
  * fails each time.
  *
  * @param max
  *   the largest number of times that its task runs. A record that cannot be decoded is not tried
  * @param backOff
  *   the wait between two attempts; when this schedule ends, so do the attempts. A record that
  *   waits delays only the records of its own key, and does not count towards the parallelism
  * @param deadLetters
  *   where to write a record that has failed each time, or cannot be decoded: [[DeadLetters]] for
  *   `parEvalMapByKey`, the name of a topic for [[ExactlyOnce]], which writes to it in its
  *   transactions. Without it the stream fails with the last error
  */
final case class Attempts[+D](
    max: Int,
    backOff: Schedule[Throwable] = Attempts.backOff,
    deadLetters: Option[D] = None
):
  require(max >= 1, s"Attempts: max was $max. It must be at least 1. For no limit: Int.MaxValue.")

  private[kafka] def schedule: Schedule[Throwable] =
    if max == Int.MaxValue then backOff else backOff.times(max - 1L)

object Attempts:
  /** Waits 100 ms at first, twice as long each time, up to 30 s, less a random part. */
  val backOff: Schedule[Throwable] =
    Schedule.exponential(100.millis).capped(30.seconds).jittered(0.2)

  /** Tries each record once: an error fails the stream. */
  val once: Attempts[Nothing] = Attempts(1)
