package weir.postgres.psql

import java.util.Locale
import weir.postgres.PsqlOptions
import weir.postgres.psql.Commands.Later

/** The commands that set variables, of the script and of its environment. */
private[psql] final class VariableCommands(
    variables: Variables,
    environment: Environment,
    files: OpenFiles
):
  /** True if `ECHO` is `all`. */
  var echoesLines: Boolean = false

  /** Returns the effects of the variables that the options set. */
  def begin(options: PsqlOptions): List[Later] =
    options.variables.toList.flatMap: (name, value) =>
      assign(Variables.bytes(name), Variables.bytes(value))

  /** Carries out `\set`; none if it only displays. */
  def set(arguments: Arguments): Option[List[Later]] =
    val name = arguments.next()
    Option.when(name ne null)(assign(name.nn.text, arguments.rest().map(_.text).mkString))

  def unset(arguments: Arguments): List[Later] =
    val name = arguments.next()
    if name eq null then
      throw CommandProblem("\\unset without the name of a variable", "Give it a name.")
    applied(name.text, variables.unset(name.text))

  /** Sets a variable to a line of the standard input. */
  def prompt(arguments: Arguments): List[Later] =
    val (first, second) = (arguments.next(), arguments.next())
    if first eq null then
      throw CommandProblem("\\prompt: missing required argument", "Give it a name.")
    if files.hasStandardInput then
      throw CommandProblem(
        "\\prompt reads a line of the standard input, which is the script",
        "Apply the script as a file, or set the variable by -v NAME=VALUE.",
        endsRun = true
      )
    val (text, name) = if second eq null then ("", first) else (first.text, second)
    val line = variables.answered.output()
    if line eq null then
      throw Wanted(
        Later("prompt", List(Variables.text(text))),
        "\\prompt reads no line without a server, as with --dry-run",
        "Take the command out, and set the variable by -v NAME=VALUE."
      )
    assign(name.text, line)

  def getenv(arguments: Arguments): List[Later] =
    val (name, from) = two("getenv", arguments)
    environment.get(from).fold(Nil)(value => assign(name, Variables.bytes(value)))

  def setenv(arguments: Arguments): List[Later] =
    val name = arguments.next()
    val value = arguments.next()
    if (name eq null) || name.text.contains('=') then
      throw CommandProblem("\\setenv without the name of a variable", "Write \\setenv NAME VALUE.")
    environment.set(name.text, Option(value).map(value => Variables.text(value.nn.text)))
    Nil

  private def two(name: String, arguments: Arguments): (String, String) =
    val (first, second) = (arguments.next(), arguments.next())
    if (first eq null) || (second eq null) then
      throw CommandProblem(s"\\$name takes two arguments", s"Write \\$name NAME NAME.")
    (first.text, second.text)

  private def assign(name: String, value: String): List[Later] =
    applied(name, variables.set(name, value))

  /** Returns the changes of the run that the new value of a variable makes. */
  private def applied(name: String, value: String | Null): List[Later] =
    name match
      case "ECHO" =>
        val of = Option(value).fold("none")(_.toLowerCase(Locale.ROOT))
        echoesLines = of == "all"
        List(Later("set", List(name, of)))
      case "ON_ERROR_STOP" | "QUIET" =>
        List(Later("set", List(name, if Special.isOn(value) then "on" else "off")))
      case "ON_ERROR_ROLLBACK" =>
        val isAlways = Special.isOn(value) && !"interactive".equalsIgnoreCase(value)
        List(Later("set", List(name, if isAlways then "on" else "off")))
      case "AUTOCOMMIT" if !Special.isOn(value) =>
        throw notFollowed(name, "begin and end transactions in it")
      case "SINGLELINE" | "SINGLESTEP" if Special.isOn(value) =>
        throw notFollowed(name, "leave the command out")
      case _ if Variables.isOfRun(name) => List(Later("result", name :: Option(value).toList))
      case _ => Nil

  private def notFollowed(name: String, instead: String) = CommandProblem(
    s"$name is not supported: it changes how psql runs the script",
    s"Write the script without it: $instead.",
    endsRun = true
  )
