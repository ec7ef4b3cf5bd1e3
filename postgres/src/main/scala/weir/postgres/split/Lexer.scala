package weir.postgres.split

import java.nio.charset.StandardCharsets.ISO_8859_1
import scala.annotation.switch
import weir.postgres.psql.{CommandProblem, Commands, Wanted}
import weir.postgres.{Extended, Piece, Position}

/** Reads statements as psql does: decides by the tokens of `TokenScanner` which parts of the script
  * belong to a statement, to a command of psql, or to neither.
  *
  * It never looks ahead, so the input may end after any byte.
  */
private[split] final class Lexer(
    errors: ScriptErrors,
    commands: Commands,
    settings: FollowedSettings,
    memoryBytes: Int
):
  import Lexer.*

  private val scanner = TokenScanner(findsVariables = true)
  private val statement = OpenStatement(scanner, errors, settings, memoryBytes)
  private val command = MetaCommand(errors, commands, settings)

  private var run: Run = Run(Position.start)
  private var reading = Between
  private var isEnded = false
  private var afterCommand: Commands.Next | Null = null // null: no command has ended
  private var restOfLine: Run | Null = null
  private var passed = 0 // bytes of a branch of `\if` that is not taken
  private var values = List.empty[Value] // of variables, the one that is read first
  private var asked = Option.empty[Asked] // a variable that is known once the run has come so far

  /** Reads on. True if a statement or a command has ended; false if the bytes are used. */
  def read(from: Run): Boolean =
    forgetEnd()
    val variable = asked
    asked = None
    variable.foreach(replace(_, from.index))
    var goesOn = true
    while goesOn do
      val before = values
      readOn(before.headOption.fold(from)(_.run))
      goesOn = !isEnded && !isCommand && ((values ne before) || before.nonEmpty)
      if goesOn && (values eq before) then
        endVariable()
        if values eq before then values = values.tail
    isEnded || isCommand

  private def forgetEnd(): Unit =
    isEnded = false
    afterCommand = null

  /** Reads on, up to an end or to a variable that is replaced. */
  private def readOn(from: Run): Unit =
    run = from
    val before = values
    if reading == InStatement then statement.resume(run, from.index)
    val bytes = from.bytes
    val end = from.end
    var i = from.index
    while i < end && !isEnded && !isCommand && (values eq before) do
      i = reading match
        case Between => between(bytes, i, end)
        case InStatement => tokens(bytes, i, end)
        case LeadingLine => leadingLine(bytes, i, end)
        case Backslash => backslash(bytes, i)
        case Meta => meta(bytes, i, end)
        case Inactive => inactive(bytes, i, end)
    from.index = i
    if !isEnded then
      statement.pause(end)
      statement.checkLength(end)

  /** Returns true if the statement that has ended is more than comments. */
  def isStatement: Boolean = statement.hasToken

  /** Returns true if the statement is a `COPY … FROM STDIN`, in whatever form it is sent. */
  def isCopy: Boolean = statement.isCopy

  /** Returns true if a string, a quoted name or a block comment is open. */
  def isInQuote: Boolean =
    (reading == InStatement || reading == Inactive) && (scanner.unended ne null)

  /** Returns true if a semicolon has ended the statement. */
  def hasSemicolon: Boolean = isEnded

  /** Returns true if a command has ended, and no statement. */
  def isCommand: Boolean = afterCommand ne null

  /** Returns true if the script ends with the command. */
  def quits: Boolean = afterCommand == Commands.Next.Quit

  /** Returns true if the command has ended a statement that is not sent. */
  def keeps: Boolean = afterCommand == Commands.Next.Keep

  /** Returns what is done with the rows of the statement that the command sends; none if it sends
    * none.
    */
  def sends: Option[Piece.Answer] = afterCommand match
    case Commands.Next.Send(answer) => Some(answer)
    case _ => None

  /** Returns true if a statement has begun, which may be only comments. */
  def hasText: Boolean = statement.isBegun

  /** Returns the next piece of the command that has ended; null if there is no more. */
  def nextOfCommand(endOffset: Long): Piece | Null = command.next(endOffset)

  /** Returns the rest of the command's line, if it is not in the run that has been read. */
  def takeRestOfLine(): Run | Null =
    val rest = restOfLine
    restOfLine = null
    rest

  /** The statement that has ended. Called once, before reading on. */
  def take(endOffset: Long, answer: Piece.Answer = Piece.Answer.Dropped): Piece.Statement =
    val at = if isEnded then run.index - 1 else run.index
    statement.checkCopy(run)
    val form = commands.extended.take()
    if !isEnded && sends.nonEmpty then statement.endPart(at)
    val taken = statement.take(at, endOffset, answer, form, hasSemicolon)
    commands.variables.answered.forget()
    val isInDoubt = statement.follow(taken)
    if commands.areApplied && (isInDoubt || settings.mayFallBack && commands.goesOn) then
      command.lookAfter(taken)
    taken

  /** Returns the statement of a command that needs no text of the script, or finds none. Called
    * where a statement could have ended.
    */
  def takeTextless(endOffset: Long, answer: Piece.Answer): Piece.Statement =
    statement.abandon()
    val form = commands.extended.take().nn
    val taken = command.textless(form, endOffset, answer)
    if commands.areApplied && form.isInstanceOf[Extended.Named] then command.lookAfter(taken)
    taken

  /** Returns the statement that a command has ended without sending it. */
  def takeUnsent(endOffset: Long): Piece.Statement = statement.takeUnsent(run.index, endOffset)

  def skip(): Unit = statement.abandon()

  /** The end of the script ends the command or the variable that is being read. True if there is
    * one, and `read` is to go on.
    */
  def finishCommand(): Boolean =
    forgetEnd()
    if reading == Backslash || reading == Meta then endCommand(run.index, isInRun = false): Unit
    else endVariable()
    isCommand || values.nonEmpty

  /** Ends the variable that is being read, if its name is all that is left. */
  private def endVariable(): Unit =
    if reading == InStatement && scanner.isInVariable then finishTokens(run.index)

  /** The end of the script: fails if something is open. True if a statement has ended with it. */
  def finish(): Boolean =
    val at = run.index
    if !quits then command.finish()
    forgetEnd()
    if reading == InStatement then finishTokens(at)
    reading = Between
    if statement.isBegun then statement.finish(at)
    statement.isBegun

  /** Ends the token that is being read. */
  private def finishTokens(at: Int): Unit =
    scanner.place(statement.length(at), 0)
    var i = 0
    while i < TokenScanner.end.length do
      i = scanner.read(TokenScanner.end, i, TokenScanner.end.length)
      scanner.kind match
        case Token.Word => statement.word()
        case Token.Variable => variable(at)
        case Token.None | Token.LineComment | Token.Semicolon => ()
        case _ => statement.other()
    val problem = scanner.unended
    if problem ne null then statement.fail(scanner.unendedAt, at, problem)

  /** Before a statement: white space, `--` comments and empty statements are dropped. */
  private def between(bytes: Array[Byte], from: Int, end: Int): Int =
    var i = from
    while i < end && ByteClass.isSpace(bytes(i)) do i += 1
    if i == end then i
    else
      ByteClass.of(bytes(i)) match
        case ByteClass.Semicolon if !commands.extended.sendsEmpty => i + 1
        case ByteClass.Backslash => beginCommand(i)
        case _ =>
          statement.begin(run, i)
          to(InStatement, i)

  private def tokens(bytes: Array[Byte], from: Int, end: Int): Int =
    var i = from
    val before = values
    while i < end && reading == InStatement && (values eq before) && asked.isEmpty do
      i = scanner.read(bytes, run.raw, i, end)
      (scanner.kind: @switch) match
        case Token.None => ()
        case Token.Word => statement.word()
        case Token.Semicolon => semicolon(i - 1)
        case Token.Backslash => beginCommand(i - 1): Unit
        case Token.Variable => variable(i)
        case Token.LineComment => if scanner.until == 2 then beginLeadingLine()
        case Token.Nul => nul(i - 1)
        case _ => statement.other()
    i

  /** Replaces the variable that ends before `at`, if it is set: its value is read next. */
  private def variable(at: Int): Unit =
    val name = String(statement.tokenBytes, ISO_8859_1)
    val place = run.positionFrom(at - name.length)
    replace(Asked(name, place, scanner.from), at)

  private def replace(variable: Asked, at: Int): Unit =
    try
      val name = variable.name
      val value =
        if values.exists(_.name == name) then null
        else commands.variables.valueOf(name, settings.now.maskedText)
      if value eq null then statement.other()
      else
        statement.cut(variable.from)
        val bytes = value.getBytes(ISO_8859_1)
        val in = Run(variable.place, stays = true)
        in.follow(bytes, 0, bytes.length, settings.now.mask)
        values = Value(name, in) :: values
    catch
      case wanted: Wanted if commands.areApplied =>
        asked = Some(variable)
        statement.pause(at)
        command.want(wanted.first, variable.place)
        afterCommand = Commands.Next.Again
      case problem: CommandProblem => errors.fail(variable.place, problem)

  private def semicolon(at: Int): Unit =
    if statement.semicolon(at) then
      isEnded = true
      reading = Between

  /** The text has begun with the dashes of a comment, which is left out. */
  private def beginLeadingLine(): Unit =
    statement.abandon()
    reading = LeadingLine

  private def leadingLine(bytes: Array[Byte], from: Int, end: Int): Int =
    val i = scanner.readLine(bytes, from, end)
    if scanner.kind == Token.Nul then nul(i - 1)
    if !scanner.isInLine then reading = Between
    i

  private def beginCommand(at: Int): Int =
    if run.stays then
      errors.fail(
        run.position(at),
        "a backslash in the value of a variable",
        Some("Write the command, or the semicolon, in the script.")
      )
    statement.checkLength(at)
    command.begin(run.position(at))
    statement.pause(at)
    to(Backslash, at + 1)

  /** `\;` is a semicolon that ends nothing, `\:` a colon; all else is a meta-command. */
  private def backslash(bytes: Array[Byte], i: Int): Int =
    if bytes(i) != ';' && bytes(i) != ':' then to(Meta, i)
    else if !commands.isActive then to(Inactive, i + 1)
    else
      if !statement.isBegun then statement.begin(run, i) else statement.resume(run, i)
      if bytes(i) == ';' then statement.join(i) else statement.colon(i)
      to(InStatement, i + 1)

  /** A command ends with its line at the latest. */
  private def meta(bytes: Array[Byte], from: Int, end: Int): Int =
    var i = from
    while i < end && bytes(i) != '\n' && bytes(i) != 0 do i += 1
    command.take(run.raw, from, i)
    if i == end then i
    else if bytes(i) == 0 then nul(i)
    else endCommand(i, isInRun = true)

  /** Carries out the command, whose line ends before `at`, and returns the index to go on at. */
  private def endCommand(at: Int, isInRun: Boolean): Int =
    val next = command.run()
    afterCommand = next
    if next == Commands.Next.Again then at else endedCommand(next, at, isInRun)

  private def endedCommand(next: Commands.Next, at: Int, isInRun: Boolean): Int =
    if next == Commands.Next.Reset then statement.abandon()
    reading =
      if !commands.isActive then Inactive
      else if statement.isBegun && sends.isEmpty && !keeps then InStatement
      else Between
    if reading == Inactive then
      passed = 0
      scanner.hasEscapes = !settings.now.standardStrings
    val left = command.bytesLeft
    if left == 0 then at
    else if isInRun && left <= at then at - left
    else
      restOfLine = command.rest
      if isInRun then at + 1 else at

  /** In a branch of `\if` that is not taken: its tokens are read, and nothing is kept of them. */
  private def inactive(bytes: Array[Byte], from: Int, end: Int): Int =
    var i = from
    scanner.place(passed, from)
    while i < end && reading == Inactive do
      i = scanner.read(bytes, run.raw, i, end)
      if scanner.kind == Token.Backslash then beginCommand(i - 1): Unit
      else if scanner.kind == Token.Nul then nul(i - 1)
    passed += i - from
    i

  private def to(next: Int, index: Int): Int =
    reading = next
    index

  private def nul(at: Int): Nothing =
    statement.checkLength(at)
    errors.nul(run.position(at))

private[split] object Lexer:
  /** The value of a variable, which is read where the variable was. */
  private final class Value(val name: String, val run: Run)

  /** A variable at a place of the script, which begins at the byte `from` of the text. */
  private final class Asked(val name: String, val place: Position, val from: Int)

  private final val Between = 0 // no statement has begun
  private final val InStatement = 1
  private final val LeadingLine = 2 // in a comment before a statement
  private final val Backslash = 3 // after a backslash
  private final val Meta = 4 // in a command of psql
  private final val Inactive = 5 // in a branch of `\if` that is not taken
