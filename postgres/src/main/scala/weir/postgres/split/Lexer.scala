package weir.postgres.split

import scala.annotation.switch
import weir.postgres.{Piece, Position}

/** The states of psql's lexer. Each state takes bytes for as long as it lasts, so that the input may end after any byte:
  * nothing is ever looked ahead at.
  */
private[split] final class Lexer(complain: Complaints):
  import Lexer.*

  private val text = StatementText()
  private val heads = Heads()
  private val word = Word()
  private val tag = DollarTag()
  private val command = MetaCommand(complain)

  private var run: Run = Run(Position.start)
  private var state = Between
  private var isEnded = false

  // of the statement
  private var hasToken = false // something other than comments
  private var parentheses = 0
  private var parenthesisAt =
    0 // in the text, as all that follow: the one that has opened the outermost
  private var isJoined = false // it has a `\;`
  private var partAt = 0 // what follows the last `\;`

  // of the token
  private var openAt = 0
  private var wordAt = 0
  private var comments = 0 // nested
  private var newlineSeen = false // in the gap after an escape string

  /** Reads on. True if a statement has ended, which `statement` then is; false if the bytes are used. */
  def read(from: Run): Boolean =
    run = from
    isEnded = false
    if text.isBegun && state != Meta && state != Backslash then text.resume(from, from.index)
    if state == InWord then word.resume(from.index)
    val bytes = from.bytes
    val end = from.end
    var i = from.index
    while i < end && !isEnded do i = step(bytes, i, end)
    from.index = i
    if !isEnded then
      if state == InWord then word.cut(bytes, end)
      text.pause(end)
      if text.isBegun then complain.checkLength(text.length(end), text.start)
    isEnded

  /** True if the statement that has ended is more than comments. */
  def isStatement: Boolean = hasToken

  /** The statement that has ended. Called once, before reading on. */
  def take(endOffset: Long): Piece.Statement =
    val at = if isEnded then run.index - 1 else run.index
    if heads.isCopy && isJoined then
      complain(
        text.start,
        "COPY … FROM STDIN is joined with other statements by \\;",
        Some("Write ; instead, so that each is sent by itself.")
      )
    val statement = text.statement(at, heads.isCopy, endOffset)
    text.abandon()
    statement

  def skip(): Unit = text.abandon()

  /** The end of the script: fails if something is open. True if a statement has ended with it. */
  def finish(): Boolean =
    isEnded = false
    val at = run.index
    state match
      case InString | InEscape | EscapeBackslash => unended("unterminated string literal")
      case InQuoted => unended("unterminated quoted identifier")
      case InDollar | DollarClose => unended(s"unterminated dollar-quoted string $tag")
      case InBlock | BlockStar | BlockSlash => unended("unterminated comment")
      case Backslash | Meta => command.end()
      case InWord => endWord(run.bytes, at)
      case DollarOpen if tag.length > 0 =>
        beginTagWord(at)
        endWord(run.bytes, at)
      case Dash | Slash => hasToken = true
      case _ => ()
    state = Between
    if text.isBegun then
      if parentheses > 0 then
        openAt = parenthesisAt
        unended("unclosed \"(\"")
      if heads.inBody then
        openAt = heads.bodyAt
        unended("unclosed BEGIN ATOMIC")
      endPart(at)
    text.isBegun

  private def step(bytes: Array[Byte], i: Int, end: Int): Int = (state: @switch) match
    case Between => between(bytes, i, end)
    case Plain => plain(bytes, i, end)
    case InWord => inWord(bytes, i, end)
    case InString => inString(bytes, i, end)
    case StringQuote => doubled(bytes, i, '\'', InString)
    case InQuoted => inQuoted(bytes, i, end)
    case QuotedQuote => doubled(bytes, i, '"', InQuoted)
    case InEscape => inEscape(bytes, i, end)
    case EscapeBackslash => escaped(bytes, i)
    case EscapeQuote => escapeQuote(bytes, i)
    case EscapeGap => escapeGap(bytes, i)
    case EscapeGapDash => escapeGapDash(bytes, i)
    case EscapeGapLine => line(bytes, i, end, EscapeGap)
    case DollarOpen => dollarOpen(bytes, i, end)
    case InDollar => inDollar(bytes, i, end)
    case DollarClose => dollarClose(bytes, i)
    case Dash => dash(bytes, i)
    case LeadingLine => line(bytes, i, end, Between)
    case InLine => line(bytes, i, end, Plain)
    case Slash => slash(bytes, i)
    case InBlock => inBlock(bytes, i, end)
    case BlockStar => blockStar(bytes, i)
    case BlockSlash => blockSlash(bytes, i)
    case Number => number(bytes, i)
    case NumberDot => numberDot(bytes, i)
    case Dot => dot(bytes, i)
    case Fraction => fraction(bytes, i)
    case Exponent => exponent(bytes, i)
    case SignedExponent => signedExponent(bytes, i)
    case Parameter => parameter(bytes, i)
    case Backslash => backslash(bytes, i)
    case Meta => meta(bytes, i)

  // ---- between tokens ----

  /** Before a statement: white space, `--` comments and empty statements are dropped. */
  private def between(bytes: Array[Byte], from: Int, end: Int): Int =
    var i = from
    while i < end && ByteClass.isSpace(bytes(i)) do i += 1
    if i == end then i
    else
      ByteClass.of(bytes(i)) match
        case ByteClass.Semicolon => i + 1
        case ByteClass.Backslash => beginCommand(i)
        case ByteClass.Dash =>
          begin(i)
          to(Dash, i + 1)
        case _ =>
          begin(i)
          to(Plain, i)

  private def begin(at: Int): Unit =
    text.begin(run, at)
    heads.begin()
    hasToken = false
    parentheses = 0
    isJoined = false
    partAt = 0

  private def plain(bytes: Array[Byte], from: Int, end: Int): Int =
    var i = from
    var next = -1 // where the next state begins
    while next < 0 do
      (ByteClass.of(bytes(i)): @switch) match
        case ByteClass.Other => token()
        case ByteClass.Space => ()
        case ByteClass.Letter => next = beginWord(i)
        case ByteClass.Digit => next = open(Number, i)
        case ByteClass.Quote => next = open(InString, i)
        case ByteClass.DoubleQuote => next = open(InQuoted, i)
        case ByteClass.Dollar =>
          tag.begin()
          next = open(DollarOpen, i)
        case ByteClass.Dot =>
          token()
          next = to(Dot, i + 1)
        case ByteClass.Dash => next = to(Dash, i + 1)
        case ByteClass.Slash =>
          openAt = text.length(i)
          next = to(Slash, i + 1)
        case ByteClass.Open =>
          token()
          if parentheses == 0 then parenthesisAt = text.length(i)
          parentheses += 1
        case ByteClass.Close =>
          token()
          if parentheses > 0 then parentheses -= 1
        case ByteClass.Semicolon =>
          heads.other()
          if parentheses == 0 && !heads.inBody then next = endStatement(i)
        case ByteClass.Backslash => next = beginCommand(i)
        case ByteClass.Nul => nul(i)
      i += 1
      if next < 0 && i == end then next = i
    next

  private def token(): Unit =
    hasToken = true
    heads.other()

  private def open(next: Int, at: Int): Int =
    token()
    openAt = text.length(at)
    to(next, at + 1)

  private def endStatement(at: Int): Int =
    endPart(at)
    isEnded = true
    to(Between, at + 1)

  /** Checks what ends at a `;`, a `\;` or the end of the script. */
  private def endPart(at: Int): Unit =
    complain.checkLength(text.length(at), text.start)
    if heads.isSet then
      val bytes = text.bytes(at)
      val part = java.util.Arrays.copyOfRange(bytes, partAt, bytes.length)
      Refused.problem(part).foreach(complain(position(partAt, at), _, Some(Refused.hint)))

  // ---- words ----

  private def beginWord(at: Int): Int =
    hasToken = true
    wordAt = text.length(at)
    word.begin(at)
    to(InWord, at + 1)

  private def inWord(bytes: Array[Byte], from: Int, end: Int): Int =
    var i = from
    while i < end && ByteClass.continuesWord(bytes(i)) do i += 1
    if i == end then i
    else if bytes(i) == '\'' && word.isE(bytes, i) then
      heads.other()
      openAt = wordAt
      to(InEscape, i + 1)
    else
      endWord(bytes, i)
      to(Plain, i)

  private def endWord(bytes: Array[Byte], at: Int): Unit =
    if heads.wantsWords then heads.word(word.keyword(bytes, at), wordAt, parentheses > 0)

  // ---- quotes ----

  private def inString(bytes: Array[Byte], from: Int, end: Int): Int =
    var i = from
    while i < end && bytes(i) != '\'' && bytes(i) != 0 do i += 1
    closing(bytes, i, end, StringQuote)

  private def inQuoted(bytes: Array[Byte], from: Int, end: Int): Int =
    var i = from
    while i < end && bytes(i) != '"' && bytes(i) != 0 do i += 1
    closing(bytes, i, end, QuotedQuote)

  private def closing(bytes: Array[Byte], i: Int, end: Int, next: Int): Int =
    if i == end then i
    else if bytes(i) == 0 then nul(i)
    else to(next, i + 1)

  /** After a quote in a string: its end, unless it is doubled. */
  private def doubled(bytes: Array[Byte], i: Int, quote: Char, inside: Int): Int =
    if bytes(i) == quote then to(inside, i + 1) else to(Plain, i)

  private def inEscape(bytes: Array[Byte], from: Int, end: Int): Int =
    var i = from
    while i < end && bytes(i) != '\'' && bytes(i) != '\\' && bytes(i) != 0 do i += 1
    if i == end then i
    else if bytes(i) == '\\' then to(EscapeBackslash, i + 1)
    else closing(bytes, i, end, EscapeQuote)

  private def escaped(bytes: Array[Byte], i: Int): Int =
    if bytes(i) == 0 then nul(i) else to(InEscape, i + 1)

  private def escapeQuote(bytes: Array[Byte], i: Int): Int =
    newlineSeen = false
    if bytes(i) == '\'' then to(InEscape, i + 1) else to(EscapeGap, i)

  /** After an escape string: it goes on, with its backslashes, after white space with a newline in it. */
  private def escapeGap(bytes: Array[Byte], i: Int): Int =
    val byte = bytes(i)
    if ByteClass.isSpace(byte) then
      newlineSeen ||= ByteClass.isNewline(byte)
      i + 1
    else if byte == '\'' && newlineSeen then to(InEscape, i + 1)
    else if byte == '-' then to(EscapeGapDash, i + 1)
    else to(Plain, i)

  private def escapeGapDash(bytes: Array[Byte], i: Int): Int =
    if bytes(i) == '-' then to(EscapeGapLine, i + 1) else to(Plain, i)

  // ---- dollar strings ----

  /** After a `$`: the tag of a string, or a parameter, or neither. */
  private def dollarOpen(bytes: Array[Byte], from: Int, end: Int): Int =
    var i = from
    while i < end && tag.take(bytes(i)) do i += 1
    if i == end then i
    else if bytes(i) == '$' then to(InDollar, i + 1)
    else if tag.length > 0 then
      beginTagWord(i)
      to(InWord, i)
    else if ByteClass.of(bytes(i)) == ByteClass.Digit then to(Parameter, i + 1)
    else to(Plain, i)

  /** No tag: the dollar is one token, the rest a word that ends at `at`. */
  private def beginTagWord(at: Int): Unit =
    wordAt = openAt + 1
    word.begin(tag, at)

  private def inDollar(bytes: Array[Byte], from: Int, end: Int): Int =
    var i = from
    while i < end && bytes(i) != '$' && bytes(i) != 0 do i += 1
    tag.beginMatch()
    closing(bytes, i, end, DollarClose)

  /** After a `$` in the string. One that ends no tag may begin the next. */
  private def dollarClose(bytes: Array[Byte], i: Int): Int =
    if bytes(i) == '$' then
      if tag.isMatched then to(Plain, i + 1)
      else
        tag.beginMatch()
        i + 1
    else if tag.matches(bytes(i)) then i + 1
    else to(InDollar, i)

  // ---- comments ----

  /** After a dash. The text begins with it, until it is seen to be one of a comment. */
  private def dash(bytes: Array[Byte], i: Int): Int =
    if bytes(i) == '-' then
      if text.length(i) == 1 then
        text.abandon()
        to(LeadingLine, i + 1)
      else to(InLine, i + 1)
    else
      token()
      to(Plain, i)

  private def line(bytes: Array[Byte], from: Int, end: Int, next: Int): Int =
    var i = from
    while i < end && !ByteClass.isNewline(bytes(i)) && bytes(i) != 0 do i += 1
    if i == end then i
    else if bytes(i) == 0 then nul(i)
    else to(next, i)

  private def slash(bytes: Array[Byte], i: Int): Int =
    if bytes(i) == '*' then
      comments = 1
      to(InBlock, i + 1)
    else
      token()
      to(Plain, i)

  private def inBlock(bytes: Array[Byte], from: Int, end: Int): Int =
    var i = from
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

  // ---- numbers: the letter after one belongs to it, so that no string begins with it ----

  private def number(bytes: Array[Byte], i: Int): Int =
    if bytes(i) == '.' then to(NumberDot, i + 1) else fraction(bytes, i)

  /** After digits and a dot: a second one makes both a token of their own. */
  private def numberDot(bytes: Array[Byte], i: Int): Int =
    if bytes(i) == '.' then to(Plain, i + 1) else to(Fraction, i)

  /** After a dot that no digits come before. */
  private def dot(bytes: Array[Byte], i: Int): Int =
    if bytes(i) == '.' then to(Plain, i + 1)
    else if ByteClass.of(bytes(i)) == ByteClass.Digit then to(Fraction, i + 1)
    else to(Plain, i)

  /** In digits after which no dot belongs to the number. */
  private def fraction(bytes: Array[Byte], i: Int): Int =
    val byte = bytes(i)
    ByteClass.of(byte) match
      case ByteClass.Digit => i + 1
      case ByteClass.Letter => to(if byte == 'e' || byte == 'E' then Exponent else Plain, i + 1)
      case _ => to(Plain, i)

  private def exponent(bytes: Array[Byte], i: Int): Int =
    val byte = bytes(i)
    if byte == '+' || byte == '-' then to(SignedExponent, i + 1) else signedExponent(bytes, i)

  private def signedExponent(bytes: Array[Byte], i: Int): Int =
    if ByteClass.of(bytes(i)) == ByteClass.Digit then to(Parameter, i + 1) else to(Plain, i)

  /** In the digits of a parameter or of an exponent, after which neither a dot nor an exponent belongs to it. */
  private def parameter(bytes: Array[Byte], i: Int): Int = ByteClass.of(bytes(i)) match
    case ByteClass.Digit => i + 1
    case ByteClass.Letter => to(Plain, i + 1)
    case _ => to(Plain, i)

  // ---- backslashes ----

  private def beginCommand(at: Int): Int =
    if text.isBegun then complain.checkLength(text.length(at), text.start)
    command.begin(run.position(at))
    text.pause(at)
    to(Backslash, at + 1)

  /** `\;` is a semicolon that ends nothing, `\:` a colon; all else is a meta-command. */
  private def backslash(bytes: Array[Byte], i: Int): Int =
    if bytes(i) != ';' && bytes(i) != ':' then to(Meta, i)
    else
      if !text.isBegun then begin(i)
      else text.resume(run, i)
      if bytes(i) == ';' && parentheses == 0 && !heads.inBody then join(i)
      if bytes(i) == ':' then token()
      to(Plain, i + 1)

  private def join(at: Int): Unit =
    endPart(at)
    isJoined = true
    partAt = text.length(at) + 1
    if !heads.isCopy then heads.begin()

  /** A meta-command takes the rest of its line, which is in no text. */
  private def meta(bytes: Array[Byte], i: Int): Int =
    if bytes(i) == '\n' then
      command.end()
      if text.isBegun then text.resume(run, i)
      to(if text.isBegun then Plain else Between, i)
    else if bytes(i) == 0 then nul(i)
    else
      command.take(bytes(i))
      i + 1

  private def to(next: Int, index: Int): Int =
    state = next
    index

  // ---- what is wrong ----

  private def nul(at: Int): Nothing =
    if text.isBegun then complain.checkLength(text.length(at), text.start)
    complain.nul(run.position(at))

  /** What began at `openAt` has no end. */
  private def unended(problem: String): Nothing = complain(position(openAt, run.index), problem)

  /** The position of a byte of the text, which ends before `at`. */
  private def position(textIndex: Int, at: Int): Position =
    text.statement(at, copies = false, 0).positionOfByte(textIndex)

private[split] object Lexer:
  private final val Between = 0
  private final val Plain = 1
  private final val InWord = 2
  private final val InString = 3
  private final val StringQuote = 4
  private final val InQuoted = 5
  private final val QuotedQuote = 6
  private final val InEscape = 7
  private final val EscapeBackslash = 8
  private final val EscapeQuote = 9
  private final val EscapeGap = 10
  private final val EscapeGapDash = 11
  private final val EscapeGapLine = 12
  private final val DollarOpen = 13
  private final val InDollar = 14
  private final val DollarClose = 15
  private final val Dash = 16
  private final val LeadingLine = 17
  private final val InLine = 18
  private final val Slash = 19
  private final val InBlock = 20
  private final val BlockStar = 21
  private final val BlockSlash = 22
  private final val Number = 23
  private final val Fraction = 24
  private final val Exponent = 25
  private final val SignedExponent = 26
  private final val Parameter = 27
  private final val Backslash = 28
  private final val Meta = 29
  private final val NumberDot = 30
  private final val Dot = 31
