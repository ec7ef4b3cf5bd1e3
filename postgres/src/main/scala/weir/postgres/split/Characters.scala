package weir.postgres.split

import java.util.Locale

/** The lengths of the characters of a client encoding, as in the server's `wchar.c`. */
private[postgres] enum Characters:
  /** One byte each. */
  case Single
  case Utf8

  /** Two bytes, if the first is not ASCII. */
  case Two

  /** As `Two`, with further sets of characters behind a byte that announces them. */
  case Euc, EucTw

  /** As `Two`; the half-width letters are one byte. */
  case Sjis

  /** Two bytes, or four if the second is a digit. */
  case Gb18030

private[postgres] object Characters:
  /** Returns those of a `client_encoding`. */
  def of(encoding: String): Characters = plain(encoding) match
    case "utf8" | "unicode" => Utf8
    case "euccn" => Two
    case "eucjp" | "euckr" | "eucjis2004" => Euc
    case "euctw" => EucTw
    case name => hiding.getOrElse(name, Single)

  /** Returns those of a `client_encoding` in which a byte of a character may be one of ASCII, such
    * as a backslash; `Utf8` for any other, whose bytes the lexer need not tell apart.
    */
  def hidden(encoding: String): Characters = hiding.getOrElse(plain(encoding), Utf8)

  // Without dashes and such, as the server compares them.
  private def plain(encoding: String): String =
    encoding.toLowerCase(Locale.ROOT).filter(_.isLetterOrDigit)

  private val hiding: Map[String, Characters] = List(
    Sjis -> "sjis shiftjis mskanji win932 windows932 shiftjis2004 sjis2004",
    Two -> "big5 win950 windows950 gbk win936 windows936 uhc win949 windows949",
    Gb18030 -> "gb18030",
    Euc -> "johab"
  ).flatMap((characters, names) => names.split(' ').map(_ -> characters)).toMap

/** Replaces the bytes of characters, so that the lexer takes each for one letter, and a position
  * counts it as one: the first byte is 0xFF then, and each other one 0x80. Blocks may be cut
  * anywhere.
  *
  * A newline or a NUL byte is never a part of a character.
  */
private[postgres] final class CharacterMask(characters: Characters):
  private var left = 0 // bytes of the character
  private var isSecond = false // of a character of GB18030

  /** Returns a copy of `bytes` in which those from `from` to `until` are masked. */
  def of(bytes: Array[Byte], from: Int, until: Int): Array[Byte] =
    val masked = bytes.clone()
    var at = from
    while at < until do
      masked(at) = of(bytes(at))
      at += 1
    masked

  private def of(byte: Byte): Byte =
    if left > 0 && byte != '\n' && byte != 0 then
      left = if !isSecond then left - 1 else if byte >= '0' && byte <= '9' then 2 else 0
      isSecond = false
      CharacterMask.Other
    else
      isSecond = false
      left = if byte >= 0 then 0 else following(byte & 0xff)
      if byte >= 0 then byte else CharacterMask.First

  private def following(first: Int): Int = characters match
    case Characters.Single | Characters.Utf8 => 0
    case Characters.Two => 1
    case Characters.Sjis => if first >= 0xa1 && first <= 0xdf then 0 else 1
    case Characters.Euc => if first == 0x8f then 2 else 1
    case Characters.EucTw => if first == 0x8e then 3 else if first == 0x8f then 2 else 1
    case Characters.Gb18030 =>
      isSecond = true
      1

private object CharacterMask:
  private final val First: Byte = -1
  private final val Other: Byte = -128
