package weir.postgres.psql

import weir.postgres.{Piece, PsqlOptions}

/** Carries out the commands of psql as the reader of a script meets them. Those whose effect must
  * wait for the statements before them are handed back, to be emitted as pieces.
  *
  * @param areApplied
  *   true if someone applies the pieces, so that the reader may wait for that
  */
private[postgres] final class Commands(options: PsqlOptions, val areApplied: Boolean = false):
  import Commands.*

  val variables: Variables = Variables()

  private val files = OpenFiles()
  private val environment = Environment(options)
  private val assigning = VariableCommands(variables, environment, files)
  private val displaying = DisplayCommands(options, environment)
  private val reading = FileCommands(environment, files)
  private val restriction = Restriction()

  /** Says how the next statement is sent. */
  val extended: ExtendedCommands = ExtendedCommands(variables)

  private var shows = Option.empty[Piece.Answer] // of the statement that `\g` sends
  private var ends = Option.empty[Next] // of the command, if it is not that of its name

  /** Returns true if statements and commands are carried out here, and not in a branch of `\if`
    * that is not taken.
    */
  def isActive: Boolean = files.conditionals.isActive

  /** Returns true if the script goes on after an error of a statement. */
  def goesOn: Boolean = !Special.isOn(variables.get("ON_ERROR_STOP"))

  /** Returns true if each line is printed before it is read: psql's `ECHO` of all. */
  def echoesLines: Boolean = assigning.echoesLines

  /** Returns the number of `\if` blocks that are open in the file that is read. */
  def depth: Int = files.conditionals.depth

  /** Begins with a file. The blocks of the file before it are open again at its end. */
  def beginFile(name: String): Unit = files.begin(name)

  def endFile(): Unit = files.end()

  /** The effects of the variables that the options set. */
  val begun: List[Later] = assigning.begin(options)

  /** Runs the command that `line` begins with, the text after its backslash. An error of the
    * command is returned as a command `fail`.
    *
    * **Fails** with a `CommandProblem` if the run cannot go on after it.
    */
  def run(line: CommandLine): Done =
    val name = nameOf(line)
    try
      lookAhead(name, line)
      val done = execute(name, line)
      variables.answered.forget()
      done
    catch
      case wanted: Wanted if areApplied => Done(0, List(wanted.first), Next.Again)
      case problem: CommandProblem if areApplied && !problem.endsRun =>
        variables.answered.forget()
        Done(line.text.length, failed(problem), Next.GoOn)

  /** Reads the arguments to find what they need, before the command has an effect. Their errors are
    * left to the command.
    */
  private def lookAhead(name: String, line: CommandLine): Unit =
    val counts = name match
      case "if" => isActive
      case "elif" => files.conditionals.isWaiting
      case "else" | "endif" | "restrict" | "unrestrict" => false
      case _ => isActive && !Known.takesLine(name) && !name.equalsIgnoreCase("copy")
    val mayNeed = line.marks.contains('`') || line.marks.contains(':')
    if counts && mayNeed && !restriction.holds then
      val arguments = argumentsOf(name, line, variables)
      var left = Known.mostArguments(name)
      try
        name match
          case "o" | "out" => arguments.fileOrProgram(): Unit
          case "g" | "gx" => lookAtTarget(arguments)
          case _ => while left > 0 && (arguments.next() ne null) do left -= 1
      catch case problem: CommandProblem if !problem.endsRun => ()

  /** Reads the settings in parentheses of `\g`, and its file or program. */
  private def lookAtTarget(arguments: Arguments): Unit =
    var word = arguments.fileOrProgram()
    if (word ne null) && word.startsWith("(") then
      while (word ne null) && !word.endsWith(")") do
        val next = arguments.next()
        word = if next eq null then null else next.text
      if word ne null then arguments.fileOrProgram(): Unit

  /** Returns what a program in backquotes prints, if it has run. */
  private def shell(program: String): String =
    val output = variables.answered.output()
    if output ne null then output
    else
      val command = Later("`", environment.shell("a backquote", program))
      throw Wanted(
        command,
        "a program in backquotes is not run without a server, as with --dry-run",
        "Pass what it prints with -v NAME=VALUE."
      )

  private def execute(name: String, line: CommandLine): Done =
    val arguments = argumentsOf(name, line)
    restriction.check(name)
    val later =
      if Known.branches(name) then branch(name, line)
      else if isActive then carryOut(name, line, arguments)
      else passBy(name, arguments)
    val left = if Known.branches(name) then argumentsOf(name, line) else arguments
    // psql ignores what is too many, and the rest of the line after an error
    if later.exists(_.name == "fail") then left.wholeLine(): Unit else left.skip()
    val isDone = isActive && !later.exists(_.name == "fail")
    val next = ends.getOrElse:
      if !isDone then Next.GoOn else shows.fold(Known.next(name))(Next.Send(_))
    shows = None
    ends = None
    Done(left.end(), later, next)

  private def argumentsOf(name: String, line: CommandLine): Arguments =
    argumentsOf(name, line, Option.when(isActive)(variables).orNull)

  /** Reads the arguments from the beginning. */
  private def argumentsOf(
      name: String,
      line: CommandLine,
      variables: Variables | Null
  ): Arguments =
    this.variables.answered.begin()
    Arguments(line, name.length, variables, shell)

  private def carryOut(name: String, line: CommandLine, arguments: Arguments): List[Later] =
    extended.check(name)
    name match
      case "restrict" | "unrestrict" =>
        restriction.change(name, arguments)
        Nil
      case "set" => assigning.set(arguments).getOrElse(displaying.passOver(name, arguments))
      case "unset" => assigning.unset(arguments)
      case "prompt" => assigning.prompt(arguments)
      case "getenv" => assigning.getenv(arguments)
      case "setenv" => assigning.setenv(arguments)
      case "i" | "include" => reading.include(name, arguments, isRelative = false)
      case "ir" | "include_relative" => reading.include(name, arguments, isRelative = true)
      case "lo_import" | "lo_export" | "lo_unlink" => reading.largeObject(name, arguments)
      case "cd" => reading.changeFolder(arguments)
      case "!" => reading.shell(arguments)
      case _ if name.equalsIgnoreCase("copy") => reading.copy(line, arguments)
      case "echo" | "qecho" | "warn" => displaying.echo(name, line, arguments)
      case "o" | "out" => displaying.redirect(arguments)
      case "g" | "gx" =>
        shows = displaying.answer(name, arguments)
        Nil
      case "crosstabview" => Later("forget", Nil) :: displaying.passOver(name, arguments)
      case "gset" =>
        val prefix = arguments.next()
        List(Later("gset", List(if prefix eq null then "" else prefix.text)))
      case "gexec" => List(Later("gexec", Nil))
      case "c" | "connect" => connect(arguments)
      case "encoding" => encoding(name, arguments)
      case _ if ExtendedCommands.all(name) =>
        val (later, next) = extended.carryOut(name, arguments)
        ends = Some(next)
        later
      case "q" | "quit" | "r" | "reset" => Nil
      case _ if Known.settings.contains(name) => displaying.setting(name, arguments)
      case _ if Known.displays(name) => displaying.passOver(name, arguments)
      case _ => refuse(name)

  /** `\connect`, each error of which ends the run: what follows is for another database. */
  private def connect(arguments: Arguments): List[Later] =
    try List(Later("c", ConnectCommand.parse(arguments)))
    catch
      case problem: CommandProblem if !problem.endsRun =>
        throw CommandProblem(problem.problem, problem.hint, endsRun = true)

  /** Sends what psql sends; pg_dumpall writes it before it connects to a database. */
  private def encoding(name: String, arguments: Arguments): List[Later] =
    val encoding = arguments.next()
    if encoding eq null then displaying.passOver(name, arguments)
    else if !encoding.text.matches("[A-Za-z0-9_-]+") then
      throw CommandProblem(s"\\$name: invalid encoding name", "Write \\encoding UTF8, for example.")
    else List(Later("send", List(s"set client_encoding to '${encoding.text}'")))

  /** A command of `\if` blocks. Its arguments have variables only where they count. An expression
    * that cannot be read is false, as in psql: its block must not run.
    */
  private def branch(name: String, line: CommandLine): List[Later] =
    var later = List.empty[Later]
    def isTrue: Boolean =
      try
        val text = argumentsOf(name, line, variables).rest().map(_.text).mkString(" ")
        val value = Special.boolean(text)
        if value.isEmpty then
          val told = s"unrecognized value \"${Variables.text(text)}\" for \"\\$name expression\""
          later = List(Later("message", List(s"$told: it counts as false\n")))
        value.contains(true)
      catch
        case problem: CommandProblem if !problem.endsRun =>
          later = failed(problem)
          false
    name match
      case "if" => files.conditionals.begin(isTrue)
      case "elif" => files.conditionals.orElse(isTrue)
      case "else" => files.conditionals.otherwise()
      case _ => files.conditionals.end()
    later

  /** A command in a branch that is not taken. */
  private def passBy(name: String, arguments: Arguments): List[Later] =
    if !Known.isName(name) then refuse(name)
    if Known.takesLine(name) then arguments.wholeLine(): Unit
    Nil

  private def refuse(name: String): Nothing =
    if Known.isName(name.takeWhile(_ != ' ')) then
      throw CommandProblem(
        s"the command \\$name of psql is not supported",
        Known.instead(name),
        endsRun = true
      )
    throw CommandProblem(
      s"\\$name is no command of psql",
      "Is the backslash meant to be in a string? A command ends at white space or a backslash."
    )

private[postgres] object Commands:
  /** The name of the standard input, where it is a script or data. */
  val standardInput = "<stdin>"

  /** The error of a command, which ends the run only if `ON_ERROR_STOP` is on. */
  private[psql] def failed(problem: CommandProblem): List[Later] =
    List(Later("fail", List(Variables.text(problem.problem), problem.hint)))

  /** Returns the name of the command that `line` begins with. */
  def nameOf(line: CommandLine): String =
    line.text.take(line.marks.segmentLength(c => !Arguments.isSpace(c) && c != '\\'))

  /** @param end
    *   the index in the line at which what follows the command begins
    * @param later
    *   to be done once all statements before it have run
    */
  final case class Done(end: Int, later: List[Later], next: Next)

  /** Says how the reader of the script continues after a command. */
  enum Next:
    case GoOn

    /** Carries out what the command needs, and runs it again. */
    case Again

    /** Forgets the statement that has begun. */
    case Reset

    /** Ends the statement that has begun; if there is none, the one before is sent again. Its rows
      * are dealt with as `answer` says.
      */
    case Send(answer: Piece.Answer)

    /** Ends the statement that has begun, without sending it: it is the last one then. */
    case Keep

    /** Reads no more of the script, as if it ended here. */
    case Quit

  final case class Later(name: String, arguments: List[String])
