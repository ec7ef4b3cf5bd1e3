package weir.postgres.split

import scala.annotation.switch
import weir.postgres.{Piece, Position}

/** Reads statements as psql does: decides by the tokens of `TokenScanner` where each begins and
  * ends, and which parts of the script it leaves out.
  *
  * It never looks ahead, so the input may end after any byte.
  */
private[split] final class Lexer(errors: ScriptErrors):
  import Lexer.*

  private val text = StatementText()
  private val scanner = TokenScanner()
  private val classifier = StatementClassifier()
  private val command = MetaCommand(errors)

  private var run: Run = Run(Position.start)
  private var reading = Between
  private var isEnded = false

  // of the statement
  private var hasToken = false // something other than comments
  private var parentheses = 0
  // places in the text
  private var parenthesisAt = 0 // of the outermost "(" that is open
  private var partAt = 0 // after the last `\;`
  private var isJoined = false // it has a `\;`

  /** Reads on. True if a statement has ended, which `statement` then is; false if the bytes are
    * used.
    */
  def read(from: Run): Boolean =
    run = from
    isEnded = false
    if reading == InStatement then resume(from.index)
    val bytes = from.bytes
    val end = from.end
    var i = from.index
    while i < end && !isEnded do
      i = reading match
        case Between => between(bytes, i, end)
        case InStatement => tokens(bytes, i, end)
        case LeadingLine => leadingLine(bytes, i, end)
        case Backslash => backslash(bytes, i)
        case Meta => meta(bytes, i)
    from.index = i
    if !isEnded then
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
    if reading == Backslash || reading == Meta then command.end()
    else if reading == InStatement then finishTokens(text.length(at))
    reading = Between
    if text.isBegun then
      if parentheses > 0 then fail(parenthesisAt, "unclosed \"(\"")
      if classifier.inBody then fail(classifier.bodyAt, "unclosed BEGIN ATOMIC")
      endPart(at)
    text.isBegun

  /** Ends the token that is being read. */
  private def finishTokens(length: Int): Unit =
    scanner.place(length, 0)
    var i = 0
    while i < TokenScanner.end.length do
      i = scanner.read(TokenScanner.end, i, TokenScanner.end.length)
      scanner.kind match
        case Token.Word => word()
        case Token.None | Token.LineComment | Token.Semicolon => ()
        case _ => token()
    val problem = scanner.unended
    if problem ne null then fail(scanner.unendedAt, problem)

  /** Before a statement: white space, `--` comments and empty statements are dropped. */
  private def between(bytes: Array[Byte], from: Int, end: Int): Int =
    var i = from
    while i < end && ByteClass.isSpace(bytes(i)) do i += 1
    if i == end then i
    else
      ByteClass.of(bytes(i)) match
        case ByteClass.Semicolon => i + 1
        case ByteClass.Backslash => beginCommand(i)
        case _ =>
          begin(i)
          to(InStatement, i)

  private def begin(at: Int): Unit =
    text.begin(run, at)
    scanner.begin()
    scanner.place(0, at)
    beginPart()
    hasToken = false
    parentheses = 0
    isJoined = false
    partAt = 0

  /** The text goes on at the byte `at` of the run. */
  private def resume(at: Int): Unit =
    text.resume(run, at)
    scanner.place(text.length(at), at)

  private def tokens(bytes: Array[Byte], from: Int, end: Int): Int =
    var i = from
    while i < end && reading == InStatement do
      i = scanner.read(bytes, i, end)
      (scanner.kind: @switch) match
        case Token.None => ()
        case Token.Word => word()
        case Token.Semicolon => semicolon(i - 1)
        case Token.Backslash => beginCommand(i - 1): Unit
        case Token.LineComment => if scanner.until == 2 then beginLeadingLine()
        case Token.Nul => nul(i - 1)
        case _ => token()
    i

  /** Handles an unquoted word. If no further word matters to the statement, the scanner passes over
    * them.
    */
  private def word(): Unit =
    hasToken = true
    val keyword = text.keyword(scanner.from, scanner.until)
    classifier.word(keyword, scanner.from, parentheses > 0)
    if !classifier.wantsWords then scanner.passOver(true)

  /** Handles a token that is no word, ends no statement and leaves out no part of the script. */
  private def token(): Unit =
    hasToken = true
    classifier.other()
    if scanner.kind == Token.Open then
      if parentheses == 0 then parenthesisAt = scanner.from
      parentheses += 1
    else if scanner.kind == Token.Close && parentheses > 0 then parentheses -= 1

  private def semicolon(at: Int): Unit =
    classifier.other()
    if parentheses == 0 && !classifier.inBody then
      endPart(at)
      isEnded = true
      reading = Between

  /** Checks what ends at a `;`, a `\;` or the end of the script. */
  private def endPart(at: Int): Unit =
    errors.checkLength(text.length(at), text.start)
    if classifier.isSet then
      val bytes = text.bytes(at)
      val part = java.util.Arrays.copyOfRange(bytes, partAt, bytes.length)
      Refused.problem(part).foreach(errors.fail(position(partAt, at), _, Some(Refused.hint)))

  /** The text has begun with the dashes of a comment, which is left out. */
  private def beginLeadingLine(): Unit =
    text.abandon()
    reading = LeadingLine

  private def leadingLine(bytes: Array[Byte], from: Int, end: Int): Int =
    val i = scanner.readLine(bytes, from, end)
    if scanner.kind == Token.Nul then nul(i - 1)
    if !scanner.isInLine then reading = Between
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
      if !text.isBegun then begin(i) else resume(i)
      if bytes(i) == ';' && parentheses == 0 && !classifier.inBody then join(i)
      if bytes(i) == ':' then
        hasToken = true
        classifier.other()
      to(InStatement, i + 1)

  private def join(at: Int): Unit =
    endPart(at)
    isJoined = true
    partAt = text.length(at) + 1
    if !classifier.isCopy then beginPart()

  private def beginPart(): Unit =
    classifier.begin()
    scanner.passOver(false)

  /** A meta-command takes the rest of its line, which is in no text. */
  private def meta(bytes: Array[Byte], i: Int): Int =
    if bytes(i) == '\n' then
      command.end()
      if text.isBegun then resume(i)
      to(if text.isBegun then InStatement else Between, i)
    else if bytes(i) == 0 then nul(i)
    else
      command.take(bytes(i))
      i + 1

  private def to(next: Int, index: Int): Int =
    reading = next
    index

  private def nul(at: Int): Nothing =
    if text.isBegun then errors.checkLength(text.length(at), text.start)
    errors.nul(run.position(at))

  /** Fails because the part that began at `openAt` has no end. */
  private def fail(openAt: Int, problem: String): Nothing =
    errors.fail(position(openAt, run.index), problem)

  /** Returns the position of a byte of the text, which ends before `at`. */
  private def position(textIndex: Int, at: Int): Position =
    text.statement(at, copies = false, 0).positionOfByte(textIndex)

private[split] object Lexer:
  private final val Between = 0 // no statement has begun
  private final val InStatement = 1
  private final val LeadingLine = 2 // in a comment before a statement
  private final val Backslash = 3 // after a backslash
  private final val Meta = 4 // in a meta-command
