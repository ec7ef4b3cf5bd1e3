package weir.postgres.psql

import weir.postgres.psql.Commands.{Later, failed, standardInput}

/** The commands that read files and programs, or write them. */
private[psql] final class FileCommands(environment: Environment, files: OpenFiles):
  private val folder = environment.folder

  def include(name: String, arguments: Arguments, isRelative: Boolean): List[Later] =
    val file = arguments.next(dropsSemicolons = true)
    if file eq null then
      failed(CommandProblem(s"\\$name: missing required argument", "Give it the name of a file."))
    else if file.text == "-" then
      if files.isStandardInput then Nil else List(Later("i", List(standardInput)))
    else
      val (path, of) = (Variables.text(file.text), files.name)
      val found =
        if isRelative && of.nonEmpty then folder.sibling(of.get, path) else folder.file(path)
      List(Later("i", List(Folder.nameOf(found.normalize))))

  /** `\lo_import` and its like. */
  def largeObject(name: String, arguments: Arguments): List[Later] =
    val words = List.fill(2)(Option(arguments.next(dropsSemicolons = true)).map(_.nn.text))
    def file(word: String) = folder.file(Variables.text(word)).normalize.toString
    (name, words) match
      case ("lo_import", List(Some(source), comment)) =>
        List(Later(name, file(source) :: comment.toList))
      case ("lo_export", List(Some(oid), Some(target))) =>
        List(Later(name, List(number(oid), file(target))))
      case ("lo_unlink", List(Some(oid), _)) => List(Later(name, List(number(oid))))
      case _ =>
        throw CommandProblem(
          s"\\$name: missing required argument",
          "Give it a file, or the number of a large object."
        )

  /** The number of an object, as psql reads it. */
  private def number(word: String): String =
    word.takeWhile(_.isDigit).toLongOption.fold("0")(number => (number & 0xffffffffL).toString)

  def changeFolder(arguments: Arguments): List[Later] =
    val name = arguments.next()
    try
      if name eq null then folder.goHome() else folder.change(Variables.text(name.text))
      Nil
    catch case problem: CommandProblem => failed(problem)

  def copy(line: CommandLine, arguments: Arguments): List[Later] =
    try
      val copy = CopyCommand.parse(line.copy(text = arguments.wholeLine()))
      val isSame = copy.kind == "standard" && copy.reads && files.isStandardInput
      val kind = if isSame then "script" else copy.kind
      val target = kind match
        case "file" => List(Folder.nameOf(folder.file(Variables.text(copy.name)).normalize))
        case "program" => environment.shell("\\copy", copy.name)
        case "standard" => List(standardInput)
        case _ => List("")
      List(Later(if copy.reads then "copy" else "copyto", copy.sql :: kind :: target))
    catch case problem: CommandProblem if !problem.endsRun => failed(problem)

  def shell(arguments: Arguments): List[Later] =
    val command = arguments.wholeLine()
    val shell = environment.shell("\\!", command)
    if command.isEmpty then
      throw CommandProblem(
        "\\! without a command",
        "A shell for a person is not started.",
        endsRun = true
      )
    List(Later("!", shell))
