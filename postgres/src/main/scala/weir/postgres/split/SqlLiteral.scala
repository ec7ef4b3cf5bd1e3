package weir.postgres.split

/** A string in a piece of SQL, which need not be whole: its content is `start` to `end`, and the
  * text after it begins at `after`.
  */
private[postgres] final case class SqlLiteral(start: Int, end: Int, after: Int)

private[postgres] object SqlLiteral:

  /** Returns the string that begins at `at`, if there is one: in single or dollar quotes, or in the
    * quotes of a string inside of another one, which are doubled or have a backslash before them. A
    * string without an end goes to the end of the text.
    */
  def at(text: String, at: Int): Option[SqlLiteral] =
    val quote = at + prefixLength(text, at)
    if text.startsWith("\\'", quote) then Some(until(text, quote + 2, "\\'"))
    else if text.startsWith("'", quote) then
      val quotes = run(text, quote)
      if quotes % 2 == 1 then Some(simple(text, quote + 1, quote > at && isEscape(text.charAt(at))))
      else if isEmpty(text, quote + quotes) then
        Some(SqlLiteral(quote + quotes, quote + quotes, quote + quotes))
      else Some(nested(text, quote + quotes, quotes))
    else dollar(text, at)

  /** Returns the index after white space and comments. */
  def skipGap(text: String, from: Int): Int =
    var at = from
    var goesOn = true
    while goesOn && at < text.length do
      if text.charAt(at).isWhitespace then at += 1
      else if text.startsWith("--", at) then
        val end = text.indexOf('\n', at)
        at = if end < 0 then text.length else end + 1
      else if text.startsWith("/*", at) then
        val end = text.indexOf("*/", at)
        at = if end < 0 then text.length else end + 2
      else goesOn = false
    at

  private def prefixLength(text: String, at: Int): Int =
    if text.regionMatches(true, at, "u&'", 0, 3) then 2
    else if at + 1 < text.length && "eEnNbBxX".indexOf(text.charAt(at).toInt) >= 0 &&
      (text.charAt(at + 1) == '\'' || text.startsWith("\\'", at + 1))
    then 1
    else 0

  private def isEscape(char: Char) = char == 'e' || char == 'E'

  /** Returns the number of single quotes that follow one another. */
  private def run(text: String, from: Int): Int =
    var at = from
    while at < text.length && text.charAt(at) == '\'' do at += 1
    at - from

  /** Two quotes are an empty string if nothing follows that could be in a string. */
  private def isEmpty(text: String, at: Int): Boolean =
    at >= text.length || text.charAt(at).isWhitespace || ",;)".indexOf(text.charAt(at).toInt) >= 0

  /** The rest of a string after its first quote. It goes on after white space with a newline and
    * another quote.
    */
  private def simple(text: String, start: Int, escapes: Boolean): SqlLiteral =
    var at = start
    var end = -1
    while end < 0 do
      if at >= text.length then end = text.length
      else if escapes && text.charAt(at) == '\\' then at += 2
      else if text.charAt(at) != '\'' then at += 1
      else if text.startsWith("''", at) then at += 2
      else
        val next = skipGap(text, at + 1)
        val isContinued = text.startsWith("'", next) && text.substring(at, next).contains('\n')
        if isContinued then at = next + 1 else end = at
    SqlLiteral(start.min(end), end, (end + 1).min(text.length))

  /** The rest of a string in a string, whose quotes are `quotes` long. It ends with the outer one,
    * too.
    */
  private def nested(text: String, start: Int, quotes: Int): SqlLiteral =
    var at = start
    var end = -1
    while end < 0 do
      val quote = text.indexOf('\'', at)
      if quote < 0 then end = text.length
      else
        val length = run(text, quote)
        if length % (2 * quotes) == 0 then at = quote + length else end = quote
    SqlLiteral(start, end, (end + run(text, end)).min(text.length))

  private def until(text: String, start: Int, close: String): SqlLiteral =
    val end = text.indexOf(close, start)
    if end < 0 then SqlLiteral(start, text.length, text.length)
    else SqlLiteral(start, end, end + close.length)

  private def dollar(text: String, at: Int): Option[SqlLiteral] =
    val tag = Tag.matcher(text).region(at, text.length)
    Option.when(tag.lookingAt())(until(text, tag.end, tag.group))

  private val Tag = java.util.regex.Pattern.compile("\\$(?:[\\p{L}_][\\p{L}\\d_]*)?\\$")
