package weir.postgres.input

import java.io.FileInputStream
import java.nio.file.Path
import scala.collection.mutable
import weir.Task
import weir.io.Source
import weir.postgres.{Piece, Position, ScriptException, ScriptLimits}
import weir.postgres.psql.{Commands, Folder, Known, ShellProgram}
import weir.postgres.split.{FollowedSettings, MetaCommand, Splitter, Tokens}

/** Reads a script, and the files that it includes and copies, in the order of their pieces. Emits
  * the pieces in groups that are not empty.
  *
  * Passing a piece to the fiber that sends it costs more than splitting it. So a group has all
  * pieces of a block, up to `groupBytes`; it never waits for a block to be read. A command of psql
  * ends its group: it may decide how the script is read on.
  *
  * @param sum
  *   the unpacked bytes are added to it, in the order in which they are used
  * @param recent
  *   keeps the latest bytes of the script itself
  * @param groupBytes
  *   a group takes no further piece once it has as many bytes; 0 for groups of one piece
  */
private[postgres] final class ScriptSource(
    name: String,
    limits: ScriptLimits,
    commands: Commands,
    settings: FollowedSettings,
    open: () => ScriptInput,
    sum: Option[Checksum],
    recent: Option[Recent],
    groupBytes: Int
) extends Source[Vector[Piece]]:
  /** The file that is read, and those that it is read for. */
  private var files =
    val splitter = Splitter(name, limits, commands, settings)
    List(ScriptFile(splitter, name, true, Position.start, None, 0, open, sum, recent))

  private val ready = mutable.Queue.empty[Piece]

  /** The last piece, if it is a command that reads a file. */
  private var reads: Piece.Command | Null = null

  /** The last piece, if it is a COPY whose answer decides how the script is read on. */
  private var copying: Piece.Statement | Null = null

  /** The program whose output is read. */
  private var running = Option.empty[ProgramInput]

  /** The error that has ended the group before. */
  private var failure: ScriptException | Null = null

  commands.beginFile(name)

  def next()(using Task.Direct): Vector[Piece] | Source.End =
    if failure ne null then throw failure.nn
    val first = nextPiece()
    if first eq null then Source.End
    else if first.sizeBytes >= groupBytes then Vector(first)
    else group(first)

  private def group(first: Piece): Vector[Piece] =
    val group = Vector.newBuilder[Piece]
    var last: Piece | Null = first
    var bytes, count = 0
    while last ne null do
      group += last
      bytes += last.sizeBytes
      count += 1
      val goesOn = bytes < groupBytes && count < ScriptSource.MostPieces
      last = if goesOn && mayFollow(last) then nextOfBlock() else null
    group.result()

  /** Returns true if the piece after this one is the next one of the same file, and may be read
    * before this one has been applied.
    */
  private def mayFollow(piece: Piece): Boolean = piece match
    case _: (Piece.Command | Piece.File) => false
    case statement: Piece.Statement if asks(statement) => false
    case _ => ready.isEmpty

  /** Returns the next piece, if it is in the block that was read last. */
  private def nextOfBlock(): Piece | Null =
    try emitted(files.head.nextOfBlock())
    catch
      case error: ScriptException =>
        failure = error
        null

  private def nextPiece()(using Task.Direct): Piece | Null =
    val command = reads
    if command ne null then
      reads = null
      val applied = command.applied
      if applied ne null then applied.get.await
      begin(command)
    val begun = copying
    copying = null
    if begun ne null then
      ready.prepend(Piece.Command("begun", Nil, begun.start, begun.endOffset)): Unit
    var piece: Piece | Null = if ready.isEmpty then null else ready.dequeue()
    while (piece eq null) && files.nonEmpty do
      if running.isEmpty || !commands.variables.answered.refusesData then piece = files.head.next()
      if piece eq null then piece = leave()
    emitted(piece)

  private def emitted(piece: Piece | Null): Piece | Null = piece match
    case command: Piece.Command => shown(command)
    case statement: Piece.Statement if asks(statement) =>
      copying = statement
      statement
    case other => other

  /** Returns true if the answer to a COPY decides if its data follows: if psql passes over the
    * error of a COPY, it reads the data as statements.
    */
  private def asks(statement: Piece.Statement): Boolean =
    statement.copies && commands.areApplied && commands.goesOn && files.head.isScript

  private def shown(command: Piece.Command): Piece =
    if command.name == "fail" && !commands.areApplied then throw failureOf(command)
    else if Known.asks(command.name) && !commands.areApplied then throw unanswered(command)
    else if !Known.waits(command.name) then command
    else
      val shown = if commands.areApplied then command.awaited else command
      reads = shown
      shown

  private def failureOf(command: Piece.Command) =
    ScriptException(
      files.head.name,
      Some(command.start),
      command.arguments.head,
      hint = command.arguments.lift(1)
    )

  private def unanswered(command: Piece.Command) = ScriptException(
    files.head.name,
    Some(command.start),
    s"the rest of the script depends on the rows of the statement before \\${command.name}",
    hint = Some("Without a server, as with --dry-run, nothing is known of it.")
  )

  /** Begins with what the command makes the script read on by: a file, or another session. */
  private def begin(command: Piece.Command): Unit =
    if command.name == "c" && !commands.areApplied then settings.beginSession()
    else if command.name == "i" || command.name == "copy" then beginFile(command)
    else if command.name == "begun" && commands.variables.answered.refusesData then
      files.head.copyIsRefused()

  private def beginFile(command: Piece.Command): Unit =
    val isScript = command.name == "i"
    val program = command.arguments match
      case _ :: "program" :: shell if !isScript => Some(ProgramInput(shell))
      case _ => None
    val name = program.fold(command.arguments.last)(_.name)
    val isStandardInput = name == Commands.standardInput
    val problem =
      if files.size > ScriptSource.MostFiles then "it is included too deep"
      else if isStandardInput || program.nonEmpty then null
      else Folder.problem(Path.of(name))
    if problem ne null then
      fails(command, s"$name: $problem", "Relative names begin in the current folder.")
    else if program.nonEmpty && !commands.areApplied then withoutData(command)
    else
      commands.variables.answered.refusesData = false
      val within = files.head.within.orElse(Some(command.start))
      val splitter = Splitter(name, limits, commands, settings)
      if !isScript then
        val copy = copyOf(command)
        splitter.readData(ScriptSource.isBinary(copy.text))
        ready += copy
      ready += Piece.File(name, within, command.start, command.endOffset)
      def opened() =
        val stream =
          if isStandardInput then StandardInput else program.getOrElse(FileInputStream(name))
        ScriptInput(stream, _ => (), unpacks = isScript && !isStandardInput)
      val at = command.start
      val before = command.endOffset
      val file = ScriptFile(splitter, name, isScript, at, within, before, opened, sum, None)
      files = file :: files
      running = program
      if isScript then commands.beginFile(name)

  private def fails(command: Piece.Command, problem: String, hint: String): Unit =
    ready += shown(
      Piece.Command("fail", List(problem, hint), command.start, command.endOffset)
    )

  /** A program runs only where its data is applied. */
  private def withoutData(command: Piece.Command): Unit =
    ready += copyOf(command)
    ready += Piece.CopyEnd(command.start, command.endOffset)

  private def copyOf(command: Piece.Command): Piece.Statement =
    MetaCommand.copy(command.arguments.head, command.start, command.endOffset, settings.now)

  /** Goes on with the file before, if there is one. */
  private def leave()(using Task.Direct): Piece | Null =
    val ended = files.head
    if ended.name == Commands.standardInput then StandardInput.giveBack(ended.unused)
    ended.close()
    for program <- running do
      val code = Task.onPlatformThread(program.exitCode()).await
      if code != 0 then
        val problem = s"${program.name}: ${ShellProgram.ended(code)}"
        val told = List(problem, "The data that it has printed was sent.")
        ready += Piece.Command("ended", told, ended.at, ended.endOffset)
    running = None
    files = files.tail
    if ended.isScript then commands.endFile()
    if files.isEmpty then null
    else
      val next = files.head
      next.addFile(ended)
      Piece.File(next.name, next.within, ended.at, ended.endOffset)

  override def close()(using Task.Direct): Unit =
    files.foreach(_.close())
    running.foreach(_.kill())

private[postgres] object ScriptSource:
  /** Passing a block between fibers and to the server costs the same for any size. */
  final val BlockBytes = 256 * 1024

  /** A group of more pieces costs hardly less for each. */
  private final val MostPieces = 1000

  /** The capacity of a pipe. A read never gets more at once. */
  private[input] final val PipeBytes = 64 * 1024

  /** The number of files that may be read one within the other: each holds a block. */
  private final val MostFiles = 50

  /** Returns true if the data of the COPY is binary. */
  private def isBinary(copy: Array[Byte]): Boolean =
    val tokens = Tokens(copy)
    var count = 0
    var isAfterFrom = false
    var found = false
    while !found && tokens.next() do
      count += 1
      val mayBe = count == 2 || isAfterFrom
      found = mayBe && (tokens.isWord || tokens.isString) && tokens.value.equalsIgnoreCase("binary")
      if tokens.word == "FROM" then isAfterFrom = true
    found
