package weir.postgres

import java.nio.ByteBuffer
import java.nio.charset.{Charset, CodingErrorAction, StandardCharsets}
import weir.postgres.split.Characters

/** The client encodings of Postgres as charsets, by the table "PostgreSQL Character Sets" of its
  * manual.
  */
private[postgres] object Encodings:
  private val renamed = Map(
    "SQL_ASCII" -> "ISO-8859-1", // the server takes any byte
    "UNICODE" -> "UTF-8",
    "UTF8" -> "UTF-8",
    "LATIN1" -> "ISO-8859-1",
    "LATIN2" -> "ISO-8859-2",
    "LATIN3" -> "ISO-8859-3",
    "LATIN4" -> "ISO-8859-4",
    "LATIN5" -> "ISO-8859-9",
    "LATIN7" -> "ISO-8859-13",
    "LATIN9" -> "ISO-8859-15",
    "LATIN10" -> "ISO-8859-16",
    "KOI8R" -> "KOI8-R",
    "KOI8U" -> "KOI8-U",
    "WIN866" -> "IBM866",
    "WIN874" -> "x-windows-874",
    "EUC_CN" -> "GB2312",
    "EUC_JP" -> "EUC-JP",
    "EUC_KR" -> "EUC-KR",
    "EUC_TW" -> "x-EUC-TW",
    "UHC" -> "x-windows-949",
    "SJIS" -> "windows-31j",
    "SHIFT_JIS_2004" -> "x-SJIS_0213",
    "BIG5" -> "x-windows-950",
    "JOHAB" -> "x-Johab"
  )

  /** The encodings that the JDK does not have. */
  private val ours = Map("LATIN6" -> SingleByteCharset.Iso10, "LATIN8" -> SingleByteCharset.Iso14)

  /** Returns the charset of a `client_encoding`; none if there is none for it. */
  def find(encoding: String): Option[Charset] =
    val name = encoding.toUpperCase(java.util.Locale.ROOT)
    def jdk = name match
      case known if renamed.contains(known) => Some(renamed(known))
      case s"ISO_8859_$n" => Some(s"ISO-8859-$n")
      case s"WIN$n" => Some(s"windows-$n")
      case "GBK" | "GB18030" => Some(name)
      case _ => None
    ours.get(name).orElse(jdk.filter(Charset.isSupported).map(Charset.forName))

  /** Returns the charset as `find` does; ASCII if there is none, so that a message shows every
    * other character as `\uFFFD`.
    */
  def charset(encoding: String): Charset = find(encoding).getOrElse(StandardCharsets.US_ASCII)

  /** Returns the reason why a session's `client_encoding` cannot be used; none if it can. */
  def problem(encoding: String): Option[String] =
    Option.when(find(encoding).isEmpty)(
      s"client_encoding $encoding is not supported: the program cannot read it"
    )

  val hint: String = "Write the script anew in UTF-8, as pg_dump -E UTF8 of a current server does."

  /** An encoding, with what is found out about it once. */
  private[postgres] final class Known(val name: String):
    val problem: String | Null = Encodings.problem(name).orNull
    val charset: Charset = Encodings.charset(name)

    /** True if only the server looks at the bytes: what it takes differs from the JDK's table. */
    val isUnchecked: Boolean =
      charset.name == "x-EUC-TW" || Characters.hidden(name) != Characters.Utf8

  /** Remembers the encoding that was asked for last. */
  private[postgres] final class Latest:
    private var known = Known("UTF8")

    def of(name: String): Known =
      if name != known.name then known = Known(name)
      known

  /** Returns the index of the first byte that is not valid in `charset`; -1 if there is none. */
  def firstInvalid(text: Array[Byte], charset: Charset): Int =
    val ascii = asciiLength(text)
    if ascii == text.length then -1
    else
      val decoder = charset
        .newDecoder()
        .onMalformedInput(CodingErrorAction.REPORT)
        .onUnmappableCharacter(CodingErrorAction.REPLACE) // the server may know more characters
      val in = ByteBuffer.wrap(text, ascii, text.length - ascii)
      val out = java.nio.CharBuffer.allocate(8192)
      var result = decoder.decode(in, out.clear(), true)
      while result.isOverflow do result = decoder.decode(in, out.clear(), true)
      if result.isError then in.position() else -1

  private def asciiLength(text: Array[Byte]): Int =
    var at = 0
    while at < text.length && text(at) >= 0 do at += 1
    at
