package weir.postgres.apply

import weir.{Outcome, Stream, Task}
import weir.postgres.*
import weir.postgres.protocol.Exchange
import weir.postgres.psql.{CommandProblem, Known, Variables}

/** Passes the pieces of scripts one by one to a `Delivery`. */
private[postgres] final class Applying(
    session: Session,
    delivery: Delivery,
    options: ApplyOptions,
    variables: Variables,
    listener: ApplyListener,
    connections: Reconnecting
):
  private val output = Output(
    options.psql.results,
    print,
    () => Encodings.charset(session.encoding)
  )
  session.whenCancelled = () => output.killPrograms()
  private val checks = StatementChecks(session, options)

  val running: RunningStatement = RunningStatement(session, options, variables, listener, checks)
  import running.{checked, script}

  private val pipeline = Pipeline(session, PipelineResults(session, delivery, output, running))
  private val commands =
    CommandRunner(session, delivery, options, variables, listener, connections, applying)
  private var outermost = "" // the script that reads that file, or is it
  private var committing = false
  private var isRepeated = false // an earlier run has applied the last statement

  /** The offset up to which the script has been applied. */
  private var used = 0L
  private val calls = CallWatch(
    options.stallAfter,
    waited => listener.stalled(running.scriptName, running.position, waited)
  )

  /** Applies the scripts. **Cancelled** and **Fails**: the open transaction has been rolled back.
    */
  def run(scripts: List[(String, Stream[Vector[Piece]])]): Task[ApplySummary] = Task.defer {
    val inTransaction = session.transaction != Session.Transaction.Idle
    val applied = Task.direct {
      session.run("SET client_min_messages = warning").await: Unit
      if options.singleTransaction then session.run("BEGIN").await: Unit
      connections.describe()
      running.script = scripts.headOption.fold("")(_._1)
      commands.begin()
      for (name, groups) <- scripts do applyOne(name, groups)
      output.close()
      calls.begin()
      finish(inTransaction)
      calls.end()
      running.counts.summary
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
        case error: ServerError => unplaced(error).after(running.counts.summary)
        case error: ScriptException => error.after(running.counts.summary)
      }
  }

  private def applyOne(name: String, groups: Stream[Vector[Piece]])(using Task.Direct): Unit =
    outermost = name
    running.script = name
    used = 0
    delivery.begin(name).await
    val ahead = options.prefetch.of(groups.named("split"))
    var isBegun = false
    for group <- options.monitor.fold(ahead)(ahead.observed(_, Some("send"))) do
      if !isBegun then listener.begun(name)
      isBegun = true
      deliverAll(group)
    delivery.end.await
    running.counts.addBytes(used)

  private def deliverAll(group: Vector[Piece])(using Task.Direct): Unit =
    val isApart = running.savepoints.isOn || running.echo.isOfQueries
    val exchange = if isApart then None else delivery.exchanging
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
          statement.copies || statement.answer != Piece.Answer.Dropped ||
          !statement.isWhole || (statement.extended ne null)
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
    running.copy = null
    checks.look() // a change of the settings ends the exchange
    val ahead = Option.when(options.pipeline)(SendAhead(running.stopsOnError))
    val batch = Batch(group, from, until, steps, ahead)
    output.begin()
    session.rowSink = if output.isPrinting then output else null
    try exchange(batch).await
    catch case error: ServerError => checked(running.statement.nn)(throw error)
    finally
      session.rowSink = null
      calls.end()
    val last = running.statement
    if last ne null then checked(last)(output.end())
    batch.index

  private def deliverOne(piece: Piece)(using Task.Direct): Unit =
    calls.begin()
    deliver(piece)
    calls.end()
    usedUp(piece)

  private def usedUp(piece: Piece): Unit =
    used = piece.endOffset
    listener.usedUp(outermost, used)

  private object applying extends CommandRunner.Run:
    def output: Output = Applying.this.output
    val running: RunningStatement = Applying.this.running
    def pipeline: Pipeline = Applying.this.pipeline
    def isRepeated: Boolean = Applying.this.isRepeated
    def dropRefusedCopy()(using Task.Direct): Boolean =
      val open = running.copy
      if (open ne null) && !open.refused then checked(open.statement)(delivery.askCopy.await)
      val isRefused = (open ne null) && open.refused
      if isRefused then running.copy = null
      isRefused
    def deliver(statement: Piece.Statement)(using Task.Direct): Unit =
      Applying.this.deliver(statement, isRead = false)

  private object steps extends Batch.Steps:
    def isRefused(statement: Piece.Statement): Boolean =
      checks.isReadOtherwise(statement) || (checks.refusal(script, statement) ne null)

    def mayRun(statement: Piece.Statement): Boolean =
      running.hide(statement)
      checks.checkReading(script, statement.reading, statement.start)
      val refused = checks.refusal(script, statement)
      if refused ne null then
        running.failed(refused, connectionLost = false)
        usedUp(statement)
      refused eq null

    def begins(statement: Piece.Statement): Unit =
      running.begins(statement)
      calls.begin()

    def done(statement: Piece.Statement, done: Done, nanos: Long): Unit =
      running.succeeded(statement, done, nanos)
      usedUp(statement)

    def failed(statement: Piece.Statement, body: Array[Byte]): Unit =
      checked(statement)(throw session.errorOf(body))
      usedUp(statement)

  /** @param isRead
    *   false if it is no piece of the script, but a row of `\gexec` or a part of a command
    */
  private def deliver(piece: Piece, isRead: Boolean = true)(using Task.Direct): Unit = piece match
    case statement: Piece.Statement if statement.isPiped => pipe(statement)
    case statement: Piece.Statement =>
      running.begins(statement)
      running.hide(statement)
      val begun = System.nanoTime()
      val copy = if statement.copies then RunningStatement.Copy(statement, script, begun) else null
      running.copy = copy
      var isNew = false
      checked(statement) { isNew = delivery.begins(statement).await }
      isRepeated = !isNew
      checks.look()
      if isNew && isRead then checks.checkReading(script, statement.reading, statement.start)
      checked(statement) {
        val refused = if isNew then checks.refusal(script, statement) else null
        if refused ne null then throw refused
        if isNew then running.echo.before(script, statement)
        running.savepoints.begin()
        if statement.copies then copy.nn.isSent = delivery.beginCopy(statement).await
        else
          beginOutput(statement)
          try done(statement, delivery.statement(statement).await, begun)
          finally session.rowSink = null
      }
      if !statement.copies then checked(statement)(output.end())
      if !statement.copies || copy.nn.refused then checked(statement)(running.savepoints.end())
      statement.discard()
    case data: Piece.CopyData => deliverData(data)
    case end: Piece.CopyEnd =>
      endCopy(end)
      running.copy = null
    case file: Piece.File =>
      running.script = file.name
      delivery.within(file.within)
    case command: Piece.Command =>
      if (command.reading ne null) && !Known.isOfStatement(command.name) && delivery.hasSettings
      then
        checks.look()
        checks.checkReading(script, command.reading.nn, command.start)
      try commands.carryOut(command)
      catch case problem: CommandProblem => running.commandFailed(command, problem)
      val applied = command.applied
      if applied ne null then
        if delivery.hasSettings then connections.follow()
        applied.complete(()).await: Unit

  private def pipe(statement: Piece.Statement)(using Task.Direct): Unit =
    running.begins(statement)
    running.copy = null
    running.hide(statement)
    checks.look()
    checks.checkReading(script, statement.reading, statement.start)
    checked(statement) {
      val refused = checks.refusal(script, statement)
      if (refused ne null) && running.stopsOnError then throw refused
      if refused eq null then running.echo.before(script, statement)
      pipeline.add(statement, script, refused)
    }

  /** Prepares what becomes of the rows of the statement. */
  private def beginOutput(statement: Piece.Statement): Unit = statement.answer match
    case Piece.Answer.Shown(settings, to) =>
      output.begin(settings, to)
      session.rowSink = if output.isPrinting || to.nonEmpty then output else null
    case Piece.Answer.Dropped =>
      output.begin()
      session.rowSink = if output.isPrinting then output else null
    case _ => session.rowSink = null

  private def print(text: String): Unit = listener.printed(script, text, isForErrors = false)

  private def deliverData(data: Piece.CopyData)(using Task.Direct): Unit =
    val open = running.copy
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
    val open = running.copy
    if (open ne null) && !open.refused then
      checked(open.statement) {
        val ended = delivery.endCopy(piece).await
        done(open.statement, ended, open.begunNanos)
        ended.foreach(result => output.copyEnded(result.tag))
        output.end()
      }
      checked(open.statement)(running.savepoints.end())

  private def done(statement: Piece.Statement, done: Option[Done], begunNanos: Long): Unit =
    if done.nonEmpty then running.succeeded(statement, done.get, System.nanoTime() - begunNanos)

  private def finish(inTransaction: Boolean)(using Task.Direct): Unit =
    if pipeline.isInUse then throw Pipeline.unended(script)
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
      val undone = delivery.abortCopy
        .andThen(pipeline.abandon)
        .andThen(Task.defer {
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
