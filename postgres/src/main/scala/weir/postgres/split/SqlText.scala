package weir.postgres.split

/** A string in a piece of SQL, which need not be whole: its content is `start` to `end`, and the
  * text after it begins at `after`.
  */
private[postgres] final case class SqlLiteral(start: Int, end: Int, after: Int)

/** A text that may be SQL, or hold some: a statement, a part of one, a message that quotes one.
  * Finds the comments and the strings at an index, with `TokenScanner`. Only one thread at a time
  * may use it.
  */
private[postgres] final class SqlText(val text: String):
  private val scanner = TokenScanner()

  /** One byte for each character. */
  private val bytes: Array[Byte] = Array.tabulate(text.length)(i => SqlText.byte(text.charAt(i)))

  /** Returns the index after white space and comments. */
  def skipGap(from: Int): Int = scanner.skipGap(bytes, from.min(bytes.length), bytes.length)

  /** Returns the index after the name that begins at `from`, quoted or not; `from` if none does. */
  def nameEnd(from: Int): Int =
    if from < bytes.length && bytes(from) == '"' then
      val end = text.indexOf('"', from + 1)
      if end < 0 then bytes.length else end + 1
    else
      var end = from
      while end < bytes.length && ByteClass.continuesWord(bytes(end)) do end += 1
      end

  /** Returns true if there is this character at the index. */
  def is(char: Char, at: Int): Boolean = at < text.length && text.charAt(at) == char

  /** Returns the string that begins at `at`, if there is one: in single or dollar quotes, or in the
    * quotes of a string inside of another one, which are doubled or have a backslash before them. A
    * string without an end goes to the end of the text.
    */
  def literal(at: Int): Option[SqlLiteral] =
    val quote = at + prefixLength(at)
    if text.startsWith("\\'", quote) then Some(escaped(quote + 2))
    else if text.startsWith("'", quote) then
      val quotes = run(quote)
      if quotes % 2 == 1 then
        val begins = if (bytes(at) | 0x20) == 'e' then at else quote
        Some(simple(begins, quote + 1))
      else if isEmpty(quote + quotes) then
        Some(SqlLiteral(quote + quotes, quote + quotes, quote + quotes))
      else Some(nested(quote + quotes, quotes))
    else dollar(at)

  private def prefixLength(at: Int): Int =
    if text.regionMatches(true, at, "u&'", 0, 3) then 2
    else if at + 1 < text.length && "eEnNbBxX".indexOf(text.charAt(at).toInt) >= 0 &&
      (text.charAt(at + 1) == '\'' || text.startsWith("\\'", at + 1))
    then 1
    else 0

  /** Returns the number of single quotes that follow one another. */
  private def run(from: Int): Int =
    var at = from
    while is('\'', at) do at += 1
    at - from

  /** Two quotes are an empty string if nothing follows that could be in a string. */
  private def isEmpty(at: Int): Boolean =
    at >= text.length || text.charAt(at).isWhitespace || ",;)".indexOf(text.charAt(at).toInt) >= 0

  /** The string that begins at `begins`, and its content at `start`. It goes on after white space
    * with a newline and another quote.
    */
  private def simple(begins: Int, start: Int): SqlLiteral =
    var end = stringEnd(begins)
    var isDone = end < 0
    while !isDone do
      val next = skipGap(end)
      isDone = !is('\'', next) || !text.substring(end, next).contains('\n')
      if !isDone then
        end = stringEnd(next)
        isDone = end < 0
    if end < 0 then SqlLiteral(start, text.length, text.length) else SqlLiteral(start, end - 1, end)

  /** Returns the index after the string that begins at `from`; -1 if it does not end. */
  private def stringEnd(from: Int): Int =
    scanner.begin()
    scanner.place(0, 0)
    scanner.read(bytes, from, bytes.length): Unit
    if scanner.kind == Token.None then
      scanner.place(bytes.length, 0)
      scanner.read(TokenScanner.end, 0, TokenScanner.end.length): Unit
    if scanner.kind == Token.Text then scanner.until else -1

  /** The rest of a string in a string, whose quotes are `quotes` long. It ends with the outer one,
    * too.
    */
  private def nested(start: Int, quotes: Int): SqlLiteral =
    var at = start
    var end = -1
    while end < 0 do
      val quote = text.indexOf('\'', at)
      if quote < 0 then end = text.length
      else
        val length = run(quote)
        if length % (2 * quotes) == 0 then at = quote + length else end = quote
    SqlLiteral(start, end, (end + run(end)).min(text.length))

  /** The rest of a string in an escape string, whose quotes have backslashes. */
  private def escaped(start: Int): SqlLiteral =
    val end = text.indexOf("\\'", start)
    if end < 0 then SqlLiteral(start, text.length, text.length) else SqlLiteral(start, end, end + 2)

  private def dollar(at: Int): Option[SqlLiteral] =
    val start = tagEnd(at)
    Option.when(start >= 0) {
      val end = stringEnd(at)
      if end < 0 then SqlLiteral(start, text.length, text.length)
      else SqlLiteral(start, end - (start - at), end)
    }

  /** Returns the index after the tag that opens a dollar string at `at`; -1 if none does. */
  private def tagEnd(at: Int): Int =
    var end = at + 1
    while end < bytes.length && ByteClass.of(bytes(end)) != ByteClass.Dollar &&
      ByteClass.continuesWord(bytes(end))
    do end += 1
    val isTag = is('$', at) && is('$', end) && ByteClass.of(bytes(at + 1)) != ByteClass.Digit
    if isTag then end + 1 else -1

private[postgres] object SqlText:
  private def byte(char: Char): Byte =
    if char == '\n' || char == '\r' then char.toByte
    else if char == 0 || char.isWhitespace then ' '.toByte
    else if char < 128 then char.toByte
    else 0x80.toByte // a letter
