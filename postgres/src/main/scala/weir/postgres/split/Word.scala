package weir.postgres.split

/** The identifier that is being read: where it began, and of one that began in earlier bytes its head. */
private[split] final class Word:
  private val head =
    new Array[Byte](Keyword.longest + 1) // one more, so that too long ones are seen
  private var headLength = 0
  private var from = 0

  def begin(at: Int): Unit =
    headLength = 0
    from = at

  /** The bytes of a tag that did not become one. */
  def begin(tag: DollarTag, end: Int): Unit =
    headLength = tag.copyTo(head)
    from = end

  /** Its bytes end, and go on in others. */
  def cut(bytes: Array[Byte], end: Int): Unit =
    val length = math.min(end - from, head.length - headLength)
    System.arraycopy(bytes, from, head, headLength, length)
    headLength += length
    from = end

  def resume(at: Int): Unit = from = at

  /** What it is, at its end. */
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
