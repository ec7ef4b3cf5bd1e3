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
    if Variables.atRunTime(name) && !values.contains(name) then
      throw CommandProblem(
        s"the variable $name is known only once the statement before has run",
        "It is not supported: the script is read ahead of the server."
      )
    values.getOrElse(name, null)

  def isSet(name: String): Boolean = Variables.atRunTime(name) || values.contains(name)

  /** Returns the value as an SQL literal; null if the variable is not set. */
  def literal(name: String): String | Null =
    val value = get(name)
    if value eq null then null
    else
      val quoted = value.replace("'", "''")
      if value.contains('\\') then s" E'${quoted.replace("\\", "\\\\")}'" else s"'$quoted'"

  /** Returns the value as an SQL identifier; null if the variable is not set. */
  def identifier(name: String): String | Null =
    val value = get(name)
    if value eq null then null else "\"" + value.replace("\"", "\"\"") + "\""

  /** Returns the text that replaces `:name` in SQL, or one of the other forms; null if the variable
    * is not set.
    */
  def valueOf(reference: String): String | Null =
    Variables.reference.findPrefixMatchOf(reference).fold(null)(Variables.valueOf(_, this))

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
  /** Set by psql after each statement. */
  private val atRunTime =
    Set("ERROR", "LAST_ERROR_MESSAGE", "LAST_ERROR_SQLSTATE", "ROW_COUNT", "SQLSTATE")

  /** Returns true if psql gives the variable a meaning, or sets it itself. */
  def isSpecial(name: String): Boolean = Special.all.contains(name)

  private val nameForm = "[A-Za-z0-9_\\x80-\\xff]+"

  private def isName(name: String) = name.matches(nameForm)

  /** The places at which psql replaces a variable: its value, a literal, an identifier, or the word
    * that says if it is set.
    */
  val reference: Regex =
    s":(?:($nameForm)|'($nameForm)'|\"($nameForm)\"|\\{\\?($nameForm)\\})".r

  /** Returns the text that replaces what `reference` has found; null if the variable is not set. */
  def valueOf(found: Regex.Match, variables: Variables | Null): String | Null =
    val List(plain, literal, identifier, test) = found.subgroups: @unchecked
    if test ne null then if (variables ne null) && variables.nn.isSet(test) then "TRUE" else "FALSE"
    else if variables eq null then null
    else if literal ne null then variables.nn.literal(literal)
    else if identifier ne null then variables.nn.identifier(identifier)
    else variables.nn.get(plain)

  /** Returns the text with each of its bytes in UTF-8 as a character. */
  def bytes(text: String): String = String(text.getBytes(UTF_8), ISO_8859_1)

  /** Returns the text whose bytes these characters are. */
  def text(bytes: String): String = String(bytes.getBytes(ISO_8859_1), UTF_8)
