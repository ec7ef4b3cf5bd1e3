package weir.postgres.split

import weir.postgres.{Extended, Piece}

/** The statement that is being read: its text, and the parts and the end that its tokens give it.
  *
  * An index `at` is one of the run that is read; the text ends before it.
  *
  * @param scanner
  *   has the token that is handled
  */
private[split] final class OpenStatement(
    scanner: TokenScanner,
    errors: ScriptErrors,
    settings: FollowedSettings,
    memoryBytes: Int
):
  import OpenStatement.NoToken

  private val text = StatementText(errors, memoryBytes)
  private val classifier = StatementClassifier()

  private var parentheses = 0
  private var isJoined = false // it has a `\;`
  private var changes = List.empty[Array[Byte]] // parts that may change the settings, last first
  // places in the text
  private var firstAt = NoToken // of the first token
  private var parenthesisAt = 0 // of the outermost "(" that is open
  private var partAt = 0 // after the last `\;`

  /** Returns true if a statement has begun, which may be only comments. */
  def isBegun: Boolean = text.isBegun

  /** Returns true if the statement is more than comments. */
  def hasToken: Boolean = firstAt != NoToken

  /** Returns true if the statement is a `COPY … FROM STDIN`, in whatever form it is sent. */
  def isCopy: Boolean = classifier.isCopy

  // ---- its text ----

  def begin(run: Run, at: Int): Unit =
    text.begin(run, at)
    scanner.begin()
    scanner.hasEscapes = !settings.now.standardStrings
    scanner.place(0, at)
    beginPart()
    firstAt = NoToken
    parentheses = 0
    isJoined = false
    changes = Nil
    partAt = 0

  /** Takes no bytes from `at` on, until `resume`. */
  def pause(at: Int): Unit = text.pause(at)

  /** The text goes on at the byte `at` of `run`. */
  def resume(run: Run, at: Int): Unit =
    text.resume(run, at)
    scanner.place(text.length(at), at)

  /** Forgets the statement. */
  def abandon(): Unit = text.abandon()

  def length(at: Int): Int = text.length(at)

  /** **Fails** if a statement has begun, and is too long.
    */
  def checkLength(at: Int): Unit =
    if text.isBegun then errors.checkLength(text.length(at), text.start)

  /** Returns the bytes of the token. */
  def tokenBytes: Array[Byte] = text.between(scanner.from, scanner.until)

  /** Leaves out the bytes from `index` of the text on, and takes none until `resume`. */
  def cut(index: Int): Unit = text.cut(index)

  // ---- its tokens ----

  /** Handles an unquoted word. If no further word matters to the statement, the scanner passes over
    * them.
    */
  def word(): Unit =
    begins(scanner.from)
    val keyword = text.keyword(scanner.from, scanner.until)
    classifier.word(keyword, scanner.from, parentheses > 0)
    if !classifier.wantsWords then scanner.passOver(true)

  /** Handles a token that is no word, ends no statement and leaves out no part of the script. */
  def other(): Unit =
    begins(scanner.from)
    classifier.other()
    if scanner.kind == Token.Open then
      if parentheses == 0 then parenthesisAt = scanner.from
      parentheses += 1
    else if scanner.kind == Token.Close && parentheses > 0 then parentheses -= 1

  /** Handles a semicolon at `at`. Returns true if it ends the statement. */
  def semicolon(at: Int): Boolean =
    classifier.other()
    if canEnd then endPart(at)
    canEnd

  /** Handles a `\;`, whose semicolon at `at` does not end the statement. */
  def join(at: Int): Unit =
    if canEnd then
      endPart(at)
      isJoined = true
      partAt = text.length(at) + 1
      if !classifier.isCopy then beginPart()

  /** Handles a `\:`, whose colon is at `at`. */
  def colon(at: Int): Unit =
    begins(text.length(at))
    classifier.other()

  private def canEnd: Boolean = parentheses == 0 && !classifier.inBody

  private def begins(tokenAt: Int): Unit = if !hasToken then firstAt = tokenAt

  private def beginPart(): Unit =
    classifier.begin()
    scanner.passOver(false)

  /** Handles the end of the text at a `;`, a `\;` or a command, or at the end of the script. */
  def endPart(at: Int): Unit =
    checkLength(at)
    if classifier.changesReading then
      val end = text.length(at).min(partAt + StatementText.HeadBytes)
      changes = text.between(partAt, end) :: changes

  // ---- its end ----

  /** The end of the script ends the statement. **Fails** if something is open. */
  def finish(at: Int): Unit =
    if parentheses > 0 then fail(parenthesisAt, at, "unclosed \"(\"")
    if classifier.inBody then fail(classifier.bodyAt, at, "unclosed BEGIN ATOMIC")
    endPart(at)

  /** Fails because the part of the text that began at `openAt` has no end before `at`. */
  def fail(openAt: Int, at: Int, problem: String): Nothing =
    val read = text.statement(at, 0, settings.now, copies = false, 0)
    errors.fail(read.positionOfByte(openAt), problem)

  /** **Fails** if the statement is a COPY that ends in `run`, and its data cannot come next.
    */
  def checkCopy(run: Run): Unit =
    if isCopy && isJoined then
      errors.fail(
        text.start,
        "COPY … FROM STDIN is joined with other statements by \\;",
        Some("Write ; instead, so that each is sent by itself.")
      )
    if isCopy && run.stays then
      errors.fail(
        run.position(0),
        "COPY … FROM STDIN in the value of a variable",
        Some("Write its semicolon in the script, on the line before the data.")
      )

  /** Returns the statement, and forgets it. */
  def take(
      at: Int,
      endOffset: Long,
      answer: Piece.Answer,
      form: Extended | Null,
      hasSemicolon: Boolean
  ): Piece.Statement =
    val hasData = isCopy && Extended.runsText(form)
    if hasData && (form ne null) then errors.extendedCopy(text.start)
    val now = settings.now
    val statement =
      text.statement(at, firstAt, now, hasData, endOffset, answer, form, hasSemicolon)
    errors.checkMemory(statement, isJoined)
    text.release()
    statement

  /** Returns the statement, which is not sent, and forgets it. */
  def takeUnsent(at: Int, endOffset: Long): Piece.Statement =
    val statement = text.statement(at, firstAt, settings.now, isCopy, endOffset)
    text.release()
    statement

  /** Has the settings follow `statement`, which was taken last. Returns true if it leaves them in
    * doubt.
    */
  def follow(statement: Piece.Statement): Boolean =
    if statement.isPiped then false
    // A part joined by `\;` ends no doubt of one before it.
    else if statement.runsText then changes.reverse.map(settings.executed).exists(identity)
    else statement.extended.isInstanceOf[Extended.Named]

private object OpenStatement:
  private final val NoToken = -1
