package weir.postgres.psql

import java.nio.charset.StandardCharsets.{ISO_8859_1, UTF_8}
import scala.collection.mutable
import scala.util.matching.Regex

/** psql's variables, as the reader of a script sees them.
  *
  * Names and values are bytes, in the encoding of the script, which need not be known: each
  * character of the strings here is one byte.
  *
  *   - **Owner only**: the reader of the scripts, which are read one after the other.
  */
private[postgres] final class Variables:
  private val values = mutable.HashMap[String, String]()
  Special.all.foreach((name, special) => values(name) = special.initial)

  /** Returns the value; null if the variable is not set. */
  def get(name: String): String | Null =
    valuesFor(name).getOrElse(name, null)

  /** Returns the values among which that of the variable is, if it is set. */
  private def valuesFor(name: String): collection.Map[String, String] =
    if !Variables.isOfRun(name) then values
    else
      answered.variables.getOrElse(
        throw Wanted(
          Commands.Later("sync", Nil),
          s"the variable $name is known only once the statement before has run",
          "Without a server, as with --dry-run, nothing is known of it."
        )
      )

  /** The results of the programs and names of the command that is read. */
  val answered: Answered = Answered()

  def isSet(name: String): Boolean = valuesFor(name).contains(name)

  /** Returns the value as an SQL literal; null if the variable is not set. */
  private def literal(name: String, mask: String => String): String | Null =
    val value = get(name)
    if value eq null then null
    else
      val marks = Variables.marksOf(name, value, '\'', mask)
      val quoted = Variables.doubled(value, marks, "'\\")
      if marks.contains('\\') then s" E'$quoted'" else s"'$quoted'"

  /** Returns the value as an SQL identifier; null if the variable is not set. */
  private def identifier(name: String, mask: String => String): String | Null =
    val value = get(name)
    if value eq null then null
    else
      val marks = Variables.marksOf(name, value, '"', mask)
      s"\"${Variables.doubled(value, marks, "\"")}\""

  /** Returns the text that replaces `:name` in SQL, or one of the other forms; null if the variable
    * is not set. **Fails** with a `CommandProblem` if it cannot be quoted.
    *
    * @param mask
    *   as in `CommandLine`
    */
  def valueOf(reference: String, mask: String => String): String | Null =
    Variables.reference
      .findPrefixMatchOf(mask(reference))
      .fold(null)(Variables.valueOf(_, reference, this, mask))

  /** Sets a variable, and returns its value. **Fails** with a `CommandProblem` if psql would not
    * take it.
    */
  def set(name: String, value: String): String =
    if !Variables.isName(name) then
      throw CommandProblem(
        s"\"$name\" is no name of a variable",
        "A name holds letters, digits and underscores."
      )
    val checked = Special.all.get(name).fold(value)(_.checked(name, value))
    values(name) = checked
    checked

  /** Removes a variable that has no meaning of its own. **Fails** as `set` does. */
  def remove(name: String): Unit =
    set(name, ""): Unit
    values.remove(name): Unit

  /** Unsets a variable, and returns the value that it has then, if psql gives it one. */
  def unset(name: String): String | Null =
    val after = Special.all.get(name).fold(null)(_.unset)
    if after eq null then values.remove(name): Unit else values(name) = after
    after

private[postgres] object Variables:
  private val ofRun =
    Set("ERROR", "LAST_ERROR_MESSAGE", "LAST_ERROR_SQLSTATE", "ROW_COUNT", "SQLSTATE")

  /** Returns true if psql sets the variable after each statement. A script may set it, too: it has
    * that value until the next statement.
    */
  def isOfRun(name: String): Boolean = ofRun(name)

  /** Returns true if psql gives the variable a meaning, or sets it itself. */
  def isSpecial(name: String): Boolean = Special.all.contains(name)

  private val nameForm = "[A-Za-z0-9_\\x80-\\xff]+"

  private def isName(name: String) = name.matches(nameForm)

  /** The places at which psql replaces a variable: its value, a literal, an identifier, or the word
    * that says if it is set.
    */
  val reference: Regex =
    s":(?:($nameForm)|'($nameForm)'|\"($nameForm)\"|\\{\\?($nameForm)\\})".r

  /** Returns the text that replaces what `reference` has found; null if the variable is not set.
    *
    * @param text
    *   in whose masked form it was found
    */
  def valueOf(
      found: Regex.Match,
      text: String,
      variables: Variables | Null,
      mask: String => String
  ): String | Null =
    def group(i: Int): String | Null =
      if found.start(i) < 0 then null else text.substring(found.start(i), found.end(i))
    val (plain, literal, identifier, test) = (group(1), group(2), group(3), group(4))
    if test ne null then if (variables ne null) && variables.nn.isSet(test) then "TRUE" else "FALSE"
    else if variables eq null then null
    else if literal ne null then variables.nn.literal(literal, mask)
    else if identifier ne null then variables.nn.identifier(identifier, mask)
    else variables.nn.get(plain.nn)

  /** Returns the masked value. **Fails** with a `CommandProblem` if a character of it, which is not
    * whole, would take in a quote.
    */
  private def marksOf(name: String, value: String, quote: Char, mask: String => String): String =
    val ended = value + quote
    val marks = mask(ended)
    if marks.count(_ == quote) != ended.count(_ == quote) then
      throw CommandProblem(
        s"the value of the variable ${text(name)} is not valid in the encoding of the script",
        "A character of it is cut off. Is the value in another encoding?"
      )
    marks.init

  private def doubled(value: String, marks: String, twice: String): String =
    value.zip(marks).map((c, mark) => if twice.contains(mark) then s"$c$c" else s"$c").mkString

  /** Returns the text with each of its bytes in UTF-8 as a character. */
  def bytes(text: String): String = String(text.getBytes(UTF_8), ISO_8859_1)

  /** Returns the text whose bytes these characters are. */
  def text(bytes: String): String = String(bytes.getBytes(ISO_8859_1), UTF_8)
