package weir.feeds.store

import java.time.{DayOfWeek, Instant, ZoneOffset}

/** The hours of a day and the days of a week, in UTC, in which a feed asks not to be fetched.
  *
  * @param bits
  *   the bits in the database: one for each hour, from midnight on, then one for each day, from
  *   Monday on
  */
final case class SkippedTimes(bits: Long):
  def includes(millis: Long): Boolean = (bits & SkippedTimes.bitsOf(millis)) != 0

  /** Returns the first moment from `millis` on that is not skipped. */
  def firstFree(millis: Long): Long =
    Iterator
      .iterate(millis)(SkippedTimes.nextHour)
      .take(24 * 7 + 1)
      .find(!includes(_))
      .getOrElse(millis)

object SkippedTimes:
  val none: SkippedTimes = SkippedTimes(0)

  /** A feed that skips all hours, or all days, asks for nothing that could be done, and is not
    * heard in that.
    */
  def of(hours: Set[Int], days: Set[DayOfWeek]): SkippedTimes =
    val skippedHours = if hours.size >= 24 then 0L else hours.foldLeft(0L)(_ | 1L << _)
    val skippedDays =
      if days.size >= 7 then 0L else days.foldLeft(0L)((bits, day) => bits | bitOf(day))
    SkippedTimes(skippedHours | skippedDays)

  /** Returns the bits of the hour and of the day that `millis` is in. */
  private[store] def bitsOf(millis: Long): Long =
    val time = Instant.ofEpochMilli(millis).atOffset(ZoneOffset.UTC)
    1L << time.getHour | bitOf(time.getDayOfWeek)

  /** Returns the beginning of the hour after that of `millis`. */
  private[store] def nextHour(millis: Long): Long = (millis / hourMillis + 1) * hourMillis

  private val hourMillis = 3_600_000L

  private def bitOf(day: DayOfWeek): Long = 1L << (23 + day.getValue)
