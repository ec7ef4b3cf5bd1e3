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

  /** Returns the duration in the one or two units that matter, as [[weir.io.Text.ofDuration]]. */
  def show(duration: FiniteDuration): String = weir.io.Text.ofDuration(duration)

  private val longest = 3650.days
