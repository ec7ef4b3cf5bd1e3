package weir.postgres.psql

/** Reads the arguments of a command of psql from its line, as psql does: quotes, backquotes and
  * variables, up to a backslash or the end of the line.
  *
  * @param from
  *   the index after the name of the command
  * @param variables
  *   null in a branch of `\if` that is not taken, where psql replaces none
  * @param shell
  *   returns what a program prints
  */
private[psql] final class Arguments(
    line: CommandLine,
    from: Int,
    private var variables: Variables | Null,
    shell: String => String
):
  import Arguments.*

  private val marks = line.marks // decides
  private val raw = line.text // is taken

  private var i = from
  private val text = StringBuilder()
  private var plain = 0 // characters at the end of the text that no quote holds

  /** Returns the next argument; null if there are no more.
    *
    * @param dropsSemicolons
    *   takes unquoted semicolons from its end
    */
  def next(dropsSemicolons: Boolean = false): Argument | Null =
    while i < marks.length && isSpace(marks(i)) do i += 1
    text.clear()
    plain = 0
    var quote = NoQuote
    while i < marks.length && !isSpace(marks(i)) && marks(i) != '\\' do
      marks(i) match
        case '\'' =>
          quote = '\''
          quoted()
        case '"' =>
          quote = '"'
          doubleQuoted()
        case '`' =>
          quote = '`'
          backquoted()
        case ':' => if variable() then quote = ':'
        case _ => take()
    if dropsSemicolons then
      while plain > 0 && text.nonEmpty && text.last == ';' do
        text.setLength(text.length - 1)
        plain -= 1
    val whole = text.result()
    if whole.isEmpty && quote == NoQuote then null
    else Argument(whole.takeWhile(_ != 0), quote) // as in psql, a NUL ends it

  /** Returns all that is left, up to the end of the command. */
  def rest(dropsSemicolons: Boolean = false): List[Argument] =
    Iterator.continually(next(dropsSemicolons)).takeWhile(_ ne null).map(_.nn).toList

  /** Passes over the arguments that are too many: their programs are not run. */
  def skip(): Unit =
    variables = null
    rest(): Unit

  /** Returns the rest of the line, without the white space before it. The command ends with the
    * line.
    */
  def wholeLine(): String =
    while i < marks.length && isSpace(marks(i)) do i += 1
    val taken = raw.substring(i)
    i = marks.length
    taken

  /** Returns the name of a file; or the rest of the line as it is, if that begins with a `|`; null
    * if there is nothing.
    */
  def fileOrProgram(): String | Null =
    while i < marks.length && isSpace(marks(i)) do i += 1
    if marks.startsWith("|", i) then wholeLine()
    else
      val word = next()
      if word eq null then null else word.text

  /** Ends the command, and returns the index in the line at which what follows begins. */
  def end(): Int =
    if marks.startsWith("\\\\", i) then i += 2
    i

  private def take(): Unit =
    text += raw(i)
    plain += 1
    i += 1

  private def quoted(): Unit =
    i += 1
    var isOpen = true
    while isOpen do
      if i == marks.length then unterminated()
      marks(i) match
        case '\'' if i + 1 < marks.length && marks(i + 1) == '\'' =>
          text += '\''
          i += 2
        case '\'' =>
          isOpen = false
          i += 1
        case '\\' if i + 1 < marks.length => escape()
        case _ =>
          text += raw(i)
          i += 1
    plain = 0

  private def escape(): Unit =
    i += 1
    val c = marks(i)
    if isOctal(c) then code(i, 3, 8, isOctal)
    else if c == 'x' && i + 1 < marks.length && isHex(marks(i + 1)) then code(i + 1, 2, 16, isHex)
    else
      text += Escapes.getOrElse(c, raw(i))
      i += 1

  private def code(at: Int, most: Int, base: Int, isDigit: Char => Boolean): Unit =
    val digits = raw.substring(at, (at + most).min(marks.length)).takeWhile(isDigit)
    text += (Integer.parseInt(digits, base) & 0xff).toChar
    i = at + digits.length

  private def doubleQuoted(): Unit =
    val end = marks.indexOf('"', i + 1)
    if end < 0 then unterminated()
    text ++= raw.substring(i, end + 1)
    i = end + 1
    plain = 0

  /** Replaces a program by what it prints; in a branch that is not taken, by nothing. */
  private def backquoted(): Unit =
    val end = marks.indexOf('`', i + 1)
    if end < 0 then unterminated()
    val own = variables
    if own ne null then text ++= shell(inShell(i + 1, end, own))
    i = end + 1
    plain = 0

  /** Returns a part of the line for the shell, with values in place of `:name` and `:'name'`. */
  private def inShell(from: Int, until: Int, variables: Variables): String =
    val (told, here) = (raw.substring(from, until), marks.substring(from, until))
    val shown = StringBuilder()
    var at = 0
    for found <- Variables.reference.findAllMatchIn(here) do
      val group = if found.start(1) >= 0 then 1 else 2
      val value =
        if found.start(group) < 0 then null
        else variables.get(told.substring(found.start(group), found.end(group)))
      shown ++= told.substring(at, found.start)
      shown ++=
        (if value eq null then told.substring(found.start, found.end)
         else if group == 1 then value
         else shellWord(value))
      at = found.end
    shown.append(told.substring(at)).result()

  /** Replaces a variable that is set. Returns true if the colon begins the name of one; then the
    * argument counts as quoted.
    */
  private def variable(): Boolean =
    Variables.reference.findPrefixMatchOf(marks.substring(i)) match
      case None =>
        take()
        false
      case Some(found) =>
        val rest = raw.substring(i)
        val value = Variables.valueOf(found, rest, variables, line.mask)
        text ++= (if value eq null then rest.take(found.end) else value)
        i += found.matched.length
        plain = 0
        !found.matched.startsWith(":{")

  private def unterminated(): Nothing = throw CommandProblem(
    "unterminated quoted string in the arguments of a command",
    "A command of psql ends with its line, and so does a string in it."
  )

private[psql] object Arguments:
  /** @param quote
    *   the last kind of quote in it, a colon for a variable; `NoQuote` if there is none
    */
  final case class Argument(text: String, quote: Char)

  final val NoQuote = '\u0000'

  private def shellWord(value: String): String =
    if value.exists(c => c == '\n' || c == '\r') then
      throw CommandProblem(
        "the value of a variable in backquotes has more than one line",
        "psql passes on none either. Write the value to a file, and name that."
      )
    else if value.matches("[-0-9_a-zA-Z./:]+") then value
    else s"'${value.replace("'", "'\"'\"'")}'"

  private val Escapes = Map('n' -> '\n', 't' -> '\t', 'b' -> '\b', 'r' -> '\r', 'f' -> '\f')

  /** The white space of psql. */
  def isSpace(c: Char) = c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f'
  private def isOctal(c: Char) = c >= '0' && c <= '7'
  private def isHex(c: Char) = Character.digit(c, 16) >= 0
