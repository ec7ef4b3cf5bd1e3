package weir.postgres.psql

import java.util.Locale

/** The arguments of `\copy`, as `parse_slash_copy` of psql 15 reads them.
  *
  * @param sql
  *   the statement that psql sends
  * @param reads
  *   true if it is a COPY FROM
  * @param kind
  *   one of `file`, `program`, `script` (`STDIN` or `STDOUT`) and `standard` (`PSTDIN` or
  *   `PSTDOUT`)
  * @param name
  *   of the file or the program; else empty
  */
private[psql] final case class CopyCommand(sql: String, reads: Boolean, kind: String, name: String)

private[psql] object CopyCommand:
  /** **Fails** with a `CommandProblem` at the word that psql does not expect.
    */
  def parse(line: CommandLine): CopyCommand =
    val words = Words(line)
    val head = StringBuilder()
    var word = words.next(Names)
    if lower(word) == "binary" then
      head ++= word
      word = words.next(Names)
    if word == "(" then word = query(words, word, head)
    head ++= s" $word"
    word = words.next(Names)
    if word == "." then
      head ++= word ++= words.next(Names)
      word = words.next(Names)
    if word == "(" then
      while
        head ++= s" $word"
        word = words.next(Parentheses)
        word != ")"
      do ()
      head ++= " )"
      word = words.next(Names)
    val reads = lower(word) == "from"
    if !reads && lower(word) != "to" then problem(word)
    val (kind, name) = target(words)
    val direction = if reads then " FROM STDIN " else " TO STDOUT "
    CopyCommand(s"COPY $head$direction${words.rest}", reads, kind, name)

  /** Takes the words of `(query)`, and returns the last one. */
  private def query(words: Words, first: String, head: StringBuilder): String =
    var word = first
    var open = 1
    while open > 0 do
      head ++= s" $word"
      word = words.next(Query)
      if word.startsWith("(") then open += 1
      else if word.startsWith(")") then open -= 1
    word

  private def target(words: Words): (String, String) =
    val word = words.next(Files)
    lower(word) match
      case "program" =>
        val program = words.next(Files)
        if program.length < 2 || program.head != '\'' || program.last != '\'' then problem(program)
        ("program", unquoted(program))
      case "stdin" | "stdout" => ("script", "")
      case "pstdin" | "pstdout" => ("standard", "")
      case _ => ("file", unquoted(word))

  private def lower(word: String) = word.toLowerCase(Locale.ROOT)

  /** Takes the quotes off, and one of each two of them. */
  private def unquoted(word: String): String =
    if word.head != '\'' then word
    else word.drop(1).stripSuffix("'").replace("''", "'")

  private def problem(word: String): Nothing = throw CommandProblem(
    s"\\copy: parse error at ${if word.isEmpty then "end of line" else s"\"$word\""}",
    "Write \\copy TABLE FROM 'FILE', for example, on one line."
  )

  /** The characters that are words by themselves, and those that quote. */
  private final case class Marks(single: String, quotes: String, hasEscapes: Boolean = false)
  private val Names = Marks(".,()", "\"")
  private val Parentheses = Marks("()", "\"")
  private val Query = Marks("()", "\"'", hasEscapes = true)
  private val Files = Marks(";", "'")
  private val Space = " \t\n\r"

  /** The words of a line, as psql's `strtokx` cuts them. */
  private final class Words(of: CommandLine):
    private val line = of.marks
    private var i = 0

    /** **Fails** if there is no more.
      */
    def next(marks: Marks): String =
      while i < line.length && Space.contains(line(i)) do i += 1
      if i == line.length then problem("")
      val from = i
      if marks.single.contains(line(i)) then i += 1
      else
        val isEscape = marks.hasEscapes && (line(i) | 0x20) == 'e' && line.startsWith("'", i + 1)
        if isEscape then i += 1
        if isEscape || marks.quotes.contains(line(i)) then
          quoted(line(i), isEscape || marks.hasEscapes && !of.hasStandardStrings)
        else
          def ends(c: Char) =
            Space.contains(c) || marks.single.contains(c) || marks.quotes.contains(c)
          while i < line.length && !ends(line(i)) do i += 1
      val word = of.text.substring(from, i)
      if i < line.length && Space.contains(line(i)) then i += 1
      word

    private def quoted(quote: Char, hasEscapes: Boolean): Unit =
      i += 1
      var isOpen = true
      while isOpen && i < line.length do
        if hasEscapes && line(i) == '\\' && i + 1 < line.length then i += 2
        else if line(i) != quote then i += 1
        else if line.startsWith(quote.toString, i + 1) then i += 2
        else
          i += 1
          isOpen = false

    def rest: String = of.text.substring(i)
