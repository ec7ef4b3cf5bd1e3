package weir.cli

/** What a user gave that cannot be used, as one line that names the place and says what to do.
  *
  * It is thrown before anything is written, so the command can print the line, exit with code 2 and
  * be sure that nothing changed.
  */
final class BadInput(val place: String, val problem: String, val hint: String)
    extends RuntimeException(s"$place: $problem $hint".linesIterator.mkString(" ")):
  override def fillInStackTrace(): Throwable = this
