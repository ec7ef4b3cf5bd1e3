package weir.cron

import com.cronutils.model.CronType
import com.cronutils.model.definition.CronDefinitionBuilder
import com.cronutils.model.time.ExecutionTime
import com.cronutils.parser.CronParser
import java.time.{Instant, ZoneId}
import scala.jdk.OptionConverters.*
import weir.Schedule

extension (schedules: Schedule.type)

  /** Repeats at the minutes that `expression` names, in the time of day of `zone`. It has the five
    * fields of Unix's cron: minute, hour, day of the month, month, day of the week.
    * `Stream.fromSchedule` of it waits for the first minute, `task.repeat` of it runs the task once
    * before.
    *
    * Minutes that have passed during a run are not made up for. Where the clock goes forward, the
    * minutes that it leaves out are left out, so a task of each night at 2:30 does not run that
    * night. Where it goes back, an hour that the expression names comes once, and each hour comes
    * as often as it does if the expression names none. With `ZoneOffset.UTC` there is no such day.
    *
    * **Fails** with an
    * `IllegalArgumentException` if it is not such an expression.
    * {{{
    * val nightly: Stream[Unit] =
    *   Stream.fromSchedule(Schedule.cron("30 3 * * *", ZoneId.of("Europe/Berlin")))
    * }}}
    */
  def cron(expression: String, zone: ZoneId): Schedule[Any] =
    val times = Cron.parse(expression)
    Schedule.at(now => Cron.following(times, now, zone))

private object Cron:
  private val parser = CronParser(CronDefinitionBuilder.instanceDefinitionFor(CronType.UNIX))

  def parse(expression: String): ExecutionTime =
    try ExecutionTime.forCron(parser.parse(expression))
    catch
      case error: IllegalArgumentException =>
        throw IllegalArgumentException(
          s"Schedule.cron: '$expression' is not an expression of cron: ${error.getMessage}. It " +
            "has five fields: minute, hour, day of the month, month, day of the week, such as " +
            "'*/5 * * * *'.",
          error
        )

  def following(times: ExecutionTime, now: Instant, zone: ZoneId): Option[Instant] =
    times.nextExecution(now.atZone(zone)).toScala.map(_.toInstant)
