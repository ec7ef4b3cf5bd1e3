package weir.postgres.psql

import weir.postgres.PsqlOptions

/** Carries out the commands of psql as the reader of a script meets them. Those whose effect must
  * wait for the statements before them are handed back, to be emitted as pieces.
  */
private[postgres] final class Commands(options: PsqlOptions):
  import Commands.*

  val variables: Variables = Variables()

  /** The effects of the variables that the options set. */
  val begun: List[Later] = options.variables.toList.flatMap { (name, value) =>
    val bytes = Variables.bytes(name)
    applied(bytes, variables.set(bytes, Variables.bytes(value)))
  }

  private var restriction: String | Null = null // the key of `\restrict`, while it holds

  /** Runs the command that `line` begins with, the text after its backslash. **Fails** with a
    * `CommandProblem` if it cannot be carried out.
    */
  def run(line: String): Done =
    val name = nameOf(line)
    val arguments = Arguments(line, name.length, variables)
    if restriction ne null then checkRestricted(name)
    val later = name match
      case "restrict" | "unrestrict" =>
        restrict(name, arguments)
        Nil
      case "set" => set(arguments)
      case "unset" => unset(arguments)
      case "echo" | "qecho" | "warn" => echo(name, arguments)
      case _ if Known.displays(name) => display(name, arguments)
      case _ => refuse(name)
    arguments.rest(): Unit // psql ignores what is too many
    Done(arguments.end(), later)

  private def set(arguments: Arguments): List[Later] =
    val name = arguments.next()
    if name eq null then display("set", arguments)
    else
      val value = arguments.rest().map(_.text).mkString
      applied(name.text, variables.set(name.text, value))

  private def unset(arguments: Arguments): List[Later] =
    val name = arguments.next()
    if name eq null then
      throw CommandProblem("\\unset without the name of a variable", "Give it a name.")
    applied(name.text, variables.unset(name.text))

  /** Returns the changes of the run that the new value of a variable makes. */
  private def applied(name: String, value: String | Null): List[Later] =
    def isOn = (value ne null) && !Special.boolean(value).contains(false)
    name match
      case "ON_ERROR_STOP" => List(Later("set", List(name, if isOn then "on" else "off")))
      case "AUTOCOMMIT" if !isOn => throw notFollowed(name, "begin and end transactions in it")
      case "SINGLELINE" | "SINGLESTEP" if isOn => throw notFollowed(name, "leave the command out")
      case _ => Nil

  private def notFollowed(name: String, instead: String) = CommandProblem(
    s"$name is not supported: it changes how psql runs the script",
    s"Write the script without it: $instead."
  )

  private def echo(name: String, arguments: Arguments): List[Later] =
    val words = arguments.rest()
    val isOpen = words.headOption.contains(Arguments.Argument("-n", Arguments.NoQuote))
    val text = words.drop(if isOpen then 1 else 0).map(_.text).mkString(" ")
    List(Later(name, List(Variables.text(if isOpen then text else s"$text\n"))))

  private def display(name: String, arguments: Arguments): List[Later] =
    if options.isStrict then
      throw CommandProblem(
        s"\\$name only displays, which is refused here",
        "Take the command out, or apply the script without --strict (PsqlOptions.isStrict)."
      )
    if Known.takesLine(name) then arguments.wholeLine(): Unit
    List(Later(name, Nil))

  /** `\restrict` and its end, between which a dump of pg_dump holds no other command: a server that
    * is not trusted could have put one into a name.
    */
  private def restrict(name: String, arguments: Arguments): Unit =
    val key = arguments.wholeLine().stripTrailing
    if !key.matches("[A-Za-z0-9]+") then
      throw CommandProblem(
        s"\\$name takes one word of letters and digits, and nothing more on its line",
        "Text after it would not be run."
      )
    if name == "restrict" then restriction = key
    else if restriction != key then
      throw CommandProblem(
        "\\unrestrict without its \\restrict, or with another word",
        "The word of both must be the same. Was the script put together of parts of others?"
      )
    else restriction = null

  private def checkRestricted(name: String): Unit =
    if name != "unrestrict" then
      throw CommandProblem(
        s"the command \\$name after \\restrict",
        "Up to \\unrestrict, only SQL is allowed: pg_dump writes both, so that nothing in a " +
          "database can become a command."
      )

  private def refuse(name: String): Nothing =
    if Known.isName(name) then
      throw CommandProblem(
        s"the command \\$name of psql is not supported",
        "Run it by psql, or write SQL in its place."
      )
    throw CommandProblem(
      s"\\$name is no command of psql",
      "Is the backslash meant to be in a string? A command ends at white space or a backslash."
    )

private[postgres] object Commands:
  /** Returns the name of the command that `line` begins with. */
  def nameOf(line: String): String = line.takeWhile(c => !Arguments.isSpace(c) && c != '\\')

  /** @param end
    *   the index in the line at which what follows the command begins
    * @param later
    *   to be done once all statements before it have run
    */
  final case class Done(end: Int, later: List[Later])
  final case class Later(name: String, arguments: List[String])
