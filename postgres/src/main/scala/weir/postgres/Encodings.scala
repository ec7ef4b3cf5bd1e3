package weir.postgres

import java.nio.ByteBuffer
import java.nio.charset.{Charset, CodingErrorAction, StandardCharsets}

/** The client encodings of Postgres as the JDK's charsets. */
private[postgres] object Encodings:
  private val renamed = Map(
    "SQL_ASCII" -> "ISO-8859-1", // the server takes any byte
    "UNICODE" -> "UTF-8",
    "UTF8" -> "UTF-8",
    "LATIN5" -> "ISO-8859-9",
    "LATIN7" -> "ISO-8859-13",
    "LATIN9" -> "ISO-8859-15",
    "KOI8R" -> "KOI8-R",
    "KOI8U" -> "KOI8-U",
    "WIN866" -> "IBM866",
    "WIN874" -> "x-windows-874",
    "EUC_CN" -> "GB2312",
    "EUC_JP" -> "EUC-JP",
    "EUC_KR" -> "EUC-KR",
    "EUC_TW" -> "x-EUC-TW",
    "UHC" -> "x-windows-949",
    "JOHAB" -> "x-Johab"
  )

  /** The charset of a `client_encoding`; one for which each byte is a character if the JDK has none. */
  def charset(encoding: String): Charset =
    val name = encoding.toUpperCase(java.util.Locale.ROOT) match
      case known if renamed.contains(known) => renamed(known)
      case s"LATIN$n" => s"ISO-8859-$n"
      case s"ISO_8859_$n" => s"ISO-8859-$n"
      case s"WIN$n" => s"windows-$n"
      case other => other
    try Charset.forName(name)
    catch case _: IllegalArgumentException => StandardCharsets.ISO_8859_1

  /** Where the first byte is that does not belong there; -1 if there is none. */
  def firstInvalid(text: Array[Byte], charset: Charset): Int =
    val ascii = asciiLength(text)
    if ascii == text.length then -1
    else
      val decoder = charset
        .newDecoder()
        .onMalformedInput(CodingErrorAction.REPORT)
        .onUnmappableCharacter(CodingErrorAction.REPORT)
      val in = ByteBuffer.wrap(text, ascii, text.length - ascii)
      val out = java.nio.CharBuffer.allocate(8192)
      var result = decoder.decode(in, out.clear(), true)
      while result.isOverflow do result = decoder.decode(in, out.clear(), true)
      if result.isError then in.position() else -1

  private def asciiLength(text: Array[Byte]): Int =
    var at = 0
    while at < text.length && text(at) >= 0 do at += 1
    at
