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

  private var conditionals = Conditionals()
  private var files = List.empty[(String, Conditionals)] // that are open, with what they go on with
  private val environment = Environment(options)
  private val folder = environment.folder

  /** Returns true if statements and commands are carried out here, and not in a branch of `\if`
    * that is not taken.
    */
  def isActive: Boolean = conditionals.isActive

  /** Returns true if the script goes on after an error of a statement. */
  def goesOn: Boolean = !isOn(variables.get("ON_ERROR_STOP"))

  /** Returns the number of `\if` blocks that are open in the file that is read. */
  def depth: Int = conditionals.depth

  /** Begins with a file. The blocks of the file before it are open again at its end. */
  def beginFile(name: String): Unit =
    files = (name, conditionals) :: files
    conditionals = Conditionals()

  def endFile(): Unit =
    conditionals = files.head._2
    files = files.tail

  /** The effects of the variables that the options set. */
  val begun: List[Later] = options.variables.toList.flatMap { (name, value) =>
    val bytes = Variables.bytes(name)
    applied(bytes, variables.set(bytes, Variables.bytes(value)))
  }

  private var shows = Option.empty[Piece.Answer] // of the statement that `\g` sends

  private val restriction = Restriction()

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
      case "elif" => conditionals.isWaiting
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
    val next = if !isDone then Next.GoOn else shows.fold(Known.next(name))(Next.Send(_))
    shows = None
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
    name match
      case "restrict" | "unrestrict" =>
        restriction.change(name, arguments)
        Nil
      case "set" => set(arguments)
      case "unset" => unset(arguments)
      case "echo" | "qecho" | "warn" => echo(name, arguments)
      case "i" | "include" => include(name, arguments, isRelative = false)
      case "ir" | "include_relative" => include(name, arguments, isRelative = true)
      case "c" | "connect" => connect(arguments)
      case "cd" => changeFolder(arguments)
      case "g" | "gx" => show(name, arguments)
      case "crosstabview" => Later("forget", Nil) :: display(name, arguments)
      case "gset" =>
        val prefix = arguments.next()
        List(Later("gset", List(if prefix eq null then "" else prefix.text)))
      case "gexec" => List(Later("gexec", Nil))
      case "!" => shell(arguments)
      case "o" | "out" => output(arguments)
      case "prompt" => prompt(arguments)
      case "encoding" => encoding(name, arguments)
      case "getenv" => getenv(arguments)
      case "setenv" => setenv(arguments)
      case "q" | "quit" | "r" | "reset" => Nil
      case _ if name.equalsIgnoreCase("copy") => copy(line, arguments)
      case _ if Known.settings.contains(name) => setting(name, arguments)
      case _ if Known.displays(name) => display(name, arguments)
      case _ => refuse(name)

  /** `\connect`, each error of which ends the run: what follows is for another database. */
  private def connect(arguments: Arguments): List[Later] =
    try List(Later("c", ConnectCommand.parse(arguments)))
    catch
      case problem: CommandProblem if !problem.endsRun =>
        throw CommandProblem(problem.problem, problem.hint, endsRun = true)

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
      case "if" => conditionals.begin(isTrue)
      case "elif" => conditionals.orElse(isTrue)
      case "else" => conditionals.otherwise()
      case _ => conditionals.end()
    later

  /** A command in a branch that is not taken. */
  private def passBy(name: String, arguments: Arguments): List[Later] =
    if !Known.isName(name) then refuse(name)
    if Known.takesLine(name) then arguments.wholeLine(): Unit
    Nil

  /** `\g` and `\gx`, with settings in parentheses, and a file or a program. */
  private def show(name: String, arguments: Arguments): List[Later] =
    var word = arguments.fileOrProgram()
    var settings: List[(String, Option[String])] =
      if name == "gx" then List("expanded" -> Some("on")) else Nil
    if (word ne null) && word.startsWith("(") then
      var option = word.drop(1)
      var isOpen = true
      while isOpen do
        isOpen = !option.endsWith(")")
        val (key, value) = option.stripSuffix(")").span(_ != '=')
        if key.nonEmpty then settings :+= key -> Option.when(value.nonEmpty)(value.drop(1))
        if isOpen then
          val next = arguments.next()
          if next eq null then
            throw CommandProblem(s"\\$name: missing right parenthesis", "Close it on its line.")
          option = Variables.text(next.text)
      word = arguments.fileOrProgram()
    if settings.nonEmpty || (word ne null) then
      shows = Some(Piece.Answer.Shown(settings, if word eq null then Nil else target(word)))
    Nil

  private def include(name: String, arguments: Arguments, isRelative: Boolean): List[Later] =
    val file = arguments.next(dropsSemicolons = true)
    if file eq null then
      failed(CommandProblem(s"\\$name: missing required argument", "Give it the name of a file."))
    else if file.text == "-" then
      if isStandardInput then Nil else List(Later("i", List(standardInput)))
    else
      val (path, of) = (Variables.text(file.text), files.headOption.map(_._1))
      val found =
        if isRelative && of.nonEmpty then folder.sibling(of.get, path) else folder.file(path)
      List(Later("i", List(found.normalize.toString)))

  private def shell(arguments: Arguments): List[Later] =
    val command = arguments.wholeLine()
    val shell = environment.shell("\\!", command)
    if command.isEmpty then
      throw CommandProblem(
        "\\! without a command",
        "A shell for a person is not started.",
        endsRun = true
      )
    List(Later("!", shell))

  private def output(arguments: Arguments): List[Later] =
    val word = arguments.fileOrProgram()
    List(Later("o", if word eq null then Nil else target(word)))

  /** Returns the file, or what the shell runs. */
  private def target(word: String): List[String] =
    if word.startsWith("|") then environment.shell("|", word.drop(1))
    else List(folder.file(Variables.text(word)).normalize.toString)

  /** Returns true if the file that is read is the standard input. */
  private def isStandardInput: Boolean =
    val isIt = files.headOption.exists(_._1 == standardInput)
    if !isIt && files.exists(_._1 == standardInput) then
      throw CommandProblem(
        "the standard input, which a file within it cannot read",
        "It is the script, which has been read ahead. Write the data to a file.",
        endsRun = true
      )
    isIt

  private def changeFolder(arguments: Arguments): List[Later] =
    val name = arguments.next()
    try
      if name eq null then folder.goHome() else folder.change(Variables.text(name.text))
      Nil
    catch case problem: CommandProblem => failed(problem)

  private def copy(line: CommandLine, arguments: Arguments): List[Later] =
    try
      val copy = CopyCommand.parse(line.copy(text = arguments.wholeLine()))
      val isSame = copy.kind == "standard" && copy.reads && isStandardInput
      val kind = if isSame then "script" else copy.kind
      val target = kind match
        case "file" => List(folder.file(Variables.text(copy.name)).normalize.toString)
        case "program" => environment.shell("\\copy", copy.name)
        case "standard" => List(standardInput)
        case _ => List("")
      List(Later(if copy.reads then "copy" else "copyto", copy.sql :: kind :: target))
    catch case problem: CommandProblem if !problem.endsRun => failed(problem)

  /** The error of a command, which ends the run only if `ON_ERROR_STOP` is on. */
  private def failed(problem: CommandProblem): List[Later] =
    List(Later("fail", List(Variables.text(problem.problem), problem.hint)))

  /** Sends what psql sends; pg_dumpall writes it before it connects to a database. */
  private def encoding(name: String, arguments: Arguments): List[Later] =
    val encoding = arguments.next()
    if encoding eq null then display(name, arguments)
    else if !encoding.text.matches("[A-Za-z0-9_-]+") then
      throw CommandProblem(s"\\$name: invalid encoding name", "Write \\encoding UTF8, for example.")
    else List(Later("send", List(s"set client_encoding to '${encoding.text}'")))

  /** Sets a variable to a line of the standard input. */
  private def prompt(arguments: Arguments): List[Later] =
    val (first, second) = (arguments.next(), arguments.next())
    if first eq null then
      throw CommandProblem("\\prompt: missing required argument", "Give it a name.")
    if files.exists(_._1 == standardInput) then
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
    applied(name.text, variables.set(name.text, line))

  private def getenv(arguments: Arguments): List[Later] =
    val (name, from) = two("getenv", arguments)
    environment
      .get(from)
      .fold(Nil)(value => applied(name, variables.set(name, Variables.bytes(value))))

  private def setenv(arguments: Arguments): List[Later] =
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
    name match
      case "ON_ERROR_STOP" => List(Later("set", List(name, if isOn(value) then "on" else "off")))
      case "QUIET" => List(Later("set", List(name, if isOn(value) then "on" else "off")))
      case "ON_ERROR_ROLLBACK" =>
        val isAlways = isOn(value) && !"interactive".equalsIgnoreCase(value)
        List(Later("set", List(name, if isAlways then "on" else "off")))
      case "AUTOCOMMIT" if !isOn(value) =>
        throw notFollowed(name, "begin and end transactions in it")
      case "SINGLELINE" | "SINGLESTEP" if isOn(value) =>
        throw notFollowed(name, "leave the command out")
      case _ if Variables.isOfRun(name) => List(Later("result", name :: Option(value).toList))
      case _ => Nil

  private def isOn(value: String | Null): Boolean =
    (value ne null) && !Special.boolean(value).contains(false)

  private def notFollowed(name: String, instead: String) = CommandProblem(
    s"$name is not supported: it changes how psql runs the script",
    s"Write the script without it: $instead.",
    endsRun = true
  )

  private def echo(name: String, arguments: Arguments): List[Later] =
    val words = arguments.rest()
    val isOpen = words.headOption.contains(Arguments.Argument("-n", Arguments.NoQuote))
    val text = words.drop(if isOpen then 1 else 0).map(_.text).mkString(" ")
    List(Later(name, List(Variables.text(if isOpen then text else s"$text\n"))))

  private def setting(name: String, arguments: Arguments): List[Later] =
    def text(argument: Arguments.Argument | Null) =
      Option.when(argument ne null)(Variables.text(argument.nn.text))
    val of = if name == "pset" then text(arguments.next()) else Some(Known.settings(name))
    of match
      case None => display(name, arguments)
      case Some(of) =>
        val value = if Known.mostArguments(name) == 0 then None else text(arguments.next())
        List(Later("pset", of :: value.toList))

  private def display(name: String, arguments: Arguments): List[Later] =
    if options.isStrict then
      throw CommandProblem(
        s"\\$name only displays, which is refused here",
        "Take the command out, or apply the script without --strict (PsqlOptions.isStrict).",
        endsRun = true
      )
    if Known.takesLine(name) then arguments.wholeLine(): Unit
    List(Later(name, Nil))

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

    /** Reads no more of the script, as if it ended here. */
    case Quit

  final case class Later(name: String, arguments: List[String])
