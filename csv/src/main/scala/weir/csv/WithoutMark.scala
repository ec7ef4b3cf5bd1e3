package weir.csv

import java.io.{FilterReader, PushbackReader, Reader}

/** The text without a byte order mark at its beginning. */
private[csv] final class WithoutMark(text: Reader) extends FilterReader(PushbackReader(text)):
  private var begun = false

  override def read(into: Array[Char], offset: Int, length: Int): Int =
    if !begun && length > 0 then
      begun = true
      val pushback = in.asInstanceOf[PushbackReader]
      val first = pushback.read()
      if first >= 0 && first != '\uFEFF' then pushback.unread(first)
    super.read(into, offset, length)
