package weir.postgres.split

/** The states of a variable of psql: which byte leads from one to the next. */
private[split] object VariableScan:
  import LexerState.*

  /** The byte belongs to the variable, and ends it. */
  final val Ends = -1

  /** There is no variable: the colon is a token, and what follows it another one. */
  final val None = -2

  /** The name has ended before the byte. */
  final val Ended = -3

  /** Returns the state after `byte`, or one of the values above.
    *
    * @param length
    *   the number of bytes since the colon
    */
  def after(state: Int, byte: Byte, length: Int): Int =
    if ByteClass.isOfVariable(byte) then
      if state == Colon then ColonName else if state == ColonBrace then None else state
    else
      state match
        case Colon => opened(byte)
        case ColonName => Ended
        case ColonBrace => if byte == '?' then ColonTest else None
        case ColonText => if byte == '\'' && length > 1 then Ends else None
        case ColonQuoted => if byte == '"' && length > 1 then Ends else None
        case ColonTest => if byte == '}' && length > 2 then Ends else None

  private def opened(byte: Byte): Int = byte match
    case '\'' => ColonText
    case '"' => ColonQuoted
    case '{' => ColonBrace
    case _ => None
