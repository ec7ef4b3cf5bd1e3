package weir.feeds.store

import java.sql.SQLException
import java.util.concurrent.atomic.AtomicBoolean
import scala.concurrent.duration.*

/** Repeats calls that fail because the database is away: because its server restarts, or another
  * program has locked its file.
  *
  * All connections of a run share one of these, so the user is told once.
  *
  * @param isWaiting
  *   true if calls wait for the database; false if they fail
  * @param tell
  *   prints a message for the user
  */
final class Outages(name: String, isWaiting: Boolean, tell: String => Unit):
  private val isOut = AtomicBoolean()
  @volatile private var isEnding = false

  /** The result of `call`, which is repeated until the database has answered.
    *
    * @param isAway
    *   true for an error after which the database will answer later
    *
    * **Waits** for that. **Fails** with the error that `call` throws otherwise.
    */
  private[store] def through[A](isAway: SQLException => Boolean)(call: => A): A =
    val start = System.nanoTime()
    var failures = 0
    var result = Option.empty[A]
    while result.isEmpty do
      try result = Some(call)
      catch
        case error: SQLException if isWaiting && !isEnding && isAway(error) =>
          // A cancel, too, closes a connection.
          if Thread.currentThread.isInterrupted then throw error
          failures += 1
          pause(error, failures, (System.nanoTime() - start).nanos)
    if failures > 0 && isOut.compareAndSet(true, false) then tell(s"$name answers again")
    result.get

  /** Waits before the next call, but not after the first failure: a connection that broke a while
    * ago is replaced at once, without a message.
    */
  private def pause(error: SQLException, failures: Int, waited: FiniteDuration): Unit =
    if waited >= Outages.silence && isOut.compareAndSet(false, true) then
      val why = String.valueOf(error.getMessage).linesIterator.nextOption().getOrElse("")
      tell(s"$name does not answer ($why); waiting until it does")
    if failures > 1 then Thread.sleep(Outages.pause.toMillis)

  /** From now on no call waits: the process is about to end. */
  def end(): Unit = isEnding = true

object Outages:
  private val silence = 1.second
  private val pause = 500.millis

  /** Lets calls fail. */
  def failing: Outages = Outages("", isWaiting = false, _ => ())
