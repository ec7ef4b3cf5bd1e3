package weir.program

import scala.concurrent.duration.*

import weir.Task

/** A line that shows how a run gets on, again and again, and its parts. */
object ProgressLine:
  /** Returns the value of `run`. Meanwhile, runs `show` each time that `every` has passed.
    *
    * **Cancelled**: also cancels `show`.
    */
  def beside[A](run: Task[A], every: FiniteDuration)(show: Task[Unit]): Task[A] =
    Task.sleep(every).andThen(show).forever.background.use(_ => run)

  /** Returns the remaining time, as `, 5 s left`, if the rest takes as long as the part that is
    * done. Returns nothing before the share `first` of it is done.
    */
  def timeLeft(doneShare: Double, first: Double, elapsed: FiniteDuration): String =
    if doneShare <= first then ""
    else
      val left = (elapsed.toMillis * (1 - doneShare) / doneShare).toLong.max(0).millis
      s", ${seconds(left)} left"

  /** An estimate is not known to the millisecond. */
  private def seconds(time: FiniteDuration): String =
    if time < 100.seconds then s"${(time.toMillis + 999) / 1000} s" else DurationText.show(time)

  /** Returns a bar with `words` behind it, `width` columns wide. If they leave it no room, returns
    * only the words.
    */
  def bar(doneShare: Double, words: String, width: Int): String =
    val room = width - words.length - 4
    if room < 4 then words.take(width)
    else
      val filled = (room * doneShare).toInt
      s"[${"=" * filled}${" " * (room - filled)}] $words"
