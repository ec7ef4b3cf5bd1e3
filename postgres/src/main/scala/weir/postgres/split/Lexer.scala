package weir.postgres.split

import scala.annotation.switch
import weir.postgres.{Piece, Position}

/** Reads statements as psql's lexer does, by the states of `LexerState`.
  *
  * Each state takes bytes for as long as it lasts and never looks ahead, so the input may end after
  * any byte.
  */
private[split] final class Lexer(errors: ScriptErrors):
  import LexerState.*

  private val text = StatementText()
  private val classifier = StatementClassifier()
  private val word = Word()
  private val dollar = DollarQuote()
  private val command = MetaCommand(errors)

  private var run: Run = Run(Position.start)
  private var state = Between
  private var isEnded = false

  // of the statement
  private var hasToken = false // something other than comments
  private var parentheses = 0
  // places in the text
  private var parenthesisAt = 0 // of the outermost "(" that is open
  private var partAt = 0 // after the last `\;`
  private var isJoined = false // it has a `\;`

  // of the token
  private var openAt = 0
  private var wordAt = 0
  private var comments = 0 // nested
  private var newlineSeen = false // in the gap after an escape string

  /** Reads on. True if a statement has ended, which `statement` then is; false if the bytes are
    * used.
    */
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
      if text.isBegun then errors.checkLength(text.length(end), text.start)
    isEnded

  /** Returns true if the statement that has ended is more than comments. */
  def isStatement: Boolean = hasToken

  /** The statement that has ended. Called once, before reading on. */
  def take(endOffset: Long): Piece.Statement =
    val at = if isEnded then run.index - 1 else run.index
    if classifier.isCopy && isJoined then
      errors.fail(
        text.start,
        "COPY … FROM STDIN is joined with other statements by \\;",
        Some("Write ; instead, so that each is sent by itself.")
      )
    val statement = text.statement(at, classifier.isCopy, endOffset)
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
      case InDollar | DollarClose => unended(s"unterminated dollar-quoted string $dollar")
      case InBlock | BlockStar | BlockSlash => unended("unterminated comment")
      case Backslash | Meta => command.end()
      case InWord => endWord(run.bytes, at)
      case DollarOpen if dollar.length > 0 =>
        beginTagWord(at)
        endWord(run.bytes, at)
      case Dash | Slash => hasToken = true
      case _ => ()
    state = Between
    if text.isBegun then
      if parentheses > 0 then
        openAt = parenthesisAt
        unended("unclosed \"(\"")
      if classifier.inBody then
        openAt = classifier.bodyAt
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
    case DollarOpen | InDollar | DollarClose => dollarQuote(bytes, i, end)
    case Dash => dash(bytes, i)
    case LeadingLine => line(bytes, i, end, Between)
    case InLine => line(bytes, i, end, Plain)
    case Slash => slash(bytes, i)
    case InBlock => inBlock(bytes, i, end)
    case BlockStar => blockStar(bytes, i)
    case BlockSlash => blockSlash(bytes, i)
    case Number | NumberDot | Dot | Fraction | Exponent | SignedExponent | Digits =>
      number(bytes, i, end)
    case Backslash => backslash(bytes, i)
    case Meta => meta(bytes, i)

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
    classifier.begin()
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
          dollar.begin()
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
          classifier.other()
          if parentheses == 0 && !classifier.inBody then next = endStatement(i)
        case ByteClass.Backslash => next = beginCommand(i)
        case ByteClass.Nul => nul(i)
      i += 1
      if next < 0 && i == end then next = i
    next

  private def token(): Unit =
    hasToken = true
    classifier.other()

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
    errors.checkLength(text.length(at), text.start)
    if classifier.isSet then
      val bytes = text.bytes(at)
      val part = java.util.Arrays.copyOfRange(bytes, partAt, bytes.length)
      Refused.problem(part).foreach(errors.fail(position(partAt, at), _, Some(Refused.hint)))

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
      classifier.other()
      openAt = wordAt
      to(InEscape, i + 1)
    else
      endWord(bytes, i)
      to(Plain, i)

  private def endWord(bytes: Array[Byte], at: Int): Unit =
    if classifier.wantsWords then classifier.word(word.keyword(bytes, at), wordAt, parentheses > 0)

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
    else to(Plain, i)

  private def escapeGapDash(bytes: Array[Byte], i: Int): Int =
    if bytes(i) == '-' then to(EscapeGapLine, i + 1) else to(Plain, i)

  private def dollarQuote(bytes: Array[Byte], from: Int, end: Int): Int =
    val i = dollar.read(state, bytes, from, end)
    state = dollar.state
    if state == InWord then beginTagWord(i)
    else if state == InDollar && i < end && bytes(i) == 0 then nul(i)
    i

  /** No tag: the dollar is one token, the rest a word that ends at `at`. */
  private def beginTagWord(at: Int): Unit =
    wordAt = openAt + 1
    word.begin(dollar, at)

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

  private def number(bytes: Array[Byte], from: Int, end: Int): Int =
    var i = from
    while i < end && state >= Number && state <= Digits do
      state = Numbers.after(state, bytes(i))
      if state == Numbers.Over then state = Plain else i += 1
    i

  private def beginCommand(at: Int): Int =
    if text.isBegun then errors.checkLength(text.length(at), text.start)
    command.begin(run.position(at))
    text.pause(at)
    to(Backslash, at + 1)

  /** `\;` is a semicolon that ends nothing, `\:` a colon; all else is a meta-command. */
  private def backslash(bytes: Array[Byte], i: Int): Int =
    if bytes(i) != ';' && bytes(i) != ':' then to(Meta, i)
    else
      if !text.isBegun then begin(i)
      else text.resume(run, i)
      if bytes(i) == ';' && parentheses == 0 && !classifier.inBody then join(i)
      if bytes(i) == ':' then token()
      to(Plain, i + 1)

  private def join(at: Int): Unit =
    endPart(at)
    isJoined = true
    partAt = text.length(at) + 1
    if !classifier.isCopy then classifier.begin()

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

  private def nul(at: Int): Nothing =
    if text.isBegun then errors.checkLength(text.length(at), text.start)
    errors.nul(run.position(at))

  /** Fails because the part that began at `openAt` has no end. */
  private def unended(problem: String): Nothing = errors.fail(position(openAt, run.index), problem)

  /** Returns the position of a byte of the text, which ends before `at`. */
  private def position(textIndex: Int, at: Int): Position =
    text.statement(at, copies = false, 0).positionOfByte(textIndex)
