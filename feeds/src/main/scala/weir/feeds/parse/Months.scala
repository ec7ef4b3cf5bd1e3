package weir.feeds.parse

import java.text.DateFormatSymbols
import java.util.Locale

/** The names of months in the languages that feeds use, though they should use English. */
private[parse] object Months:
  /** From 1 to 12, by the name or its usual beginning; none if no language has such a month. */
  def number(name: String): Option[Int] = byName.get(key(name))

  private val languages =
    List(
      "en",
      "de",
      "fr",
      "es",
      "it",
      "pt",
      "nl",
      "pl",
      "ru",
      "sv",
      "da",
      "nb",
      "fi",
      "cs",
      "hu",
      "tr"
    )

  /** The names of every language, and their first three letters where these mean one month only.
    * English comes first: where two languages mean different months by one name, it counts.
    */
  private lazy val byName: Map[String, Int] =
    val names =
      for
        language <- languages
        symbols = DateFormatSymbols.getInstance(Locale.of(language))
        names <- List(symbols.getMonths, symbols.getShortMonths)
        (name, index) <- names.zipWithIndex
        if name.nonEmpty
      yield key(name) -> (index + 1)
    val starts = names
      .groupMap((name, _) => name.take(3))(_(1))
      .collect { case (start, numbers) if numbers.distinct.size == 1 => start -> numbers.head }
    val english = names.take(24).map((name, number) => name.take(3) -> number)
    (english ++ names ++ starts :+ ("mrz" -> 3)).reverse.toMap

  private def key(name: String): String = name.toLowerCase(Locale.ROOT).stripSuffix(".")
