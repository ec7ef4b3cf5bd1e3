package weir.postgres.split

import java.nio.charset.StandardCharsets.ISO_8859_1
import weir.postgres.psql.Commands
import weir.postgres.{Extended, Piece, Position, PsqlOptions, ScriptLimits}

/** Splits a script, block by block, into statements and the data of its copies.
  *
  * `feed` adds a block, `next` returns the pieces of it until it needs another block, and `finish`
  * says that there is none. The pieces do not depend on how the script is cut into blocks, except
  * for the cuts of the data. Data is a slice of the blocks themselves, so a block must not be
  * changed after it was given. Only one thread at a time may use it.
  *
  * **Fails** by throwing a `ScriptException` from `next`; nothing may be called after that.
  *
  * @param script
  *   the name of the script in errors
  */
final class Splitter private[postgres] (
    script: String,
    limits: ScriptLimits,
    commands: Commands,
    settings: FollowedSettings
):
  import Splitter.*

  private val errors = ScriptErrors(script, limits)
  private val preamble = Preamble(errors)
  private val lexer = Lexer(errors, commands, settings, limits.memoryBytes)
  private val copy = CopyScan()
  private val restOfLine = RestOfLine(errors)

  private val fed = FedBytes() // that `file` does not have yet
  private var file = Run(Position.start)
  private var characters = settings.now.characters
  private var mask = settings.now.mask // of the file
  private var aside: Run | Null = null // the rest of a line, which is read before `file`
  private var reading = First
  private var copyStart = Position.start
  private var isFinished = false
  private var isData = false // of a COPY, and nothing more
  private var last: Piece.Statement | Null = null // without its text, if that is long
  private var echo: Piece | Null = null // of the line that `file` got last
  private var quitAt = -1L // the offset after `\q`; -1 if there was none

  /** Splits a script in which the commands of psql have their usual effect. */
  def this(script: String, limits: ScriptLimits = ScriptLimits.default) =
    this(script, limits, Commands(PsqlOptions()), FollowedSettings())

  /** Adds the next `length` bytes of the script, those of `block` from 0 on. The previous block
    * must have been used up: `next` has returned null, or there was no block.
    */
  def feed(block: Array[Byte], length: Int): Unit =
    require(file.isSpent, "Splitter.feed: there is a block still. Call next until it returns null.")
    fed.add(block, 0, length)

  /** The encoding of what comes next has changed. */
  private def maskAnew(): Unit =
    characters = settings.now.characters
    mask = settings.now.mask
    val run = aside
    if run ne null then run.maskAnew(settings.now.mask)
    file.maskAnew(mask)

  /** Returns the position at which the bytes that have been fed end. */
  def position: Position = file.position(file.end)

  /** Returns the number of bytes that have been used up. */
  private[postgres] def usedBytes: Long =
    if quitAt >= 0 then quitAt else if reading == First then 0 else usedUp

  /** Returns true if the script has ended before the end of its bytes. */
  private[postgres] def isOver: Boolean = reading == Over

  /** Reads data of a COPY instead of a script: all bytes, or lines up to a `\.`, if there is one.
    */
  private[postgres] def readData(isBinary: Boolean): Unit =
    isData = true
    copy.begin()
    reading = if isBinary then Bytes else Data

  /** The server has refused the COPY that was returned last: what follows it is no data. */
  private[postgres] def copyIsRefused(): Unit = reading = Statements

  /** Says that the script ends here. */
  def finish(): Unit = isFinished = true

  /** The next piece. Null if another block is wanted, or, after `finish`, if there are no more. */
  def next(): Piece | Null =
    if settings.now.characters != characters then maskAnew()
    var piece: Piece | Null = null
    var goesOn = true
    while (piece eq null) && goesOn do
      if reading != Statements && file.isSpent then fed.pass(file, mask): Unit
      reading match
        case First => goesOn = first()
        case Statements =>
          piece = lexer.nextOfCommand(usedUp)
          piece match
            case statement: Piece.Statement if statement.copies => beginCopy(statement.start)
            case _ => ()
          if piece eq null then
            if commands.echoesLines && fed.takeBack(file) then mask = settings.now.mask
            if lexer.read(current) then piece = ended()
            else if aside ne null then aside = null
            else if readOn() then
              piece = echo
              echo = null
            else if isFinished && lexer.finishCommand() then
              if lexer.isCommand then piece = ofCommand()
            else
              goesOn = false
              if isFinished && lexer.finish() then piece = statement()
        case Over =>
          file.index = file.end
          goesOn = false
        case Rest => goesOn = rest()
        case Bytes =>
          if !file.isSpent then piece = allBytes()
          else if isFinished then piece = endOfFile()
          else goesOn = false
        case Data =>
          piece = copy.read(file)
          if copy.isEnded then piece = endData()
          else if piece eq null then
            if !file.isSpent then () // the marker ended, or was none
            else if isFinished then piece = lastData()
            else goesOn = false
    shown(piece)

  /** A statement that the server would not run is a command, if nobody sends it as it is meant. */
  private def shown(piece: Piece | Null): Piece | Null = piece match
    case statement: Piece.Statement if !commands.areApplied && !statement.runsText =>
      val text = String(statement.text, ISO_8859_1)
      val name = Extended.commandOf(statement.extended.nn)
      Piece.Command(name, List(text), statement.start, statement.endOffset)
    case _ => piece

  private def current: Run =
    val run = aside
    if run eq null then file else run

  /** Takes the first bytes, and begins anew with them once they are known to be a script's. */
  private def first(): Boolean =
    val complete = preamble.take(file)
    if complete || isFinished then
      val begun = preamble.end()
      fed.add(begun.raw, begun.index, begun.end)
      fed.add(file.raw, file.index, file.end)
      begun.end = begun.index
      file = begun
      mask = settings.now.mask
      reading = Statements
    complete || isFinished

  /** Passes more of what was fed to the lexer. Returns false if there is no more. */
  private def readOn(): Boolean =
    if !commands.echoesLines then fed.pass(file, mask)
    else
      val line = fed.passLine(file, mask, isFinished)
      if line ne null then echo = echoOf(line)
      line ne null

  /** Returns what psql prints before it reads a line; null if it passes over the line. */
  private def echoOf(line: Array[Byte]): Piece | Null =
    val isEnded = line.last == '\n'
    if isEnded && line.length == 1 && !lexer.isInQuote then null
    else
      val text = settings.now.text(line)
      val shown = if isEnded || !isFinished then text else s"$text\n"
      Piece.Command("echo", List(shown), file.position(file.index), usedUp)

  private def ended(): Piece | Null =
    if lexer.isCommand then ofCommand() else statement()

  private def ofCommand(): Piece | Null =
    if lexer.quits then
      quitAt = usedUp
      aside = null
      reading = Over
      if lexer.finish() then statement() else null
    else
      takeRestOfLine()
      afterCommand()

  /** Returns the statement that the command sends, if it sends one. */
  private def afterCommand(): Piece.Statement | Null =
    if lexer.keeps && lexer.hasText then
      if lexer.isStatement then remember(lexer.takeUnsent(usedUp)) else lexer.skip()
    lexer.sends.fold(null)(sent)

  /** Returns the statement that a command sends: the one that it has ended, or the last one. */
  private def sent(answer: Piece.Answer): Piece.Statement | Null =
    if lexer.hasText && lexer.isStatement then taken(answer)
    else if isTextless then lexer.takeTextless(usedUp, answer)
    else if lexer.hasText then
      lexer.skip()
      null
    else
      val again = last
      if again eq null then null
      else if again.sizeBytes == 0 then
        errors.fail(
          again.start,
          "this statement is too long to be sent again by \\g and commands like it",
          Some("Write the command behind it, instead of the semicolon.")
        )
      else sentAgain(again, answer)

  private def sentAgain(last: Piece.Statement, answer: Piece.Answer): Piece.Statement =
    val form = commands.extended.take()
    val piece = last.sentAgain(usedUp, answer, settings.now, form)
    if last.copies && (form ne null) && piece.runsText then errors.extendedCopy(piece.start)
    if piece.copies then beginCopy(piece.start)
    piece

  /** Continues with the text that follows a command on its line. */
  private def takeRestOfLine(): Unit =
    val rest = lexer.takeRestOfLine()
    if rest ne null then
      rest.maskAnew(settings.now.mask)
      aside = rest

  private def statement(): Piece | Null =
    if lexer.isStatement then taken(Piece.Answer.Dropped)
    else if commands.extended.isSet || lexer.hasSemicolon && commands.extended.sendsEmpty then
      lexer.takeTextless(usedUp, Piece.Answer.Dropped)
    else
      lexer.skip()
      null

  /** Returns true if a command that sends a statement needs no text for it, or finds none. */
  private def isTextless: Boolean = commands.extended.isSet &&
    (commands.extended.needsNoText || (last eq null))

  private def taken(answer: Piece.Answer): Piece.Statement =
    val piece = lexer.take(usedUp, answer)
    remember(if lexer.isCopy then piece.withData else piece)
    if piece.copies then beginCopy(piece.start)
    piece

  private def remember(piece: Piece.Statement): Unit = last =
    if piece.isWhole && piece.sizeBytes <= MostAgainBytes then piece
    else Piece.Statement(Array.emptyByteArray, false, piece.start, piece.endOffset)

  private def usedUp: Long = file.offset(file.index)

  /** The rest of a COPY's line is read after its data. If the COPY is within such a rest, its rest
    * is the remaining part of it.
    */
  private def beginCopy(start: Position): Unit =
    copyStart = start
    if aside ne null then beginData()
    else
      restOfLine.begin(file)
      reading = Rest

  private def rest(): Boolean =
    val complete = restOfLine.take(file)
    if complete || isFinished then
      val run = restOfLine.end()
      if run ne null then run.maskAnew(settings.now.mask)
      aside = run
      beginData()
    complete || isFinished

  private def beginData(): Unit =
    copy.begin()
    reading = Data

  private def lastData(): Piece =
    val data = copy.finish()
    if data ne null then data
    else if copy.isEnded then endData()
    else if isData then endOfFile()
    else
      errors.fail(
        copyStart,
        "COPY data not ended by \\.",
        Some("The copy is cancelled. Is the script cut off?")
      )

  private def endData(): Piece =
    reading = if isData then Over else Statements
    quitAt = if isData then file.offset(file.index) else -1
    copy.end(file.offset(file.index))

  /** The data ends with its file. */
  private def endOfFile(): Piece =
    reading = Over
    quitAt = file.offset(file.index)
    Piece.CopyEnd(file.position(file.index), quitAt)

  private def allBytes(): Piece =
    val (from, length) = (file.index, file.end - file.index)
    val start = file.position(from)
    file.index = file.end
    Piece.CopyData(file.raw, from, length, start, file.offset(file.end))

object Splitter:
  private final val First = 0 // the first bytes of the script
  private final val Statements = 1
  private final val Rest = 2 // of the line of a COPY
  private final val Data = 3
  private final val Over = 4 // after `\q`, or after the data if there is nothing more
  private final val Bytes = 5 // binary data

  /** A longer statement is not kept for commands that send it again. */
  private final val MostAgainBytes = 1 << 20
