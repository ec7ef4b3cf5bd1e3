package weir.postgres.split

/** The class of a byte for the lexer outside of quotes and comments: a table of 256 entries. */
private[split] object ByteClass:
  final val Space = 0
  final val Other = 1
  final val Letter = 2 // begins an identifier: A-Z, a-z, _ and all bytes above 127
  final val Digit = 3
  final val Quote = 4
  final val DoubleQuote = 5
  final val Dollar = 6
  final val Dash = 7
  final val Slash = 8
  final val Open = 9
  final val Close = 10
  final val Semicolon = 11
  final val Backslash = 12
  final val Nul = 13
  final val Dot = 14
  final val Colon = 15

  private val table: Array[Byte] = Array.tabulate(256)(value => classOf(value).toByte)

  def of(byte: Byte): Int = table(byte & 0xff)

  /** Returns true if an identifier may continue with `byte`. */
  def continuesWord(byte: Byte): Boolean =
    val is = of(byte)
    is == Letter || is == Digit || is == Dollar

  /** Returns true if the name of a variable of psql may hold `byte`. */
  def isOfVariable(byte: Byte): Boolean =
    val is = of(byte)
    is == Letter || is == Digit

  /** As in psql 15: not the vertical tab. */
  def isSpace(byte: Byte): Boolean = of(byte) == Space

  def isNewline(byte: Byte): Boolean = byte == '\n' || byte == '\r'

  private def classOf(value: Int): Int = value match
    case 0 => Nul
    case ' ' | '\t' | '\n' | '\r' | '\f' => Space
    case '\'' => Quote
    case '"' => DoubleQuote
    case '$' => Dollar
    case '-' => Dash
    case '/' => Slash
    case '(' => Open
    case ')' => Close
    case ';' => Semicolon
    case '\\' => Backslash
    case '.' => Dot
    case ':' => Colon
    case '_' => Letter
    case _ if value >= 128 || value >= 'a' && value <= 'z' || value >= 'A' && value <= 'Z' => Letter
    case _ if value >= '0' && value <= '9' => Digit
    case _ => Other
