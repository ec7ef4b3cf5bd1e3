package weir.program

import java.lang.Character.UnicodeScript

/** Computes the number of columns that a character takes on a terminal. */
object CharWidth:
  /** Returns 0 for a character that joins the one before it, 2 for a wide one, as in East Asia and
    * emoji, and 1 otherwise.
    */
  def of(codePoint: Int): Int =
    if codePoint < 0x300 then 1
    else if joins(codePoint) then 0
    else if isWide(codePoint) then 2
    else 1

  private def joins(codePoint: Int): Boolean =
    Character.getType(codePoint) match
      case Character.NON_SPACING_MARK | Character.ENCLOSING_MARK | Character.FORMAT => true
      case _ => false

  private def isWide(codePoint: Int): Boolean =
    val isHalfWidth = codePoint >= 0xff61 && codePoint <= 0xffdc
    val isFullWidth =
      codePoint >= 0xff01 && codePoint <= 0xff60 || codePoint >= 0xffe0 && codePoint <= 0xffe6
    val isPunctuation = codePoint >= 0x3000 && codePoint <= 0x303e
    isFullWidth || isPunctuation || Character.isEmojiPresentation(codePoint) ||
    !isHalfWidth && (UnicodeScript.of(codePoint) match
      case UnicodeScript.HAN | UnicodeScript.HIRAGANA | UnicodeScript.KATAKANA |
          UnicodeScript.HANGUL | UnicodeScript.BOPOMOFO | UnicodeScript.YI =>
        true
      case _ => false)
