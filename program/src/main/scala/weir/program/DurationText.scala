package weir.program

import java.util.concurrent.TimeUnit
import scala.concurrent.duration.*

/** Durations as a user writes them (`90s`, `1h30m`, `250ms`) and as the program shows them. */
object DurationText:
  private val units = Map(
    "ms" -> TimeUnit.MILLISECONDS,
    "s" -> TimeUnit.SECONDS,
    "m" -> TimeUnit.MINUTES,
    "min" -> TimeUnit.MINUTES,
    "h" -> TimeUnit.HOURS,
    "d" -> TimeUnit.DAYS
  )
  private val whole = "(?:[0-9]{1,9}(?:ms|min|s|m|h|d))+".r
  private val part = "([0-9]{1,9})(ms|min|s|m|h|d)".r

  /** Returns the duration that `text` names; `place` is the option it was given to.
    *
    * **Fails** with [[BadInput]] if it is none, or is longer than ten years.
    */
  def parse(place: String, text: String): FiniteDuration =
    val compact = text.trim.toLowerCase.replace(" ", "")
    if !whole.matches(compact) then
      throw BadInput(
        place,
        s"'$text' is not a duration.",
        "Write it like 90s, 15m, 1h30m or 7d."
      )
    val millis = part
      .findAllMatchIn(compact)
      .map(found => BigInt(units(found.group(2)).toMillis(1)) * BigInt(found.group(1)))
      .sum
    if millis > longest.toMillis then
      throw BadInput(place, s"'$text' is too long.", "It must be at most ten years (3650d).")
    millis.toLong.millis

  /** The duration in the two units that matter: `850 ms`, `12.4 s`, `59 min`, `8 min 41 s`. */
  def show(duration: FiniteDuration): String =
    val millis = duration.toMillis
    val seconds = math.round(millis / 1000.0)
    if millis < 1000 then s"$millis ms"
    else if millis < 99_950 then f"${millis / 1000.0}%.1f s"
    else if seconds < 3600 then pair(seconds, 60, "min", "s")
    else if seconds < 86_400 then pair(seconds / 60, 60, "h", "min")
    else pair(seconds / 3600, 24, "d", "h")

  private val longest = 3650.days

  private def pair(amount: Long, step: Long, large: String, small: String): String =
    val rest = amount % step
    if rest == 0 then s"${amount / step} $large" else s"${amount / step} $large $rest $small"
