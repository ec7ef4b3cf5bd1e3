package weir.runtime

import java.util.Locale
import scala.concurrent.duration.FiniteDuration

/** Formats durations for people, in the one or two units that matter: `250 µs`, `850 ms`, `5 s`,
  * `12.4 s`, `59 min`, `8 min 41 s`, `2 d 1 h`.
  */
private[weir] object DurationText:
  def apply(duration: FiniteDuration): String = apply(duration.toNanos)

  def apply(nanos: Long): String =
    if nanos < 0 then s"-${ofPositive(-math.max(nanos, -Long.MaxValue))}" else ofPositive(nanos)

  private def ofPositive(nanos: Long): String =
    val millis = nanos / 1_000_000
    val seconds = (millis + 500) / 1000
    if nanos == 0 then "0 ms"
    else if nanos < 1000 then s"$nanos ns"
    else if millis == 0 then s"${nanos / 1000} µs"
    else if millis < 1000 then s"$millis ms"
    else if millis < 99_950 then
      s"${"%.1f".formatLocal(Locale.ROOT, millis / 1000.0).stripSuffix(".0")} s"
    else if seconds < 3600 then pair(seconds, 60, "min", "s")
    else if seconds < 86_400 then pair(seconds / 60, 60, "h", "min")
    else pair(seconds / 3600, 24, "d", "h")

  private def pair(amount: Long, step: Long, large: String, small: String): String =
    val rest = amount % step
    if rest == 0 then s"${amount / step} $large" else s"${amount / step} $large $rest $small"
