package weir.feeds.fetch

import java.util.concurrent.ConcurrentHashMap
import scala.concurrent.duration.*

import weir.Task

/** Keeps a pause between the beginnings of two requests of this process to one host.
  *
  * @param pause
  *   the pause of a host, by its name and port
  */
final class HostPace(pause: String => FiniteDuration):
  /** When the next request may begin, by the runtime's clock. A host without an entry may be asked
    * at once.
    */
  private val free = ConcurrentHashMap[String, FiniteDuration]()

  /** Begins a request of `host`; if it is too early, returns how long to wait before the next try.
    */
  def tryBegin(host: String): Task[Option[FiniteDuration]] =
    at(host, None): (now, next) =>
      if next <= now then (now + pause(host), None) else (next, Some(next - now))

  /** Begins a request of `host`. **Waits** for the pause after each that has begun or waits. */
  def begin(host: String): Task[Unit] =
    at(host, Duration.Zero): (now, next) =>
      val start = next max now
      (start + pause(host), start - now)
    .flatMap(wait => if wait > Duration.Zero then Task.sleep(wait) else Task.unit)

  /** Returns the result of `f`. `f` takes the time, and the time at which the next request may
    * begin, and returns a new one of the latter. `atOnce` is the result for a host without a pause.
    */
  private def at[A](host: String, atOnce: A)(
      f: (FiniteDuration, FiniteDuration) => (FiniteDuration, A)
  ): Task[A] =
    if pause(host) <= Duration.Zero then Task.pure(atOnce)
    else
      Task.monotonic.map: now =>
        var result = atOnce
        free.compute(
          host,
          (_, before) =>
            val (next, made) = f(now, if before == null then now else before)
            result = made
            next
        ): Unit
        result

object HostPace:
  /** No pauses. */
  def none: HostPace = HostPace(_ => Duration.Zero)
