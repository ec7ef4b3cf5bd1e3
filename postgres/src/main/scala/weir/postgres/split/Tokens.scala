package weir.postgres.split

import java.nio.charset.StandardCharsets.UTF_8

/** The tokens of one statement, as `TokenScanner` finds them, without white space and comments.
  *
  * A string with a prefix, such as `B'…'` or `U&'…'`, is one token.
  */
private[postgres] final class Tokens(
    private val text: Array[Byte],
    reading: Reading = Reading.standard
):
  private val scanner = TokenScanner()
  private val masked = reading.masked(text)
  scanner.hasEscapes = !reading.standardStrings
  private var at = 0 // the next byte to read
  private var kind = Token.None

  /** The beginning and the end of the token that `next` has found. */
  var from = 0
  var until = 0

  /** Moves to the next token. Returns true if there is one. */
  def next(): Boolean =
    read()
    kind = scanner.kind
    from = scanner.from
    until = scanner.until
    if kind == Token.Word && isPrefix then readString()
    kind != Token.None

  /** Reads a token; `Token.None` at the end of the text. */
  private def read(): Unit =
    while
      if at < text.length then at = scanner.read(masked, text, at, text.length)
      else
        scanner.place(text.length, 0)
        at = text.length + scanner.read(TokenScanner.end, at - text.length, TokenScanner.end.length)
        if scanner.kind == Token.Semicolon then scanner.kind = Token.None
      scanner.kind == Token.LineComment || scanner.kind == Token.Nul || isVerticalTab ||
      (scanner.kind == Token.None && at < text.length + TokenScanner.end.length)
    do ()

  /** Returns true for what is white space to servers from 16 on, and an error to older ones. */
  private def isVerticalTab: Boolean = scanner.kind == Token.Mark && text(scanner.from) == 0x0b

  /** Returns true if the word is one that belongs to the string behind it. */
  private def isPrefix: Boolean =
    until - from == 1 && ((text(from) | 0x20) match
      case 'b' | 'x' | 'n' => byte(until) == '\''
      case 'u' => byte(until) == '&' && (byte(until + 1) == '\'' || byte(until + 1) == '"')
      case _ => false)

  private def readString(): Unit =
    read()
    if scanner.kind == Token.Mark then read()
    kind = scanner.kind
    until = scanner.until

  private def byte(i: Int): Int = if i < text.length then text(i).toInt else -1

  def isWord: Boolean = kind == Token.Word

  def isName: Boolean = kind == Token.Word || kind == Token.Name

  def isString: Boolean = kind == Token.Text

  /** Returns true if the token is this byte, outside of quotes. */
  def is(mark: Char): Boolean =
    until - from == 1 && kind != Token.Word && kind != Token.Number && text(from) == mark

  /** The word in upper case; empty if the token is no unquoted word. */
  def word: String = if isWord then Tokens.upper(text, from, until) else ""

  /** The name that the token is: a word in lower case, or what a pair of double quotes holds; empty
    * if it is no name.
    */
  def name: String = kind match
    case Token.Word => Tokens.lower(raw)
    case Token.Name => content('"')
    case _ => ""

  /** The content of a string or of a quoted name, with quotes that are doubled or escaped as they
    * are meant; any other token as it is written.
    */
  def value: String = kind match
    case Token.Text => content('\'')
    case Token.Name => content('"')
    case _ => raw

  /** Returns true if the string or the name has escapes of characters, so that `value` and `name`
    * are not what it means.
    */
  def hasEscapes: Boolean =
    (kind == Token.Text || kind == Token.Name) &&
      ((text(from) | 0x20) match
        case 'e' | 'u' => (from until until).exists(text(_) == '\\')
        case _ => false)

  /** Reads the name that begins with this token: names with dots between them. Moves to the token
    * behind it.
    */
  def qualifiedName(): List[String] =
    val parts = List.newBuilder[String]
    var goesOn = isName
    while goesOn do
      parts += name
      goesOn = next() && is('.') && next() && isName
    parts.result()

  /** The token as it is written. */
  def raw: String = String(text, from, until - from, UTF_8)

  private def content(quote: Char): String =
    val token = raw
    if token.startsWith("$") then
      val tag = token.indexOf('$', 1) + 1
      token.substring(tag, token.length - tag)
    else
      val inner = token.substring(token.indexOf(quote) + 1, token.length - 1)
      val single = inner.replace(s"$quote$quote", quote.toString)
      if (text(from) | 0x20) == 'e' then Tokens.unescaped(single) else single

private[postgres] object Tokens:
  /** Returns `text` without the backslashes before characters that mean themselves then. */
  private def unescaped(text: String): String =
    val out = StringBuilder()
    var i = 0
    while i < text.length do
      val escapes = text.charAt(i) == '\\' && i + 1 < text.length
      if escapes && !text.charAt(i + 1).isLetterOrDigit then i += 1
      out += text.charAt(i)
      i += 1
    out.toString

  /** Returns the bytes as text, with its ASCII letters in upper case. */
  private def upper(text: Array[Byte], from: Int, until: Int): String =
    val chars = new Array[Char](until - from)
    var i = 0
    while i < chars.length do
      val c = text(from + i) & 0xff
      chars(i) = (if c >= 'a' && c <= 'z' then c - 32 else c).toChar
      i += 1
    String(chars)

  /** Returns `text` with its ASCII letters in lower case, in every locale. */
  private def lower(text: String): String =
    text.map(c => if c >= 'A' && c <= 'Z' then (c + 32).toChar else c)

  /** Returns the first `count` tokens that are unquoted words, in upper case, up to the first token
    * that is not. Parentheses that open before them are passed over.
    */
  def leading(text: Array[Byte], count: Int): List[String] =
    val tokens = Tokens(text)
    val words = List.newBuilder[String]
    var hasToken = tokens.next()
    while hasToken && tokens.is('(') do hasToken = tokens.next()
    var left = count
    while left > 0 && hasToken && tokens.isWord do
      words += tokens.word
      left -= 1
      hasToken = left > 0 && tokens.next()
    words.result()

  /** Returns true if one of the statement's names, quoted or not, is one of `wanted`, which are in
    * lower case.
    */
  def mention(
      text: Array[Byte],
      wanted: Set[String],
      reading: Reading = Reading.standard
  ): Boolean =
    val tokens = Tokens(text, reading)
    var found = false
    while !found && tokens.next() do found = wanted(tokens.name)
    found

  /** Returns the statements that `\;` has joined to one; the statement itself if it is one. */
  def parts(text: Array[Byte], reading: Reading = Reading.standard): List[Array[Byte]] =
    if WordScan.indexOf(text, ';') < 0 then List(text)
    else
      val tokens = Tokens(text, reading)
      val classifier = StatementClassifier()
      val found = List.newBuilder[Array[Byte]]
      var begun = 0
      while readStatement(tokens, classifier) do
        found += text.slice(begun, tokens.from)
        begun = tokens.until
      (found += text.drop(begun)).result()

  /** Returns true if the text is a `COPY … FROM STDIN` up to its semicolon, and maybe more. */
  def isCopy(text: Array[Byte]): Boolean =
    val classifier = StatementClassifier()
    leading(text, 1) == List("COPY") && readStatement(Tokens(text), classifier) && classifier.isCopy

  /** Reads up to the semicolon that ends a statement, as the splitter does. Returns true if there
    * is one.
    */
  private def readStatement(tokens: Tokens, classifier: StatementClassifier): Boolean =
    var parentheses = 0
    var isEnded = false
    classifier.begin()
    while !isEnded && tokens.next() do
      if tokens.isWord then
        val keyword = Keyword.of(tokens.text, tokens.from, tokens.until)
        classifier.word(keyword, tokens.from, parentheses > 0)
      else
        classifier.other()
        if tokens.is('(') then parentheses += 1
        else if tokens.is(')') then parentheses = math.max(0, parentheses - 1)
        else isEnded = tokens.is(';') && parentheses == 0 && !classifier.inBody
    isEnded
