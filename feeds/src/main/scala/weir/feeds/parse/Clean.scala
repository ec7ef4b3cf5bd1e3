package weir.feeds.parse

/** Removes characters that no text has and databases refuse. */
private[parse] object Clean:
  /** `text` without control characters (but tabs and line breaks), halves of surrogate pairs, and
    * the two code points that are no characters.
    */
  def text(text: String): String =
    if text.codePoints.allMatch(isText) then text
    else
      text.codePoints
        .filter(isText)
        .collect(
          () => java.lang.StringBuilder(),
          (all, point) => all.appendCodePoint(point): Unit,
          (all, more) => all.append(more): Unit
        )
        .toString

  private def isText(point: Int): Boolean =
    if point < 0x20 then point == '\t' || point == '\n' || point == '\r'
    else !(point >= 0xd800 && point <= 0xdfff) && point != 0xfffe && point != 0xffff
