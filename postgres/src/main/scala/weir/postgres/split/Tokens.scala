package weir.postgres.split

/** The tokens of one statement, as far as needed to classify it: words, quoted names, single
  * characters. White space and comments are skipped; a string is one token of no word.
  *
  * The splitter has found where the statement ends, so nothing is unterminated here.
  */
private[postgres] final class Tokens(text: Array[Byte]):
  private var at = 0

  /** The beginning and the end of the token that `next` has found. */
  var from = 0
  var until = 0

  /** Moves to the next token. Returns true if there is one. */
  def next(): Boolean =
    skipBlank()
    from = at
    if at < text.length then
      at = tokenEnd()
      until = at
      true
    else
      until = at
      false

  /** The token, in upper case if it is an unquoted word. */
  def word: String =
    val token = String(text, from, until - from, java.nio.charset.StandardCharsets.ISO_8859_1)
    if Tokens.startsWord(text(from)) then Tokens.upper(token) else token

  def isWord: Boolean = Tokens.startsWord(text(from))
  def isName: Boolean = isWord || text(from) == '"'

  private def byte(i: Int): Int = if i < text.length then text(i) & 0xff else -1

  private def tokenEnd(): Int = byte(at) match
    case c if Tokens.startsWord(c.toByte) =>
      val end = wordEnd(at)
      // E'…', B'…', X'…', N'…' and U&'…' are strings; in the first a backslash escapes.
      if byte(end) == '\'' && end - at == 1 then
        quotedEnd(end, '\'', byte(at) == 'e' || byte(at) == 'E')
      else end
    case '\'' => quotedEnd(at, '\'', escapes = false)
    case '"' => quotedEnd(at, '"', escapes = false)
    case '$' => dollarEnd()
    case _ => at + 1

  private def wordEnd(start: Int): Int =
    var i = start
    while i < text.length && Tokens.inWord(text(i)) do i += 1
    i

  private def quotedEnd(open: Int, quote: Char, escapes: Boolean): Int =
    var i = open + 1
    while i < text.length && (byte(i) != quote || byte(i + 1) == quote) do
      i += (if byte(i) == quote || (escapes && byte(i) == '\\') then 2 else 1)
    math.min(i + 1, text.length)

  /** A dollar string is one token; a `$1` is a token of one character and a number. */
  private def dollarEnd(): Int =
    var close = at + 1
    while close < text.length && byte(close) != '$' && Tokens.inWord(text(close)) do close += 1
    if byte(close) != '$' || (byte(at + 1) >= '0' && byte(at + 1) <= '9') then at + 1
    else
      val tag = java.util.Arrays.copyOfRange(text, at, close + 1)
      var i = close + 1
      while i < text.length && !matches(tag, i) do i += 1
      math.min(i + tag.length, text.length)

  private def matches(tag: Array[Byte], i: Int): Boolean =
    i + tag.length <= text.length &&
      java.util.Arrays.equals(tag, 0, tag.length, text, i, i + tag.length)

  private def skipBlank(): Unit =
    var done = false
    while !done do
      val c = byte(at)
      if c == ' ' || (c >= 9 && c <= 13) then at += 1
      else if c == '-' && byte(at + 1) == '-' then
        while at < text.length && byte(at) != '\n' && byte(at) != '\r' do at += 1
      else if c == '/' && byte(at + 1) == '*' then skipComment()
      else done = true

  private def skipComment(): Unit =
    var depth = 0
    while
      if byte(at) == '/' && byte(at + 1) == '*' then
        depth += 1
        at += 2
      else if byte(at) == '*' && byte(at + 1) == '/' then
        depth -= 1
        at += 2
      else at += 1
      depth > 0 && at < text.length
    do ()

private[postgres] object Tokens:
  private def startsWord(c: Byte): Boolean =
    (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c < 0

  private def inWord(c: Byte): Boolean = startsWord(c) || (c >= '0' && c <= '9') || c == '$'

  /** Returns `word` with its ASCII letters in upper case, in every locale. */
  private def upper(word: String): String =
    word.map(c => if c >= 'a' && c <= 'z' then (c - 32).toChar else c)

  /** Returns the first `count` tokens that are words, up to the first token that is not. */
  def leading(text: Array[Byte], count: Int): List[String] =
    val tokens = Tokens(text)
    val words = List.newBuilder[String]
    var left = count
    while left > 0 && tokens.next() && tokens.isWord do
      words += tokens.word
      left -= 1
    words.result()

  /** Returns true if one of the statement's unquoted words is one of `wanted`. */
  def mention(text: Array[Byte], wanted: Set[String]): Boolean =
    val tokens = Tokens(text)
    var found = false
    while !found && tokens.next() do found = tokens.isWord && wanted(tokens.word)
    found
