package weir.program

/** Numbers and nouns as the reports print them. */
object Text:
  /** Returns the number with a comma between thousands, in every locale. */
  def grouped(number: Long): String = String.format(java.util.Locale.ROOT, "%,d", number)

  def decimal(number: Double, digits: Int): String =
    String.format(java.util.Locale.ROOT, s"%.${digits}f", number)

  /** `1 feed`, `500 feeds`. */
  def count(number: Long, noun: String): String =
    if number == 1 then s"1 $noun" else s"${grouped(number)} ${noun}s"
