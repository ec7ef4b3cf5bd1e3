package weir.feeds.parse

import java.time.{Duration, Instant}

/** The range of plausible publication dates of an entry. */
object PlausibleDate:
  /** The year 1900, in milliseconds since 1970: archives give old works the date they appeared at.
    */
  val earliest: Long = Instant.parse("1900-01-01T00:00:00Z").toEpochMilli

  /** The longest time that a date may be in the future: entries are announced for the next year. */
  val aheadMillis: Long = Duration.ofDays(366).toMillis

  /** `time` if something can have been published then. The first second of 1970 is what programs
    * write that have no date.
    */
  def of(time: Instant, now: Instant): Option[Instant] =
    val millis = time.toEpochMilli
    val isPlausible =
      millis >= earliest && millis <= now.toEpochMilli + aheadMillis && millis / 1000 != 0
    Option.when(isPlausible)(time)
