package weir.postgres.split

import scala.annotation.switch

/** Reads the tokens of SQL as psql's lexer does, by the states of `LexerState`: the only code that
  * knows where a comment, a string, a quoted name, a dollar string or a number ends.
  *
  * Each state takes bytes for as long as it lasts and never looks ahead, so the input may end after
  * any byte. Indexes of tokens count from where the caller has placed index 0 of its text.
  *
  * @param findsVariables
  *   reports the variables of psql, which are no tokens of SQL
  */
private[split] final class TokenScanner(findsVariables: Boolean = false):
  import LexerState.*

  private val dollar = DollarQuote()
  private var raw = Array.emptyByteArray
  private var state = Plain
  private var base = 0 // added to an index of the block, it gives one of the text

  // of the token that is being read
  private var openAt = 0
  private var closeAt = 0 // after the last quote of an escape string, which may go on
  private var isE = false // the word begins with an E
  private var isBits = false // the word begins with a B or an X
  private var isU = false // the word begins with a U
  private var plainAt = -1 // where a quote begins a string that never has escapes
  private var comments = 0 // nested
  private var newlineSeen = false // in the gap after an escape string

  // The kinds up to this one are passed over, and so are the classes of bytes up to that one.
  private var passed = Token.None
  private var blank = ByteClass.Space

  /** The kind of the token that `read` has found, one of `Token`. */
  var kind: Int = Token.None

  /** The index of its first byte, and the index after its last one. */
  var from = 0
  var until = 0

  /** True if a backslash escapes in plain strings, too. Read where a string begins. */
  var hasEscapes: Boolean = false

  /** Begins with a text, outside of all tokens. */
  def begin(): Unit =
    state = Plain
    plainAt = -1

  /** Passes over all tokens but parentheses, semicolons and backslashes, or reports them again. */
  def passOver(plain: Boolean): Unit =
    passed = if plain then Token.Mark else Token.None
    blank = if plain then ByteClass.Other else ByteClass.Space

  /** Says that the byte `index` of the next block has the index `textIndex` in the text. */
  def place(textIndex: Int, index: Int): Unit = base = textIndex - index

  /** Returns true if a line comment is being read. */
  def isInLine: Boolean = state == InLine

  /** Reads on until a token has ended, which `kind` then is, or until the bytes are used up, where
    * `kind` is `Token.None`. Returns the index at which to go on.
    */
  def read(bytes: Array[Byte], start: Int, end: Int): Int = read(bytes, bytes, start, end)

  /** Reads on in `bytes`, which are those of `raw` with its characters masked. */
  def read(bytes: Array[Byte], raw: Array[Byte], start: Int, end: Int): Int =
    this.raw = raw
    kind = Token.None
    var i = start
    while i < end && kind == Token.None do
      i = if state == Plain then plain(bytes, i, end) else step(bytes, i, end)
    i

  /** Reads on to the end of the line comment that is being read. */
  def readLine(bytes: Array[Byte], start: Int, end: Int): Int =
    kind = Token.None
    line(bytes, start, end, Plain)

  /** Returns the index after the white space and the comments at `start`. A comment that does not
    * end goes up to `end`. May be called between two texts only.
    */
  def skipGap(bytes: Array[Byte], start: Int, end: Int): Int =
    var i = start
    var gapEnd = start
    var goesOn = true
    while goesOn do
      while i < end && ByteClass.isSpace(bytes(i)) do i += 1
      gapEnd = i
      goesOn = i < end && (bytes(i) == '-' || bytes(i) == '/')
      if goesOn then
        state = if bytes(i) == '-' then Dash else Slash
        kind = Token.None
        i += 1
        while i < end && state != Plain do i = step(bytes, i, end)
        goesOn = kind != Token.Mark && state != Dash && state != Slash
    state = Plain
    gapEnd

  /** Returns the problem of a text that ends here; null if nothing is open. */
  def unended: String | Null = state match
    case InString | InEscape | EscapeBackslash => "unterminated string literal"
    case InQuoted => "unterminated quoted identifier"
    case InDollar | DollarClose => s"unterminated dollar-quoted string $dollar"
    case InBlock | BlockStar | BlockSlash => "unterminated comment"
    case _ => null

  /** Returns the index of the first byte of the token or comment that is open. */
  def unendedAt: Int = openAt

  private def step(bytes: Array[Byte], i: Int, end: Int): Int = (state: @switch) match
    case Plain => plain(bytes, i, end)
    case InWord => inWord(bytes, i, end)
    case InString => inString(bytes, i, end)
    case StringQuote => doubled(bytes, i, '\'', InString, Token.Text)
    case InQuoted => inQuoted(bytes, i, end)
    case QuotedQuote => doubled(bytes, i, '"', InQuoted, Token.Name)
    case InEscape => inEscape(bytes, i, end)
    case EscapeBackslash => escaped(bytes, i)
    case EscapeQuote => escapeQuote(bytes, i)
    case EscapeGap => escapeGap(bytes, i)
    case EscapeGapDash => escapeGapDash(bytes, i)
    case EscapeGapLine => line(bytes, i, end, EscapeGap)
    case DollarOpen | InDollar | DollarClose => dollarQuote(bytes, i, end)
    case Dash => dash(bytes, i)
    case InLine => line(bytes, i, end, Plain)
    case Slash => slash(bytes, i)
    case InBlock => inBlock(bytes, i, end)
    case BlockStar => blockStar(bytes, i)
    case BlockSlash => blockSlash(bytes, i)
    case Colon | ColonName | ColonText | ColonQuoted | ColonBrace | ColonTest =>
      variable(bytes, i, end)
    case Number | NumberDot | Dot | Fraction | Exponent | SignedExponent | Digits =>
      number(bytes, i, end)

  private def plain(bytes: Array[Byte], start: Int, end: Int): Int =
    var i = start
    var byteClass = ByteClass.of(bytes(i))
    while byteClass <= blank && i + 1 < end do
      i += 1
      byteClass = ByteClass.of(bytes(i))
    if byteClass <= blank then end
    else
      openAt = base + i
      (byteClass: @switch) match
        case ByteClass.Letter =>
          val letter = bytes(i) | 0x20
          isE = letter == 'e'
          isBits = letter == 'b' || letter == 'x'
          isU = letter == 'u'
          state = InWord
          inWord(bytes, i + 1, end)
        case ByteClass.Digit => to(Number, i + 1)
        case ByteClass.Quote =>
          to(if hasEscapes && openAt != plainAt then InEscape else InString, i + 1)
        case ByteClass.DoubleQuote => to(InQuoted, i + 1)
        case ByteClass.Dollar =>
          dollar.begin()
          to(DollarOpen, i + 1)
        case ByteClass.Dot => to(Dot, i + 1)
        case ByteClass.Dash => to(Dash, i + 1)
        case ByteClass.Slash => to(Slash, i + 1)
        case ByteClass.Open => ended(Token.Open, i + 1)
        case ByteClass.Close => ended(Token.Close, i + 1)
        case ByteClass.Semicolon => ended(Token.Semicolon, i + 1)
        case ByteClass.Backslash => ended(Token.Backslash, i + 1)
        case ByteClass.Colon =>
          if findsVariables then to(Colon, i + 1) else ended(Token.Mark, i + 1)
        case ByteClass.Nul => nul(i)
        case _ => ended(Token.Mark, i + 1)

  private def inWord(bytes: Array[Byte], start: Int, end: Int): Int =
    var i = start
    while i < end && ByteClass.continuesWord(bytes(i)) do i += 1
    if i == end then i
    else if isE && bytes(i) == '\'' && base + i == openAt + 1 then to(InEscape, i + 1)
    else
      if base + i == openAt + 1 then
        if isBits then plainAt = base + i // B'…'
        else if isU && bytes(i) == '&' then plainAt = base + i + 1 // U&'…'
      ended(Token.Word, i)

  private def inString(bytes: Array[Byte], start: Int, end: Int): Int =
    var i = start
    while i < end && bytes(i) != '\'' && bytes(i) != 0 do i += 1
    closing(bytes, i, end, StringQuote)

  private def inQuoted(bytes: Array[Byte], start: Int, end: Int): Int =
    var i = start
    while i < end && bytes(i) != '"' && bytes(i) != 0 do i += 1
    closing(bytes, i, end, QuotedQuote)

  private def closing(bytes: Array[Byte], i: Int, end: Int, next: Int): Int =
    if i == end then i
    else if bytes(i) == 0 then nul(i)
    else to(next, i + 1)

  /** After a quote in a string: its end, unless it is doubled. */
  private def doubled(bytes: Array[Byte], i: Int, quote: Char, inside: Int, kind: Int): Int =
    if bytes(i) == quote then to(inside, i + 1) else ended(kind, i)

  private def inEscape(bytes: Array[Byte], start: Int, end: Int): Int =
    var i = start
    while i < end && bytes(i) != '\'' && bytes(i) != '\\' && bytes(i) != 0 do i += 1
    if i == end then i
    else if bytes(i) == '\\' then to(EscapeBackslash, i + 1)
    else closing(bytes, i, end, EscapeQuote)

  private def escaped(bytes: Array[Byte], i: Int): Int =
    if bytes(i) == 0 then nul(i) else to(InEscape, i + 1)

  private def escapeQuote(bytes: Array[Byte], i: Int): Int =
    newlineSeen = false
    closeAt = base + i
    if bytes(i) == '\'' then to(InEscape, i + 1) else to(EscapeGap, i)

  /** After an escape string: it goes on, with its backslashes, after white space with a newline in
    * it.
    */
  private def escapeGap(bytes: Array[Byte], i: Int): Int =
    val byte = bytes(i)
    if ByteClass.isSpace(byte) then
      newlineSeen ||= ByteClass.isNewline(byte)
      i + 1
    else if byte == '\'' && newlineSeen then to(InEscape, i + 1)
    else if byte == '-' then to(EscapeGapDash, i + 1)
    else endEscape(Plain, i)

  private def escapeGapDash(bytes: Array[Byte], i: Int): Int =
    if bytes(i) == '-' then to(EscapeGapLine, i + 1)
    else
      val next = endEscape(Dash, i)
      openAt = base + i - 1
      next

  private def endEscape(next: Int, i: Int): Int =
    found(Token.Text, closeAt)
    to(next, i)

  private def dollarQuote(bytes: Array[Byte], start: Int, end: Int): Int =
    val opens = state == DollarOpen
    val i = dollar.read(state, bytes, raw, start, end)
    state = dollar.state
    if state == InWord then
      // No tag: the dollar is one token, and the rest is a word.
      found(Token.Mark, openAt + 1)
      openAt += 1
      isE = dollar.beginsWithE
      isBits = false
      isU = false
    else if state == Plain then
      if opens then found(Token.Mark, openAt + 1) else found(Token.Text, base + i)
    if state == InDollar && i < end && bytes(i) == 0 then nul(i) else i

  private def dash(bytes: Array[Byte], i: Int): Int =
    if bytes(i) == '-' then
      found(Token.LineComment, base + i + 1)
      to(InLine, i + 1)
    else ended(Token.Mark, i)

  private def line(bytes: Array[Byte], start: Int, end: Int, next: Int): Int =
    var i = start
    while i < end && !ByteClass.isNewline(bytes(i)) && bytes(i) != 0 do i += 1
    if i == end then i
    else if bytes(i) == 0 then nul(i)
    else to(next, i)

  private def slash(bytes: Array[Byte], i: Int): Int =
    if bytes(i) == '*' then
      comments = 1
      to(InBlock, i + 1)
    else ended(Token.Mark, i)

  private def inBlock(bytes: Array[Byte], start: Int, end: Int): Int =
    var i = start
    while i < end && bytes(i) != '*' && bytes(i) != '/' && bytes(i) != 0 do i += 1
    if i < end && bytes(i) == '/' then to(BlockSlash, i + 1) else closing(bytes, i, end, BlockStar)

  private def blockStar(bytes: Array[Byte], i: Int): Int = bytes(i) match
    case '/' =>
      comments -= 1
      to(if comments == 0 then Plain else InBlock, i + 1)
    case '*' => i + 1
    case _ => to(InBlock, i)

  private def blockSlash(bytes: Array[Byte], i: Int): Int = bytes(i) match
    case '*' =>
      comments += 1
      to(InBlock, i + 1)
    case '/' => i + 1
    case _ => to(InBlock, i)

  private def number(bytes: Array[Byte], start: Int, end: Int): Int =
    var i = start
    var wasDot = state == Dot
    while i < end && state >= Number && state <= Digits do
      wasDot = state == Dot
      state = Numbers.after(state, bytes(i))
      if state == Numbers.Over then state = Plain else i += 1
    if state == Plain then found(if wasDot then Token.Dot else Token.Number, base + i)
    i

  private def variable(bytes: Array[Byte], start: Int, end: Int): Int =
    var i = start
    while i < end && state >= Colon do
      VariableScan.after(state, bytes(i), base + i - openAt - 1) match
        case VariableScan.Ends =>
          i += 1
          found(Token.Variable, base + i)
          state = Plain
        case VariableScan.Ended =>
          found(Token.Variable, base + i)
          state = Plain
        case VariableScan.None => i = noVariable(bytes, i)
        case next =>
          state = next
          i += 1
    i

  /** The colon is a token by itself. A string or a name in quotes may have begun after it. A second
    * colon belongs to it: a cast.
    */
  private def noVariable(bytes: Array[Byte], i: Int): Int =
    val isCast = state == Colon && bytes(i) == ':'
    found(Token.Mark, openAt + 1)
    openAt += 1
    state = state match
      case ColonText => if hasEscapes then InEscape else InString
      case ColonQuoted => InQuoted
      case ColonTest if base + i > openAt + 2 =>
        isE = false
        isBits = false
        isU = false
        InWord
      case _ => Plain
    if isCast then i + 1 else i

  /** Returns true if the text may end the variable that is being read, whose name began at
    * `unendedAt`.
    */
  def isInVariable: Boolean = state == ColonName

  private def nul(i: Int): Int =
    kind = Token.Nul
    i + 1

  /** Ends the token before the byte `i` of the block. */
  private def ended(kind: Int, i: Int): Int =
    found(kind, base + i)
    to(Plain, i)

  private def found(kind: Int, until: Int): Unit =
    if kind > passed then
      this.kind = kind
      from = openAt
      this.until = until

  private def to(next: Int, index: Int): Int =
    state = next
    index

private[split] object TokenScanner:
  /** The bytes after a text that has ended: a newline ends a line comment, behind which an escape
    * string may go on, and a semicolon every token that needs no end of its own.
    */
  val end: Array[Byte] = Array('\n', ';')

/** The kinds of tokens. */
private[split] object Token:
  final val None = 0 // none has ended
  final val Word = 1 // an unquoted word
  final val Name = 2 // a name in double quotes
  final val Text = 3 // a string, in single or dollar quotes
  final val Number = 4 // a parameter too
  final val Dot = 5 // . or ..
  final val Mark = 6 // one byte of any other kind
  final val Open = 7
  final val Close = 8
  final val Semicolon = 9
  final val Backslash = 10
  final val Variable = 11 // of psql

  // The ends of `TokenScanner.read` that are no tokens.
  final val LineComment = 12 // the dashes of one have been read
  final val Nul = 13 // a NUL byte, anywhere
