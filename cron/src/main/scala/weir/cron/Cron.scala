package weir.cron

import com.cronutils.model.CronType
import com.cronutils.model.definition.CronDefinitionBuilder
import com.cronutils.model.time.ExecutionTime
import com.cronutils.parser.CronParser
import java.time.zone.ZoneRules
import java.time.{Instant, ZoneId, ZoneOffset}
import scala.annotation.tailrec
import scala.jdk.OptionConverters.*
import weir.Schedule

extension (schedules: Schedule.type)

  /** Repeats at the minutes that `expression` names, in the time of day of `zone`. It has the five
    * fields of Unix's cron: minute, hour, day of the month, month, day of the week.
    * `Stream.fromSchedule` waits for the first minute, `task.repeat` runs the task once before it.
    *
    * Minutes that pass during a run are skipped. When the clock goes forward, the minutes in
    * between are skipped too, so a task that runs at 2:30 does not run on that day. When the clock
    * goes back, an hour occurs twice. It counts once, except if the expression's field of the hour
    * begins with `*`, with or without a step: then it counts twice. With `ZoneOffset.UTC` the clock
    * never changes.
    *
    * If neither the day of the month nor the day of the week is `*`, a day that fits one of the two
    * is enough, even if one is a `*` with a step. `5/15` means each 15 from 5 on. A range must not
    * go down, as `22-2` does: write `22-23,0-2`.
    *
    * **Fails** with an `IllegalArgumentException` if `expression` is not valid, or if it fits no
    * day.
    * {{{
    * val nightly: Stream[Unit] =
    *   Stream.fromSchedule(Schedule.cron("30 3 * * *", ZoneId.of("Europe/Berlin")))
    * }}}
    */
  def cron(expression: String, zone: ZoneId): Schedule[Any] =
    val times = Cron.parse(expression)
    Schedule.at(times.following(_, zone))

/** The minutes that an expression names. `namesHours` is false if it means each hour. */
private final class Cron(times: ExecutionTime, namesHours: Boolean):
  def following(now: Instant, zone: ZoneId): Option[Instant] = following(now, now, zone.getRules)

  /** Returns the first minute after `asked`. The clock has the same offset from `from` to its next
    * change: looks only that far, and goes on from there.
    */
  @tailrec
  private def following(from: Instant, asked: Instant, rules: ZoneRules): Option[Instant] =
    val offset = rules.getOffset(from)
    val change = Option(rules.nextTransition(from)).fold(Instant.MAX)(_.getInstant)
    times.nextExecution(asked.atZone(offset)).toScala match
      case None => None
      case Some(next) if !next.toInstant.isBefore(change) =>
        following(change, change.minusSeconds(1), rules)
      case Some(next)
          if namesHours && rules.getValidOffsets(next.toLocalDateTime).get(0) != offset =>
        following(next.toInstant, next.toInstant, rules) // the clock shows this minute again
      case Some(next) => Some(next.toInstant)

private object Cron:
  private val parser = CronParser(CronDefinitionBuilder.instanceDefinitionFor(CronType.UNIX))

  def parse(expression: String): Cron =
    val times =
      try ExecutionTime.forCron(parser.parse(expression))
      catch
        case error: IllegalArgumentException =>
          throw IllegalArgumentException(
            s"Schedule.cron: '$expression' is not an expression of cron: ${error.getMessage}. It " +
              "has five fields: minute, hour, day of the month, month, day of the week, such as " +
              "'*/5 * * * *'.",
            error
          )
    val cron = Cron(times, namesHours = !expression.trim.split("\\s+")(1).startsWith("*"))
    require(
      cron.following(Instant.EPOCH, ZoneOffset.UTC).isDefined,
      s"Schedule.cron: '$expression' names a day that never comes."
    )
    cron
