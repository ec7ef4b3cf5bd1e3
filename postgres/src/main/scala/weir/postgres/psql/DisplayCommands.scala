package weir.postgres.psql

import weir.postgres.{Piece, PsqlOptions}
import weir.postgres.psql.Commands.Later

/** The commands that print, and those that say where and how rows are printed. */
private[psql] final class DisplayCommands(options: PsqlOptions, environment: Environment):
  def echo(name: String, line: CommandLine, arguments: Arguments): List[Later] =
    val words = arguments.rest()
    val isOpen = words.headOption.contains(Arguments.Argument("-n", Arguments.NoQuote))
    val text = words.drop(if isOpen then 1 else 0).map(_.text).mkString(" ")
    List(Later(name, List(line.shown(if isOpen then text else s"$text\n"))))

  def setting(name: String, arguments: Arguments): List[Later] =
    def text(argument: Arguments.Argument | Null) =
      Option.when(argument ne null)(Variables.text(argument.nn.text))
    val of = if name == "pset" then text(arguments.next()) else Some(Known.settings(name))
    of match
      case None => passOver(name, arguments)
      case Some(of) =>
        val value = if Known.mostArguments(name) == 0 then None else text(arguments.next())
        List(Later("pset", of :: value.toList))

  def redirect(arguments: Arguments): List[Later] =
    val word = arguments.fileOrProgram()
    List(Later("o", if word eq null then Nil else environment.target(word)))

  /** Returns what `\g` and `\gx` say about the rows of the statement: by settings in parentheses,
    * and a file or a program. None if they say nothing.
    */
  def answer(name: String, arguments: Arguments): Option[Piece.Answer] =
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
    Option.when(settings.nonEmpty || (word ne null)):
      Piece.Answer.Shown(settings, if word eq null then Nil else environment.target(word))

  /** A command that only displays: it is passed over, or refused, as the options say. */
  def passOver(name: String, arguments: Arguments): List[Later] =
    if options.isStrict then
      throw CommandProblem(
        s"\\$name only displays, which is refused here",
        "Take the command out, or apply the script without --strict (PsqlOptions.isStrict).",
        endsRun = true
      )
    if Known.takesLine(name) then arguments.wholeLine(): Unit
    List(Later(name, Nil))
