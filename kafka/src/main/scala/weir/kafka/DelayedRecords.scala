package weir.kafka

import scala.concurrent.duration.{DurationLong, FiniteDuration}
import weir.{Stream, Task}

extension [K, V](records: Stream[CommittableRecord[K, V]])

  /** Emits each record once `time` has passed since its timestamp. It is for a **retry topic**: a
    * topic that has the dead letters of another one, which are tried again later.
    *
    * **Waits** for the first record that is not due; others that are due sooner may come after it,
    * if they are of another partition. A revoke does not wait for it. **Order**: that of the
    * records.
    *
    * {{{
    * consumer
    *   .records(Set("orders.retry"), "billing")
    *   .delayed(10.minutes)
    *   .parEvalMapByKey(64, attempts = Attempts(1, deadLetters = Some(dead)))(bill)
    * }}}
    */
  def delayed(time: FiniteDuration): Stream[CommittableRecord[K, V]] =
    records.evalTap { record =>
      record.holdBack()
      Task.realTime.flatMap { now =>
        val left = record.timestamp + time.toMillis - now.toEpochMilli
        if left <= 0 then Task.unit else Task.sleep(left.millis)
      }
    }
