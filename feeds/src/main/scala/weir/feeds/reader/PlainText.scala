package weir.feeds.reader

import weir.program.CharWidth

/** Text of others as one line without control characters, for a terminal or a page.
  *
  * No control character is left, so no escape sequence; no character that changes the direction or
  * hides what follows; and no line break. The joiners that emoji and Indic scripts need stay.
  */
object PlainText:
  def line(text: String): String =
    val shown = StringBuilder()
    text.codePoints.forEach: code =>
      Character.getType(code) match
        case Character.FORMAT if code != zeroWidthNonJoiner && code != zeroWidthJoiner => ()
        case Character.SURROGATE => shown.append('\uFFFD'): Unit
        case _ if isSpace(code) =>
          if shown.nonEmpty && shown.last != ' ' then shown.append(' '): Unit
        case _ => shown.underlying.appendCodePoint(code): Unit
    shown.toString.stripSuffix(" ")

  /** Returns the text in at most `columns` columns of a terminal, with an ellipsis if something is
    * cut.
    */
  def cut(text: String, columns: Int): String =
    if width(text) <= columns then text
    else
      val ends = text.codePoints.toArray.scanLeft((0, 0)): (end, code) =>
        (end._1 + Character.charCount(code), end._2 + CharWidth.of(code))
      text.take(ends.takeWhile(_._2 < columns).last._1).stripTrailing + "…"

  /** Returns the number of columns that the text takes on a terminal. */
  def width(text: String): Int = text.codePoints.map(CharWidth.of).sum

  private val zeroWidthNonJoiner = 0x200c
  private val zeroWidthJoiner = 0x200d

  private def isSpace(code: Int): Boolean =
    Character.getType(code) == Character.CONTROL || Character.isSpaceChar(code)
