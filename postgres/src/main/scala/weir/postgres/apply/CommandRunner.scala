package weir.postgres.apply

import java.io.OutputStream
import weir.Task
import weir.postgres.*
import weir.postgres.psql.{CommandProblem, Commands, Variables}
import weir.postgres.split.MetaCommand

/** Carries out the commands of psql that wait for the statements before them. */
private[apply] final class CommandRunner(
    session: Session,
    delivery: Delivery,
    options: ApplyOptions,
    variables: Variables,
    listener: ApplyListener,
    connections: Reconnecting,
    applying: CommandRunner.Run
):
  import applying.{output, running}
  import running.{echo, last, savepoints, script}

  private val answers = Answers(session, variables, last)
  private val largeObjects = LargeObjects(session, delivery, variables, applying)

  /** Begins with the variables that the options set. */
  def begin(): Unit =
    for later <- Commands(options.psqlOptions).begun do
      run(Piece.Command(later.name, later.arguments, Position.start, 0))

  /** **Fails** with a `CommandProblem` if the command fails.
    */
  def carryOut(command: Piece.Command)(using Task.Direct): Unit =
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
        for statement <- answers.statements(command) do
          echo.generated(script, statement)
          applying.deliver(statement)
        if !last.isError then last.variables = ofRows
      case "copyto" => copyTo(command)
      case "c" => connect(command)
      case "lo_import" | "lo_export" | "lo_unlink" => largeObjects.carryOut(command)
      case "look" => () // the reader waits for it
      case "startpipeline" => beginPipeline(command)
      case "syncpipeline" => applying.pipeline.sync()
      case "flush" => applying.pipeline.flush()
      case "getresults" => applying.pipeline.fetch(command.arguments.head.toInt)
      case "endpipeline" =>
        applying.pipeline.sync()
        applying.pipeline.fetch(command.arguments.head.toInt)
      case "`" => variables.answered.add(Shell.output(command.arguments).await)
      case "prompt" =>
        print(command.arguments.head)
        variables.answered.add(Shell.answer.await)
      case "begun" => variables.answered.refusesData = applying.dropRefusedCopy()
      case "sync" =>
        if options.resume.nonEmpty then throw notInJournal
        variables.answered.set(last.variables)
      case "forget" => session.takeRows(): Unit
      case "pset" => run(command)
      case "o" => output.redirect(command.arguments, delivery.isSkipping(command.start))
      case "!" =>
        if !delivery.isSkipping(command.start) then
          Shell
            .run(command.arguments, listener.printed(script, _, isForErrors = false))
            .await
      case "fail" if !delivery.isSkipping(command.start) =>
        val List(problem, hint) = command.arguments: @unchecked
        throw CommandProblem(Variables.bytes(problem), hint)
      case "ended" if !delivery.isSkipping(command.start) =>
        val List(problem, hint) = command.arguments: @unchecked
        if !applying.isRepeated then throw CommandProblem(Variables.bytes(problem), hint)
        val told = s"$problem; its data was applied by an earlier run\n"
        listener.printed(script, told, isForErrors = true)
      case _ => if !delivery.isSkipping(command.start) then run(command)

  /** Goes on over another connection. Each error ends the run: psql has no connection after it, and
    * what follows is not meant for this one.
    */
  private def connect(command: Piece.Command)(using Task.Direct): Unit =
    mayConnect(command)
    try
      if session.transaction != Session.Transaction.Idle then
        throw CommandProblem(
          "\\connect in the middle of a transaction, which would be rolled back",
          "Is a COMMIT missing before it?"
        )
      connections.connect(command.arguments).await
      session.run("SET client_min_messages = warning").await: Unit
    catch
      case problem: CommandProblem => throw Placing.refusal(problem, script, command.start)
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
    listener.connected(connections.place)

  private def run(command: Piece.Command): Unit = (command.name, command.arguments) match
    case ("echo", List(text)) => listener.printed(script, text, isForErrors = false)
    case ("qecho", List(text)) => output.write(text)
    case ("warn" | "message", List(text)) => listener.printed(script, text, isForErrors = true)
    case ("set", List("ON_ERROR_STOP", value)) => goOn(command, value == "off")
    case ("set", List("ON_ERROR_ROLLBACK", value)) => savepoints.isOn = value == "on"
    case ("set", List("QUIET", value)) => output.quiet(value)
    case ("set", List("ECHO", value)) => echo.value = value
    case ("result", name :: value) => last.set(name, value.headOption)
    case ("pset", name :: value) => output.set(name, value.headOption)
    case ("i" | "copy", _) => () // the reader goes on with the file
    case (name, _) => listener.passedOver(script, command.start, name)

  private def notInJournal = CommandProblem(
    "ROW_COUNT, ERROR, SQLSTATE and their like cannot be used together with --resume",
    "The journal does not have them. Ask by a statement with \\gset, whose rows it has."
  )

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
    try applying.deliver(copy.reversed)
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

  private def print(text: String): Unit = listener.printed(script, text, isForErrors = false)

  /** **Fails** if `\connect` cannot be carried out with these options.
    */
  private def mayConnect(command: Piece.Command): Unit =
    for (option, why) <- Option
        .when(options.singleTransaction)("--single-transaction" -> "It would end the transaction.")
        .orElse(options.resume.map(_ => "--resume" -> "The journal is in the first database."))
    do
      throw ScriptException(
        script,
        Some(command.start),
        s"\\connect cannot be used together with $option",
        hint = Some(s"$why Apply the part for each database by itself.")
      )

  private def beginPipeline(command: Piece.Command): Unit =
    if options.resume.nonEmpty then
      throw ScriptException(
        script,
        Some(command.start),
        "\\startpipeline cannot be used together with --resume",
        hint = Some("The journal records each statement by itself. Send them without a pipeline.")
      )
    if !session.exchanges then
      throw ScriptException(
        script,
        Some(command.start),
        "\\startpipeline needs a connection of ScriptConnection.open"
      )

  private def goOn(command: Piece.Command, goesOn: Boolean): Unit =
    val single = Option.when(options.singleTransaction)("--single-transaction")
    for other <- single.orElse(options.resume.map(_ => "--resume")) if goesOn do
      throw ScriptException(
        script,
        Some(command.start),
        s"ON_ERROR_STOP cannot be off together with $other",
        hint = Some("Statements that fail are passed over then. Leave out one of the two.")
      )
    running.stopsOnError = !goesOn

private[apply] object CommandRunner:
  /** The run that the commands are a part of. */
  trait Run:
    val running: RunningStatement
    def output: Output
    def pipeline: Pipeline

    /** Returns true if an earlier run has applied the last statement. */
    def isRepeated: Boolean

    /** Returns true if the server has refused the COPY that has begun, whose data is read as
      * statements then.
      */
    def dropRefusedCopy()(using Task.Direct): Boolean

    /** Applies a statement that is no piece of the script. */
    def deliver(statement: Piece.Statement)(using Task.Direct): Unit
