package weir.postgres.apply

import java.io.OutputStream
import weir.{Outcome, Stream, Task}
import weir.postgres.*
import weir.postgres.protocol.Exchange
import weir.postgres.psql.{CommandProblem, Known, Variables}
import weir.postgres.split.{FollowedSettings, MetaCommand, Reading}
import weir.std.Hotswap

/** Passes the pieces of scripts one by one to a `Delivery`, and decides what follows from an error.
  */
private[postgres] final class Applying(
    session: Session,
    delivery: Delivery,
    options: ApplyOptions,
    variables: Variables,
    listener: ApplyListener,
    connections: Reconnecting
):
  import Applying.*

  private val counts = SummaryCounts(options.slowest)
  private val output = Output(
    options.psql.results,
    print,
    () => Encodings.charset(session.encoding)
  )
  session.whenCancelled = () => output.killPrograms()
  private val last = LastResult()
  private val commands = CommandRunner(options, listener, output, last)
  private val answers = Answers(session, variables)
  private var outermost = "" // the script that reads that file, or is it
  @volatile private var script = "" // the file that is read
  @volatile private var current: Piece.Statement | Null = null
  @volatile private var currentScript = "" // the file of that statement
  private var copy: Copy | Null = null
  private var committing = false
  private val secrets = KnownSecrets()
  private val encodings = Encodings.Latest()

  // of the session, as of the exchange or the statement that runs
  private var encoding = Encodings.Known("UTF8")
  private var reading = Reading.standard

  /** The offset up to which the script has been applied. */
  private var used = 0L
  private val calls = CallWatch(
    options.stallAfter,
    waited => listener.stalled(scriptName, position, waited)
  )

  /** `notice`, which the running statement has caused, without secrets. */
  def hiding(notice: ServerNotice): ServerNotice =
    val values = secrets.known ++
      Option(current).fold(Set.empty)(Placing.secretsOf(_, encoding.charset))
    def hide(text: String) = Secrets.mask(text, values)
    notice.copy(
      message = hide(notice.message),
      detail = notice.detail.map(hide),
      hint = notice.hint.map(hide),
      context = notice.context.map(hide)
    )

  /** Returns the position at which the running statement begins. */
  def position: Option[Position] = Option(current).map(_.start)

  /** Returns the name of the file of the running statement. */
  def scriptName: String = if current eq null then script else currentScript

  /** Applies the scripts. **Cancelled** and **Fails**: the open transaction has been rolled back.
    */
  def run(scripts: List[(String, Stream[Vector[Piece]])]): Task[ApplySummary] = Task.defer {
    val inTransaction = session.transaction != Session.Transaction.Idle
    val applied = Task.direct {
      session.run("SET client_min_messages = warning").await: Unit
      if options.singleTransaction then session.run("BEGIN").await: Unit
      connections.describe()
      commands.begin(scripts.headOption.fold("")(_._1))
      for (name, groups) <- scripts do applyOne(name, groups)
      output.close()
      calls.begin()
      finish(inTransaction)
      calls.end()
      counts.summary
    }
    calls
      .during(applied)
      .guaranteeCase {
        case Outcome.Succeeded(_) => Task.unit
        case outcome =>
          if outcome == Outcome.Canceled then output.killPrograms()
          undo(inTransaction).guarantee(Task(output.abandon()))
      }
      .adaptError {
        case error: ServerError => unplaced(error).after(counts.summary)
        case error: ScriptException => error.after(counts.summary)
      }
  }

  private def applyOne(name: String, groups: Stream[Vector[Piece]])(using Task.Direct): Unit =
    outermost = name
    script = name
    used = 0
    delivery.begin(name).await
    val ahead = options.prefetch.of(groups.named("split"))
    var isBegun = false
    for group <- options.monitor.fold(ahead)(ahead.observed(_, Some("send"))) do
      if !isBegun then listener.begun(name)
      isBegun = true
      deliverAll(group)
    delivery.end.await
    counts.addBytes(used)

  private def deliverAll(group: Vector[Piece])(using Task.Direct): Unit =
    val exchange = delivery.exchanging
    var at = 0
    while at < group.size do
      val until = if exchange.isEmpty then at else endOfStatements(group, at)
      if until - at > 1 then at = deliverStatements(exchange.get, group, at, until)
      else
        deliverOne(group(at))
        at += 1

  /** Returns the index after the statements from `from` on whose answers are only counted. */
  private def endOfStatements(group: Vector[Piece], from: Int): Int =
    val end = group.indexWhere(
      {
        case statement: Piece.Statement =>
          statement.copies || statement.answer != Piece.Answer.Dropped || !statement.isWhole
        case _ => true
      },
      from
    )
    if end < 0 then group.size else end

  /** Returns the index of the next piece: the session may have changed before the last one. */
  private def deliverStatements(
      exchange: Exchange.Source => Task[Unit],
      group: Vector[Piece],
      from: Int,
      until: Int
  )(using Task.Direct): Int =
    copy = null
    lookAtSession() // a change of the settings ends the exchange
    val ahead = Option.when(options.pipeline)(SendAhead(commands.stopsOnError))
    val batch = Batch(group, from, until, steps, ahead)
    output.begin()
    session.rowSink = if output.isPrinting then output else null
    try exchange(batch).await
    catch case error: ServerError => checked(current.nn)(throw error)
    finally
      session.rowSink = null
      calls.end()
    if current ne null then checked(current.nn)(output.end())
    batch.index

  private def deliverOne(piece: Piece)(using Task.Direct): Unit =
    calls.begin()
    deliver(piece)
    calls.end()
    usedUp(piece)

  private def usedUp(piece: Piece): Unit =
    used = piece.endOffset
    listener.usedUp(outermost, used)

  private object steps extends Batch.Steps:
    def isRefused(statement: Piece.Statement): Boolean =
      statement.reading != reading || (refusal(statement) ne null)

    def mayRun(statement: Piece.Statement): Boolean =
      secrets.add(statement, encoding.charset)
      checkReading(statement.reading, statement.start)
      val refused = refusal(statement)
      if refused ne null then
        Applying.this.failed(refused, connectionLost = false)
        usedUp(statement)
      refused eq null

    def begins(statement: Piece.Statement): Unit =
      current = statement
      currentScript = script
      calls.begin()

    def done(statement: Piece.Statement, done: Done, nanos: Long): Unit =
      count(statement, done, nanos)
      usedUp(statement)

    def failed(statement: Piece.Statement, body: Array[Byte]): Unit =
      checked(statement)(throw session.errorOf(body))
      usedUp(statement)

  /** @param isRead
    *   false if it is no piece of the script, but a row of `\gexec` or a part of a command
    */
  private def deliver(piece: Piece, isRead: Boolean = true)(using Task.Direct): Unit = piece match
    case statement: Piece.Statement =>
      current = statement
      currentScript = script
      secrets.add(statement, encoding.charset)
      val begun = System.nanoTime()
      copy = if statement.copies then Copy(statement, script, begun) else null
      var isNew = false
      checked(statement) { isNew = delivery.begins(statement).await }
      lookAtSession()
      if isNew && isRead then checkReading(statement.reading, statement.start)
      checked(statement) {
        val refused = if isNew then refusal(statement) else null
        if refused ne null then throw refused
        if statement.copies then copy.nn.isSent = delivery.beginCopy(statement).await
        else
          beginOutput(statement)
          try done(statement, delivery.statement(statement).await, begun)
          finally session.rowSink = null
      }
      if !statement.copies then checked(statement)(output.end())
      statement.discard()
    case data: Piece.CopyData => deliverData(data)
    case end: Piece.CopyEnd =>
      endCopy(end)
      copy = null
    case file: Piece.File =>
      script = file.name
      delivery.within(file.within)
    case command: Piece.Command =>
      if (command.reading ne null) && !Known.isOfStatement(command.name) && delivery.hasSettings
      then
        lookAtSession()
        checkReading(command.reading.nn, command.start)
      try carryOut(command)
      catch
        case problem: CommandProblem =>
          failed(refusalOf(problem, command.start), session.connectionLost)
      val applied = command.applied
      if applied ne null then
        if delivery.hasSettings then connections.follow()
        applied.complete(()).await: Unit

  private def notInJournal = CommandProblem(
    "ROW_COUNT, ERROR, SQLSTATE and their like cannot be used together with --resume",
    "The journal does not have them. Ask by a statement with \\gset, whose rows it has."
  )

  private def refusalOf(problem: CommandProblem, at: Position) = ScriptException(
    script,
    Some(at),
    Variables.text(problem.problem),
    hint = Some(problem.hint)
  )

  /** Prepares what becomes of the rows of the statement. */
  private def beginOutput(statement: Piece.Statement): Unit = statement.answer match
    case Piece.Answer.Shown(settings, to) =>
      output.begin(settings, to)
      session.rowSink = if output.isPrinting || to.nonEmpty then output else null
    case Piece.Answer.Dropped =>
      output.begin()
      session.rowSink = if output.isPrinting then output else null
    case _ => session.rowSink = null

  /** **Fails** with a `CommandProblem` if the command fails.
    */
  private def carryOut(command: Piece.Command)(using Task.Direct): Unit =
    command.name match
      case "gset" =>
        val warnings =
          try answers.set(command.arguments.head)
          catch
            case problem: CommandProblem =>
              last.forget()
              throw problem
        warnings.foreach(listener.printed(script, _, isForErrors = true))
      case "gexec" =>
        val ofRows = last.variables
        for statement <- answers.statements(command) do deliver(statement, isRead = false)
        if !last.isError then last.variables = ofRows
      case "copyto" => copyTo(command)
      case "c" => connect(command)
      case "look" => () // the reader waits for it
      case "`" => variables.answered.add(Shell.output(command.arguments).await)
      case "prompt" =>
        print(command.arguments.head)
        variables.answered.add(Shell.answer.await)
      case "begun" =>
        val open = copy
        if (open ne null) && !open.refused then checked(open.statement)(delivery.askCopy.await)
        val isRefused = (copy ne null) && copy.nn.refused
        variables.answered.refusesData = isRefused
        if isRefused then copy = null
      case "sync" =>
        if options.resume.nonEmpty then throw notInJournal
        variables.answered.set(last.variables)
      case "forget" => session.takeRows(): Unit
      case "pset" => commands.run(script, command)
      case "o" => output.redirect(command.arguments, delivery.isSkipping(command.start))
      case "!" =>
        if !delivery.isSkipping(command.start) then
          Shell
            .run(command.arguments, listener.printed(script, _, isForErrors = false))
            .await
      case "fail" if !delivery.isSkipping(command.start) =>
        val List(problem, hint) = command.arguments: @unchecked
        throw CommandProblem(Variables.bytes(problem), hint)
      case _ => if !delivery.isSkipping(command.start) then commands.run(script, command)

  /** Goes on over another connection. Each error ends the run: psql has no connection after it, and
    * what follows is not meant for this one.
    */
  private def connect(command: Piece.Command)(using Task.Direct): Unit =
    commands.mayConnect(script, command)
    try
      if session.transaction != Session.Transaction.Idle then
        throw CommandProblem(
          "\\connect in the middle of a transaction, which would be rolled back",
          "Is a COMMIT missing before it?"
        )
      connections.connect(command.arguments).await
      session.run("SET client_min_messages = warning").await: Unit
    catch
      case problem: CommandProblem => throw refusalOf(problem, command.start)
      case error: ServerError =>
        throw ScriptException(
          script,
          Some(command.start),
          s"\\connect: ${error.problem}",
          error.detail,
          error.hint,
          error
        )
    delivery.reconnected.await

  private def print(text: String): Unit = listener.printed(script, text, isForErrors = false)

  private def copyTo(command: Piece.Command)(using Task.Direct): Unit =
    val sql :: kind :: to = command.arguments: @unchecked
    val name = to.head
    val isSkipping = delivery.isSkipping(command.start)
    val target =
      if isSkipping then OutputStream.nullOutputStream()
      else if kind == "program" then output.programInput(to)
      else if kind == "file" then CopyOutput.file(name)
      else if kind == "script" then output.copyTarget
      else CopyOutput.printed(print)
    val draining = CopyOutput.Draining(target)
    session.copyTarget = draining
    val copy = MetaCommand.copy(sql, command.start, command.endOffset, session.reading)
    try deliver(copy.reversed, isRead = false)
    catch
      case error: Throwable =>
        if kind != "program" then draining.end(): Unit // `output` ends a program
        throw error
    try
      val failure = draining.end()
      if failure ne null then
        val isProgram = kind == "program"
        throw (if isProgram then CopyOutput.readsNoMore(name)
               else CopyOutput.problem(name, failure))
    catch
      case problem: CommandProblem =>
        if !draining.isWhole && !last.isError then last.forget()
        throw problem

  private def deliverData(data: Piece.CopyData)(using Task.Direct): Unit =
    val open = copy
    if (open ne null) && !open.refused then
      if open.firstDataLine == 0 then open.firstDataLine = data.start.line
      if delivery.copyHasFailed then endCopy(data)
      else
        checked(open.statement)(delivery.copyData(data).await)
        open.blocks += 1
        if open.isSent then
          // The number of lines in this block is known when the next one begins.
          listener.copying(open.script, open.statement, data.start.line - open.firstDataLine)
        // If the server takes the blocks as fast as they come, nothing else makes this fiber yield.
        if open.blocks % 16 == 0 then Task.cede.await

  private def endCopy(piece: Piece)(using Task.Direct): Unit =
    val open = copy
    if (open ne null) && !open.refused then
      checked(open.statement) {
        val ended = delivery.endCopy(piece).await
        done(open.statement, ended, open.begunNanos)
        ended.foreach(result => output.copyEnded(result.tag))
        output.end()
      }

  private def done(statement: Piece.Statement, done: Option[Done], begunNanos: Long): Unit =
    if done.nonEmpty then count(statement, done.get, System.nanoTime() - begunNanos)

  private def count(statement: Piece.Statement, done: Done, nanos: Long): Unit =
    last.succeeded(done)
    counts.add(currentScript, statement, done, nanos)
    listener.statementDone(currentScript, statement, done, nanos)

  /** Runs `body`, and decides what its error means. The data of a failed COPY is skipped: it is
    * never run as statements.
    */
  private def checked(statement: Piece.Statement)(body: => Unit): Unit =
    try body
    catch
      case error: ServerError =>
        last.failed(error)
        val line = if copy eq null then 0L else copy.nn.firstDataLine
        val file = if error.copyRow.nonEmpty && line > 0 then script else currentScript
        failed(
          Placing.place(file, statement, line, session.encoding, secrets.known, error),
          error.connectionLost
        )
      case error: ScriptException =>
        failed(error, session.connectionLost)
      case problem: CommandProblem =>
        failed(refusalOf(problem, statement.start), session.connectionLost)

  private def failed(error: ScriptException, connectionLost: Boolean): Unit =
    if commands.stopsOnError || connectionLost then throw error
    if copy ne null then
      copy.nn.refused = true
      variables.answered.refusesData = true
    counts.addError()
    listener.failed(error)

  /** Looks at the settings that decide how statements are read. */
  private def lookAtSession(): Unit =
    encoding = encodings.of(session.encoding)
    reading = Reading.of(encoding.name, session.hasStandardStrings)

  /** Returns the reason why the statement cannot be sent; null if there is none. */
  private def refusal(statement: Piece.Statement): ScriptException | Null =
    val ends = if options.singleTransaction then TransactionEnd.of(statement) else null
    if ends ne null then transactionEnd(statement, ends)
    else
      val problem = encoding.problem
      if problem ne null then
        ScriptException(script, Some(statement.start), problem, hint = Some(Encodings.hint))
      else
        val isLeft = encoding.isUnchecked || !statement.isWhole // to the server
        val at = if isLeft then -1 else Encodings.firstInvalid(statement.text, encoding.charset)
        if at >= 0 then invalid(statement, at) else null

  private def transactionEnd(statement: Piece.Statement, word: String) = ScriptException(
    script,
    Some(statement.start),
    s"$word in a script that is to be a single transaction",
    hint = Some("Take it out of the script, or apply the script without --single-transaction.")
  )

  private def invalid(statement: Piece.Statement, at: Int) = ScriptException(
    script,
    Some(statement.positionOfByte(at)),
    f"the byte 0x${statement.text(at) & 0xff}%02x is not valid ${encoding.name}",
    hint = Some("If the script is in another encoding, begin it with SET client_encoding = '…'.")
  )

  /** **Fails** if a piece that begins at `at` was read by other settings than the session has. The
    * run ends then, also one that goes on after errors: the reader may have taken a part of a
    * string for a statement, or a statement for a part of a string.
    */
  private def checkReading(read: Reading, at: Position): Unit =
    if read.standardStrings != reading.standardStrings then
      val state = if reading.standardStrings then "on" else "off"
      throw readOtherwise(at, "standard_conforming_strings", state)
    else if read.characters != reading.characters then
      throw readOtherwise(at, "client_encoding", encoding.name)

  private def readOtherwise(at: Position, setting: String, value: String) = ScriptException(
    script,
    Some(at),
    s"$setting is $value in this session, which no statement of the script shows",
    hint = Some(
      "A function has changed it, and strings would end elsewhere. Write SET " +
        s"$setting = '$value' behind the statement that calls it."
    )
  )

  private def finish(inTransaction: Boolean)(using Task.Direct): Unit =
    if options.singleTransaction then
      committing = true
      session.run("COMMIT").await: Unit
    else if !inTransaction && session.transaction != Session.Transaction.Idle then
      throw ScriptException(
        script,
        None,
        "the script has ended in the middle of a transaction, which is rolled back",
        hint =
          Some("Is a COMMIT missing? Without BEGIN each statement is a transaction of its own.")
      )

  /** The network may be down: this does not wait for it, and a lost connection has nothing to undo.
    */
  private def undo(inTransaction: Boolean): Task[Unit] = Task.defer {
    if session.connectionLost then Task.unit
    else
      val undone = delivery.abortCopy.andThen(Task.defer {
        if inTransaction || session.transaction == Session.Transaction.Idle then Task.unit
        else session.run("ROLLBACK").void
      })
      session.inShort(undone).recover {
        case error: ServerError if error.connectionLost => ()
      }
  }

  private def unplaced(error: ServerError): ScriptException =
    ScriptException(
      script,
      None,
      s"${error.severity}: ${error.problem}",
      error.detail,
      if committing && error.connectionLost then Some(Applying.Unknown) else error.hint,
      error
    )

private[postgres] object Applying:
  private val Unknown =
    "It is not known if the server has committed before. Check if the objects of the script exist."

  /** A COPY whose data is being read. */
  private final class Copy(
      val statement: Piece.Statement,
      val script: String,
      val begunNanos: Long
  ):
    var firstDataLine = 0L
    var blocks = 0L
    var isSent = false
    var refused = false

  def scripts(
      connection: ScriptConnection,
      scripts: List[(String, Stream[Vector[Piece]])],
      options: ApplyOptions,
      listener: ApplyListener,
      delivery: Session => Delivery,
      variables: Variables = Variables(),
      settings: FollowedSettings = FollowedSettings()
  ): Task[ApplySummary] = Hotswap
    .empty[ScriptConnection]
    .use: opened =>
      var applying: Applying | Null = null
      val session = Session(
        connection,
        notice =>
          if applying ne null then
            listener
              .noticed(applying.nn.scriptName, applying.nn.position, applying.nn.hiding(notice))
      )
      val connections = Reconnecting(connection, session, opened, variables, settings)
      val running =
        Applying(session, delivery(session), options, variables, listener, connections)
      applying = running
      running.run(scripts)
