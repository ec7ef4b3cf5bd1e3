package weir.laws

import java.time.Instant
import scala.concurrent.duration.*
import weir.Task

/** The laws of Cats Effect's `Clock` and `GenTemporal`, under the names that they have there; with
  * no tolerance, as the clock of these runs moves for nothing but sleeps.
  */
class TemporalLawsSuite extends LawTests:

  private val units = List(NANOSECONDS, MICROSECONDS, MILLISECONDS, SECONDS, MINUTES, HOURS, DAYS)

  /** From none to 48 of a unit. */
  private def duration(w: LawWorld, name: String): FiniteDuration =
    val n = w.number(name)
    FiniteDuration(n % 49, units(n / 49 % units.size))

  law("monotonicity")(w => w.product(Task.monotonic, Task.monotonic).map(_ <= _))(_ =>
    Task.pure(true)
  )
  law("monotonicity of the time of day")(w =>
    w.product(Task.realTime, Task.realTime).map((before: Instant, after) => !before.isAfter(after))
  )(_ => Task.pure(true))

  law("monotonic sleep sum identity")(w => Task.sleep(duration(w, "d1")).andThen(Task.monotonic))(
    w => Task.monotonic.map(_ + duration(w, "d1")).flatTap(_ => Task.sleep(duration(w, "d1")))
  )

  law("sleep race minimum")(w =>
    Task
      .race(Task.sleep(duration(w, "d1")), Task.sleep(duration(w, "d2")))
      .andThen(Task.monotonic)
  ) { w =>
    val least = duration(w, "d1").min(duration(w, "d2"))
    Task.monotonic.map(_ + least).flatTap(_ => Task.sleep(least))
  }

  law("start sleep maximum")(w =>
    Task
      .sleep(duration(w, "d1"))
      .start
      .flatMap(fiber => Task.sleep(duration(w, "d2")).andThen(fiber.join))
      .andThen(Task.monotonic)
  ) { w =>
    val most = duration(w, "d1").max(duration(w, "d2"))
    Task.monotonic.map(_ + most).flatTap(_ => Task.sleep(most))
  }
