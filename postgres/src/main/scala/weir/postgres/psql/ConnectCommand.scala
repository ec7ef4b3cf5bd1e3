package weir.postgres.psql

/** The arguments of `\connect`, as psql reads them. */
private[psql] object ConnectCommand:
  private val prefix = "-reuse-previous="

  /** Returns `on`, `off` or nothing for the parameters of the connection before, and then the
    * database or an address, the user, the host and the port. Those that stay as they are, are
    * empty.
    */
  def parse(arguments: Arguments): List[String] =
    val first = argument(arguments)
    val reuses = if first.startsWith(prefix) then word(first.drop(prefix.length)) else ""
    val database = if reuses.isEmpty then first else argument(arguments)
    reuses :: database :: List.fill(3)(argument(arguments))

  private def word(value: String): String =
    Special.boolean(value) match
      case Some(isOn) => if isOn then "on" else "off"
      case None =>
        throw CommandProblem(
          s"\"${Variables.text(value)}\" is no value of -reuse-previous",
          "It takes: on, off."
        )

  private def argument(arguments: Arguments): String =
    val next = arguments.next(dropsSemicolons = true)
    if (next eq null) || (next.text == "-" && next.quote == Arguments.NoQuote) then ""
    else Variables.text(if next.quote == '"' then unquoted(next.text) else next.text)

  /** Returns the name without its double quotes, of which two are one. */
  private def unquoted(name: String): String =
    val text = StringBuilder()
    var i = 0
    var isQuoted = false
    while i < name.length do
      if name(i) != '"' then text += name(i)
      else if isQuoted && name.startsWith("\"", i + 1) then
        text += '"'
        i += 1
      else isQuoted = !isQuoted
      i += 1
    text.result()
