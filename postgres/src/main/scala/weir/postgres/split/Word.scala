package weir.postgres.split

/** The identifier that is being read: where it begins, and its first bytes if it began in an
  * earlier block.
  */
private[split] final class Word:
  private val head =
    new Array[Byte](Keyword.longest + 1) // one more, so that too long ones are seen
  private var headLength = 0
  private var from = 0

  def begin(at: Int): Unit =
    headLength = 0
    from = at

  /** Begins with the bytes of a dollar quote's tag that turned out to be a word. */
  def begin(tag: DollarQuote, end: Int): Unit =
    headLength = tag.copyTo(head)
    from = end

  /** The block ends in the middle of the word. */
  def cut(bytes: Array[Byte], end: Int): Unit =
    val length = math.min(end - from, head.length - headLength)
    System.arraycopy(bytes, from, head, headLength, length)
    headLength += length
    from = end

  def resume(at: Int): Unit = from = at

  /** The keyword that it is, at its end. */
  def keyword(bytes: Array[Byte], end: Int): Keyword =
    if headLength == 0 then Keyword.of(bytes, from, end)
    else
      cut(bytes, end)
      Keyword.of(head, 0, headLength)

  /** True for the E of an escape string. */
  def isE(bytes: Array[Byte], end: Int): Boolean =
    headLength + (end - from) == 1 && {
      val letter = if headLength == 1 then head(0) else bytes(from)
      letter == 'e' || letter == 'E'
    }
