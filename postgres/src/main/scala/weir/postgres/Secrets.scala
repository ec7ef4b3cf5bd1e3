package weir.postgres

import java.util.regex.{Matcher, Pattern}
import weir.postgres.split.{SqlLiteral, SqlText}

/** Hides probable secrets in SQL, in addresses of databases and in messages of servers.
  *
  * It looks at the words before a value, so the statement need not be complete or valid: the value
  * of `PASSWORD '…'` and of any other name that suggests a secret; the password in an address or in
  * the parameters of a connection; the values of settings with a dot in their name; the arguments
  * of functions that take keys; the arguments of `\bind` and `\bind_named`. It hides too much
  * rather than too little. A secret without such a word before it, as in the list of an INSERT, is
  * not recognized.
  */
object Secrets:
  /** Replaces a secret. */
  val Mask = "***"

  /** Returns `text` with `***` in place of each secret. */
  def mask(text: String): String =
    val hidden = ranges(text)
    if hidden.isEmpty then text else cut(text, hidden, 0, text.length)

  /** Returns `text` from `from` to `until`, with `***` in place of each of the ranges, which are in
    * order.
    */
  private[postgres] def cut(text: String, hidden: Vector[Range], from: Int, until: Int): String =
    val out = StringBuilder()
    var at = from
    for range <- hidden if range.end > from && range.start < until do
      if range.start > at then out.append(text.substring(at, range.start))
      out.append(Mask)
      at = range.end
    if at < until then out.append(text.substring(at, until))
    out.toString

  /** Returns `text`, a message about a statement with these secrets, without the secrets, however
    * it quotes them.
    */
  private[postgres] def mask(text: String, values: Set[String]): String =
    values.toVector.sortBy(-_.length).foldLeft(mask(text)) { (text, value) =>
      if value.length >= ShortLength then text.replace(value, Mask)
      else
        // A text this short may be a part of any word.
        Quotes.foldLeft(text)((text, quote) =>
          text.replace(s"$quote$value$quote", s"$quote$Mask$quote")
        )
    }

  /** Returns the secrets in a statement, as they are written there and as the server may quote
    * them.
    */
  private[postgres] def values(text: String): Set[String] =
    ranges(text).iterator
      .map(range => text.substring(range.start, range.end))
      .flatMap(raw => List(raw, raw.replace("''", "'"), raw.replace("\\'", "'")))
      .filter(_.nonEmpty)
      .toSet

  private[postgres] final case class Range(start: Int, end: Int)

  /** Returns the ranges of the secrets, in order. They do not overlap. */
  private[postgres] def ranges(text: String): Vector[Range] =
    val sql = SqlText(text)
    val found = (named(sql) ++ calls(sql) ++ settings(sql) ++ texts(text)).toVector
    found.filter(r => r.end > r.start).sortBy(r => (r.start, -r.end)).foldLeft(Vector.empty) {
      case (before :+ last, next) if next.start <= last.end =>
        before :+ Range(last.start, last.end.max(next.end))
      case (before, next) => before :+ next
    }

  /** Finds the value after a name such as `PASSWORD`, with or without text between them: a literal,
    * or an unquoted value.
    */
  private def named(sql: SqlText): Iterator[Range] =
    val text = sql.text
    each(Name.matcher(text)).flatMap { name =>
      val from = sql.skipGap(afterQuotes(text, name.start, name.end))
      val separator = Separator.matcher(text).region(from, text.length)
      val isSeparated = separator.lookingAt()
      val at = if isSeparated then sql.skipGap(separator.end) else from
      val literals = strings(sql, at)
      if literals.nonEmpty then literals.map(literal => Range(literal.start, literal.end))
      else if isSeparated then bare(text, at, separator.group)
      else Nil
    }

  /** Returns the string at `from` with the strings that follow it directly. That is no valid SQL,
    * so any of them may be the secret.
    */
  private def strings(sql: SqlText, from: Int): Vector[SqlLiteral] =
    Iterator
      .iterate(sql.literal(from))(_.flatMap(last => sql.literal(sql.skipGap(last.after))))
      .takeWhile(_.nonEmpty)
      .flatten
      .toVector

  /** The index behind the quotes around the name. */
  private def afterQuotes(text: String, start: Int, end: Int): Int =
    var (before, after) = (start - 1, end)
    while after < text.length && text.charAt(after) == '\\' do after += 1
    while before >= 0 && after < text.length && isQuote(text.charAt(after)) &&
      text.charAt(before) == text.charAt(after)
    do
      before -= 1
      after += 1
    if after > end && isQuote(text.charAt(after - 1)) then after else end

  private def isQuote(char: Char): Boolean = char == '\'' || char == '"'

  /** A value that is no literal of SQL: of the words of a connection, of an address, of JSON. */
  private def bare(text: String, at: Int, separator: String): List[Range] =
    if at < text.length && text.charAt(at) == '"' then
      val end = text.indexOf('"', at + 1)
      List(Range(at + 1, if end < 0 then text.length else end))
    else if separator != "=" then Nil
    else
      val value = Unquoted.matcher(text).region(at, text.length)
      if value.lookingAt() then List(Range(at, value.end)) else Nil

  /** All literals among the arguments of functions to which one gives keys. */
  private def calls(sql: SqlText): Iterator[Range] =
    each(Function.matcher(sql.text)).flatMap { name =>
      val open = sql.skipGap(afterQuotes(sql.text, name.start, name.end))
      if !sql.is('(', open) then Nil
      else if name.group.equalsIgnoreCase("set_config") then newValue(sql, open + 1)
      else arguments(sql, open + 1)
    }

  /** The arguments of `set_config` after the name, if it has a dot in it. */
  private def newValue(sql: SqlText, from: Int): Vector[Range] =
    val first = sql.skipGap(from)
    val end = sql.nameEnd(first)
    val arrow = sql.skipGap(end)
    val isNamed = sql.text.substring(first, end).equalsIgnoreCase("setting_name") &&
      (sql.text.startsWith("=>", arrow) || sql.text.startsWith(":=", arrow))
    sql.literal(if isNamed then sql.skipGap(arrow + 2) else first) match
      case Some(name) if sql.text.substring(name.start, name.end).contains('.') =>
        arguments(sql, name.after)
      case _ => Vector.empty

  private def arguments(sql: SqlText, from: Int): Vector[Range] =
    val found = Vector.newBuilder[Range]
    var at = from
    var depth = 1
    while at < sql.text.length && depth > 0 do
      sql.literal(at) match
        case Some(literal) =>
          found += Range(literal.start, literal.end)
          at = literal.after
        case None =>
          if sql.is('(', at) then depth += 1 else if sql.is(')', at) then depth -= 1
          at += 1
      at = sql.skipGap(at)
    found.result()

  /** The values of `SET a.b = …`. */
  private def settings(sql: SqlText): Iterator[Range] =
    each(SetWord.matcher(sql.text))
      .flatMap(word => settingValue(sql, word.end).toList)
      .flatMap(listed(sql, _))

  /** Returns the index after the `=` or the TO of a setting with a dot in its name, which begins
    * after the word SET.
    */
  private def settingValue(sql: SqlText, from: Int): Option[Int] =
    val first = sql.skipGap(from)
    val scope = sql.text.substring(first, sql.nameEnd(first))
    val isScope = scope.equalsIgnoreCase("session") || scope.equalsIgnoreCase("local")
    var at = if isScope then sql.skipGap(first + scope.length) else first
    var dots = -1
    var goesOn = true
    while goesOn do
      val end = sql.nameEnd(at)
      if end > at then dots += 1
      goesOn = end > at && sql.is('.', sql.skipGap(end))
      at = sql.skipGap(end)
      if goesOn then at = sql.skipGap(at + 1)
    val isTo = sql.text.regionMatches(true, at, "to", 0, 2) && sql.nameEnd(at) == at + 2
    if dots < 1 then None
    else if sql.is('=', at) then Some(at + 1)
    else if isTo then Some(at + 2)
    else None

  /** A value, and those that follow it after commas. */
  private def listed(sql: SqlText, from: Int): List[Range] =
    val found = List.newBuilder[Range]
    var at = sql.skipGap(from)
    var goesOn = true
    while goesOn do
      val literals = strings(sql, at)
      val end = literals.lastOption.fold(valueEnd(sql.text, at))(_.after)
      if literals.isEmpty then found += Range(at, end)
      else literals.foreach(literal => found += Range(literal.start, literal.end))
      val comma = sql.skipGap(end)
      goesOn = sql.is(',', comma)
      at = sql.skipGap(comma + 1)
    found.result()

  private def valueEnd(text: String, from: Int): Int =
    val value = ListValue.matcher(text).region(from.min(text.length), text.length)
    if value.lookingAt() then value.end else from

  /** Passwords in addresses, what looks like the hash of one, and the values of parameters. */
  private def texts(text: String): Iterator[Range] =
    each(Bound.matcher(text)).map(m => Range(m.start(1), m.end(1))) ++
      each(Address.matcher(text)).map(m => Range(m.start(1), m.end(1))) ++
      each(Hash.matcher(text)).map(m => Range(m.start, m.end))

  private def each(matcher: Matcher): Iterator[Matcher] =
    Iterator.continually(matcher).takeWhile(_.find())

  private val Quotes = List("\"", "'", "«", "»")
  private val ShortLength = 4

  private def pattern(text: String) =
    Pattern.compile(text, Pattern.CASE_INSENSITIVE | Pattern.DOTALL)

  private val Name = pattern(
    "(?<!\\w)(?!password_(?:encryption|required))[\\w$.-]{0,60}?" +
      "(?:pass?w(?:or)?[dt]|pwd|passphrase|secret|token|credential|" +
      "(?:api|access|private)_?key)\\w{0,60}+"
  )
  private val Separator = pattern("=>|:=|=|:|,|to\\b")

  // It ends with white space, and with the quote of the literal around it.
  private val Unquoted = pattern("""(?:[^\s'"\\]++|''(?=[^\s'"])|\\[^'"])++""")

  private val Function = pattern(
    """\b(?:crypt|hmac|encrypt|decrypt|encrypt_iv|decrypt_iv|set_config|""" +
      """pgp_(?:sym|pub)_(?:en|de)crypt(?:_bytea)?)\b"""
  )
  private val SetWord = pattern("""\bset\b""")
  private val ListValue = pattern("""[^\s;,]++""")
  private val Address = pattern(
    """(?:\b[a-z][a-z0-9+.-]{0,20}:/{1,2}[^\s:/?#@'"]{0,60}:|""" +
      """[^\s:/?#@'"(,=]{0,60}:(?=[^\s'":@/]))([^\s'"]{1,500})@"""
  )

  // They end at a backslash outside of quotes, or with the line.
  private val Bound = pattern(
    """\\bind(?:_named[ \t]+(?:'(?:[^'\\\n]|\\[^\n])*+'|[^\s\\]++))?[ \t]++""" +
      """((?:'(?:[^'\\\n]|\\[^\n])*+'?|"[^"\n]*+"?|[^\s\\'"]|[ \t\r]++(?=[^\s\\]))++)"""
  )
  private val Hash = pattern(
    """scram-sha-256\$\d+:[a-z0-9+/=]+\$[a-z0-9+/=:]+|(?<=['"])md5[0-9a-f]{32}(?=['"])"""
  )
