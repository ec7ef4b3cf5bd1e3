package weir.feeds.encoding

import java.nio.charset.Charset

import weir.feeds.encoding.Encoding.{OfCharset, OneByte}

/** The labels of encodings: the table of the WHATWG Encoding Standard, in its order.
  *
  * If browsers decode more than a label says, the JDK's charset here does too: `gb2312` is GB
  * 18030, `shift_jis` has the characters of Windows, `euc-kr` all of Hangul, `big5` those of Hong
  * Kong.
  */
private[feeds] object EncodingLabels:
  /** The encodings by label in lower case. None for encodings that no text of a feed can have:
    * those that browsers refuse, and UTF-16, which is recognized by its bytes.
    */
  lazy val known: Map[String, Option[Encoding]] =
    val usable = encodings.map((encoding, labels) => Some(encoding) -> labels)
    (for
      (encoding, labels) <- (None -> unusable) +: usable
      label <- labels.split("\\s+")
    yield label -> encoding).toMap

  private def unusable =
    """csiso2022kr hz-gb-2312 iso-2022-cn iso-2022-cn-ext iso-2022-kr replacement
      |unicodefffe utf-16be
      |csunicode iso-10646-ucs-2 ucs-2 unicode unicodefeff utf-16 utf-16le""".stripMargin

  private def encodings: List[(Encoding, String)] = List(
    Encoding.utf8 -> "unicode-1-1-utf-8 unicode11utf8 unicode20utf8 utf-8 utf8 x-unicode20utf8",
    same("IBM866") -> "866 cp866 csibm866 ibm866",
    same("ISO-8859-2") ->
      """csisolatin2 iso-8859-2 iso-ir-101 iso8859-2 iso88592 iso_8859-2 iso_8859-2:1987 l2
        |latin2""".stripMargin,
    same("ISO-8859-3") ->
      """csisolatin3 iso-8859-3 iso-ir-109 iso8859-3 iso88593 iso_8859-3 iso_8859-3:1988 l3
        |latin3""".stripMargin,
    same("ISO-8859-4") ->
      """csisolatin4 iso-8859-4 iso-ir-110 iso8859-4 iso88594 iso_8859-4 iso_8859-4:1988 l4
        |latin4""".stripMargin,
    same("ISO-8859-5") ->
      """csisolatincyrillic cyrillic iso-8859-5 iso-ir-144 iso8859-5 iso88595 iso_8859-5
        |iso_8859-5:1988""".stripMargin,
    same("ISO-8859-6") ->
      """arabic asmo-708 csiso88596e csiso88596i csisolatinarabic ecma-114 iso-8859-6 iso-8859-6-e
        |iso-8859-6-i iso-ir-127 iso8859-6 iso88596 iso_8859-6 iso_8859-6:1987""".stripMargin,
    same("ISO-8859-7") ->
      """csisolatingreek ecma-118 elot_928 greek greek8 iso-8859-7 iso-ir-126 iso8859-7 iso88597
        |iso_8859-7 iso_8859-7:1987 sun_eu_greek""".stripMargin,
    same("ISO-8859-8") ->
      """csiso88598e csisolatinhebrew hebrew iso-8859-8 iso-8859-8-e iso-ir-138 iso8859-8 iso88598
        |iso_8859-8 iso_8859-8:1988 visual""".stripMargin,
    one("ISO-8859-8-I", "ISO-8859-8") -> "csiso88598i iso-8859-8-i logical",
    OneByte("ISO-8859-10", controls + latin6) ->
      "csisolatin6 iso-8859-10 iso-ir-157 iso8859-10 iso885910 l6 latin6",
    same("ISO-8859-13") -> "iso-8859-13 iso8859-13 iso885913",
    OneByte("ISO-8859-14", controls + latin8) -> "iso-8859-14 iso8859-14 iso885914",
    same("ISO-8859-15") ->
      "csisolatin9 iso-8859-15 iso8859-15 iso885915 iso_8859-15 l9",
    same("ISO-8859-16") -> "iso-8859-16",
    same("KOI8-R") -> "cskoi8r koi koi8 koi8-r koi8_r",
    one("KOI8-U", "KOI8-U", 0xae -> 'ў', 0xbe -> 'Ў') -> "koi8-ru koi8-u",
    one("macintosh", "x-MacRoman") -> "csmacintosh mac macintosh x-mac-roman",
    one("windows-874", "x-windows-874") ->
      "dos-874 iso-8859-11 iso8859-11 iso885911 tis-620 windows-874",
    same("windows-1250") -> "cp1250 windows-1250 x-cp1250",
    same("windows-1251") -> "cp1251 windows-1251 x-cp1251",
    same("windows-1252") ->
      """ansi_x3.4-1968 ascii cp1252 cp819 csisolatin1 ibm819 iso-8859-1 iso-ir-100 iso8859-1
        |iso88591 iso_8859-1 iso_8859-1:1987 l1 latin1 us-ascii windows-1252
        |x-cp1252""".stripMargin,
    same("windows-1253") -> "cp1253 windows-1253 x-cp1253",
    same("windows-1254") ->
      """cp1254 csisolatin5 iso-8859-9 iso-ir-148 iso8859-9 iso88599 iso_8859-9 iso_8859-9:1989 l5
        |latin5 windows-1254 x-cp1254""".stripMargin,
    one("windows-1255", "windows-1255", 0xca -> '\u05ba') -> "cp1255 windows-1255 x-cp1255",
    same("windows-1256") -> "cp1256 windows-1256 x-cp1256",
    same("windows-1257") -> "cp1257 windows-1257 x-cp1257",
    same("windows-1258") -> "cp1258 windows-1258 x-cp1258",
    one("x-mac-cyrillic", "x-MacUkraine", 0xff -> '€') -> "x-mac-cyrillic x-mac-ukrainian",
    several("GBK", "GB18030", fullWidthSpace) ->
      "chinese csgb2312 csiso58gb231280 gb2312 gb_2312 gb_2312-80 gbk iso-ir-58 x-gbk",
    several("gb18030", "GB18030", fullWidthSpace) -> "gb18030",
    several("Big5", "x-MS950-HKSCS") -> "big5 big5-hkscs cn-big5 csbig5 x-x-big5",
    several("EUC-JP", "x-eucJP-Open", windowsSigns) -> "cseucpkdfmtjapanese euc-jp x-euc-jp",
    several("ISO-2022-JP", "x-windows-iso2022jp") -> "csiso2022jp iso-2022-jp",
    several("Shift_JIS", "windows-31j") ->
      "csshiftjis ms932 ms_kanji shift-jis shift_jis sjis windows-31j x-sjis",
    several("EUC-KR", "x-windows-949") ->
      """cseuckr csksc56011987 euc-kr iso-ir-149 korean ks_c_5601-1987 ks_c_5601-1989 ksc5601
        |ksc_5601 windows-949""".stripMargin,
    OneByte("x-user-defined", String((0xf780 to 0xf7ff).map(_.toChar).toArray)) -> "x-user-defined"
  )

  private def same(name: String) = one(name, name)

  private def one(name: String, charset: String, changes: (Int, Char)*) =
    OneByte.of(name, Charset.forName(charset), changes*)

  private def several(name: String, charset: String, changes: Map[Char, Char] = Map.empty) =
    OfCharset(name, Charset.forName(charset), changes)

  private def controls = String((0x80 to 0xa0).map(_.toChar).toArray)

  /** From 0xa1 on. The soft hyphen is written as an escape, since it cannot be seen. */
  private def latin6 =
    "ĄĒĢĪĨĶ§ĻĐŠŦŽ\u00adŪŊ°ąēģīĩķ·ļđšŧž―ūŋĀÁÂÃÄÅÆĮČÉĘËĖÍÎÏÐ" +
      "ŅŌÓÔÕÖŨØŲÚÛÜÝÞßāáâãäåæįčéęëėíîïðņōóôõöũøųúûüýþĸ"
  private def latin8 =
    "Ḃḃ£ĊċḊ§Ẁ©ẂḋỲ\u00ad®ŸḞḟĠġṀṁ¶ṖẁṗẃṠỳẄẅṡÀÁÂÃÄÅÆÇÈÉÊËÌÍÎÏŴ" +
      "ÑÒÓÔÕÖṪØÙÚÛÜÝŶßàáâãäåæçèéêëìíîïŵñòóôõöṫøùúûüýŷÿ"

  /** The JDK decodes 0xA3A0 as a character for private use. */
  private def fullWidthSpace = Map('\ue5e5' -> '\u3000')

  /** The characters of JIS that Windows has in another way. */
  private def windowsSigns = Map(
    '\u2014' -> '\u2015',
    '\u301c' -> '\uff5e',
    '\u2016' -> '\u2225',
    '\u2212' -> '\uff0d',
    '¢' -> '￠',
    '£' -> '￡',
    '¬' -> '￢'
  )
