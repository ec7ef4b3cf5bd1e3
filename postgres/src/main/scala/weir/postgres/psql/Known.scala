package weir.postgres.psql

import weir.postgres.Piece

/** The names of psql's commands. */
private[postgres] object Known:
  private val displaying = Set("conninfo", "copyright", "errverbose", "h") ++
    Set("help", "l", "l+", "list", "list+", "lo_list", "lo_list+", "p", "print", "s") ++
    Set("sf", "sf+", "sv", "sv+", "timing", "z", "?")

  /** The commands that change a setting of `\pset`, and its name. */
  val settings: Map[String, String] = Map(
    "a" -> "a",
    "C" -> "title",
    "f" -> "fieldsep",
    "H" -> "H",
    "html" -> "H",
    "pset" -> "pset",
    "t" -> "tuples_only",
    "T" -> "tableattr",
    "x" -> "expanded"
  )

  /** Returns what to do in place of a command that is not supported. */
  def instead(name: String): String =
    name match
      case "watch" => "Run it by psql: it would never end."
      case _ => "Run it by psql, or write SQL in its place."

  private val others = ExtendedCommands.all ++
    Set("!", "c", "cd", "connect", "copy", "crosstabview", "e") ++
    Set("edit", "ef", "elif", "else", "encoding", "endif", "ev", "g", "getenv", "gexec") ++
    Set("gset", "gx", "i", "if", "include", "include_relative", "ir", "lo_export", "lo_import") ++
    Set("lo_unlink", "o", "out", "password", "prompt", "q", "quit", "r", "reset", "setenv") ++
    Set("w", "watch", "write", "echo", "qecho", "restrict", "set", "unrestrict", "unset", "warn")

  /** Returns true if the command has no effect but what is shown, or how. */
  def displays(name: String): Boolean = name.startsWith("d") || displaying(name)

  private val takingLine =
    Set("!", "copy", "ef", "ev", "h", "help", "sf", "sf+", "sv", "sv+")

  /** Returns true if the argument is the rest of the line. */
  def takesLine(name: String): Boolean = takingLine(name)

  private val asking = Set("gset", "gexec")

  private def largeObjects = Set("lo_export", "lo_import", "lo_unlink")

  private val takingAll =
    Set("bind", "bind_named", "echo", "elif", "if", "qecho", "set", "warn")
  private val takingTwo = Set("getenv", "prompt", "pset", "setenv") ++ largeObjects
  private val takingNone =
    Set("a", "conninfo", "copyright", "errverbose", "gexec", "H", "html", "p", "print") ++
      Set("q", "quit", "r", "reset") ++ ExtendedCommands.withoutArguments

  /** Returns the number of arguments that the command reads, at most. */
  def mostArguments(name: String): Int =
    if takingAll(name) then Int.MaxValue
    else if name == "c" || name == "connect" || name == "crosstabview" then 4
    else if takingTwo(name) then 2
    else if takingNone(name) || !isName(name) then 0
    else 1

  /** Returns true if the reader goes on only once the command has been carried out: what it reads
    * next may be made by the command, or by the statements before it.
    */
  def waits(name: String): Boolean = waiting(name)

  private val waiting =
    Set(
      "`",
      "lo_import",
      "prompt",
      "sync",
      "begun",
      "c",
      "i",
      "copy",
      "copyto",
      "look",
      "!"
    ) ++ asking

  /** Returns true if the command was read before the statement that it belongs to has run. */
  def isOfStatement(name: String): Boolean = asking(name) || name == "look" || name == "forget"

  /** Returns true if the reader cannot go on without the server's answer. */
  def asks(name: String): Boolean = asking(name)

  /** Returns true if it is a command of `\if` blocks. */
  def branches(name: String): Boolean =
    name == "if" || name == "elif" || name == "else" || name == "endif"

  def next(name: String): Commands.Next = name match
    case "q" | "quit" => Commands.Next.Quit
    case "r" | "reset" => Commands.Next.Reset
    case "g" | "gx" => Commands.Next.Send(Piece.Answer.Dropped)
    case "gset" | "gexec" | "crosstabview" => Commands.Next.Send(Piece.Answer.Kept)
    case _ => Commands.Next.GoOn

  /** Returns true if psql knows the command. Of all names, only `copy` may be in capitals. */
  def isName(name: String): Boolean =
    displays(name) || settings.contains(name) || others(name) || name.equalsIgnoreCase("copy")
