package weir.postgres.apply

import weir.postgres.*
import weir.postgres.psql.Commands

/** Carries out the commands of psql that wait for the statements before them. */
private[postgres] final class CommandRunner(
    options: ApplyOptions,
    listener: ApplyListener,
    output: Output,
    last: LastResult
):

  /** True if the first error ends the run. */
  var stopsOnError: Boolean = options.onError == OnError.Stop

  /** Begins with the variables that the options set. */
  def begin(script: String): Unit =
    for later <- Commands(options.psqlOptions).begun do
      run(script, Piece.Command(later.name, later.arguments, Position.start, 0))

  def run(script: String, command: Piece.Command): Unit = (command.name, command.arguments) match
    case ("echo", List(text)) => listener.printed(script, text, isForErrors = false)
    case ("qecho", List(text)) => output.write(text)
    case ("warn" | "message", List(text)) => listener.printed(script, text, isForErrors = true)
    case ("set", List("ON_ERROR_STOP", value)) => goOn(script, command, value == "off")
    case ("set", List("QUIET", value)) => output.quiet(value)
    case ("result", name :: value) => last.set(name, value.headOption)
    case ("pset", name :: value) => output.set(name, value.headOption)
    case ("i" | "copy", _) => () // the reader goes on with the file
    case (name, _) => listener.passedOver(script, command.start, name)

  /** **Fails** if `\connect` cannot be carried out with these options.
    */
  def mayConnect(script: String, command: Piece.Command): Unit =
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

  private def goOn(script: String, command: Piece.Command, goesOn: Boolean): Unit =
    val single = Option.when(options.singleTransaction)("--single-transaction")
    for other <- single.orElse(options.resume.map(_ => "--resume")) if goesOn do
      throw ScriptException(
        script,
        Some(command.start),
        s"ON_ERROR_STOP cannot be off together with $other",
        hint = Some("Statements that fail are passed over then. Leave out one of the two.")
      )
    stopsOnError = !goesOn
