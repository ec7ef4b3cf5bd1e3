package weir.feeds.encoding

import java.nio.charset.Charset
import java.nio.charset.StandardCharsets.{UTF_16BE, UTF_16LE, UTF_8}

import munit.FunSuite

/** Checks the encoding in which a feed is read, by documents made of a text, the encoding of its
  * bytes, and their labels.
  */
class DecodedTextSuite extends FunSuite:
  private def document(title: String, declared: Option[String]) =
    val encoding = declared.fold("")(label => s""" encoding="$label"""")
    s"""<?xml version="1.0"$encoding?><rss><channel><title>$title</title></channel></rss>"""

  /** The title that is read, and whether something was put up with. */
  private def read(
      title: String,
      charset: Charset,
      served: Option[String] = None,
      declared: Option[String] = None
  ): (String, Boolean) = decoded(document(title, declared).getBytes(charset), served)

  private def decoded(bytes: Array[Byte], served: Option[String]): (String, Boolean) =
    DecodedText.of(bytes, served) match
      case Right(found) =>
        val title = found.text.split("</?title>").lift(1).getOrElse(found.text)
        (title, found.wasWronglyNamed)
      case Left(problem) => fail(problem)

  /** The labels of old encodings as feeds have them, the encoding that their bytes are in, and a
    * text with characters that the label alone does not promise.
    */
  private val labelled = List(
    ("gb2312", "GBK", "朱镕基的囍事"),
    ("GB_2312-80", "GBK", "喆堃珺"),
    ("x-gbk", "GBK", "中文網頁"),
    ("gbk", "GB18030", "㐀中文 €"),
    ("gb18030", "GB18030", "𠮷野家"),
    ("big5", "x-MS950-HKSCS", "我喺香港㗎"),
    ("Big5-HKSCS", "x-MS950-HKSCS", "嚟啦‧咗"),
    ("shift_jis", "windows-31j", "①髙島屋㈱～"),
    ("x-sjis", "windows-31j", "ⅣｶﾅとかなNo纊"),
    ("Windows-31J", "windows-31j", "日本語㍻"),
    ("euc-jp", "x-eucJP-Open", "①日本語㈱"),
    ("iso-2022-jp", "x-windows-iso2022jp", "日本語①"),
    ("euc-kr", "x-windows-949", "똠방각하 펲시콜라"),
    ("ks_c_5601-1987", "x-windows-949", "한국어 뷁"),
    ("tis-620", "x-windows-874", "ภาษาไทย “…” €"),
    ("iso-8859-1", "windows-1252", "“Café” – 5 €"),
    ("us-ascii", "windows-1252", "naïve’s"),
    ("iso-8859-9", "windows-1254", "“Işık” ğ €"),
    ("macintosh", "x-MacRoman", "“naïve” ﬁn €"),
    ("x-cp1251", "windows-1251", "Привет, мир"),
    ("koi8-r", "KOI8-R", "Привет, мир"),
    ("koi8-u", "KOI8-U", "Україна, ґанок"),
    ("cp866", "IBM866", "Привет, мир"),
    ("iso-8859-8-i", "ISO-8859-8", "שלום עולם")
  )

  for (label, charset, title) <- labelled do
    val of = Charset.forName(charset)
    assert(of.newEncoder.canEncode(title), s"$title in $charset")

    test(s"$label, declared or served, is $charset"):
      assertEquals(read(title, of, declared = Some(label)), (title, false))
      assertEquals(read(title, of, served = Some(label)), (title, false))
      assertEquals(read(title, of, Some(label), Some(label.toUpperCase)), (title, false))

    test(s"$label of the server is believed, whatever the document declares"):
      for declared <- List("UTF-8", "iso-8859-2", "x-klingon", "utf-16") do
        assertEquals(read(title, of, Some(label), Some(declared)), (title, false), declared)

  test("a byte order mark is believed before any label"):
    for charset <- List(UTF_8, UTF_16LE, UTF_16BE); label <- List("gb2312", "windows-1251", "utf-8")
    do
      val bytes = ("\uFEFF" + document("žluťoučký", Some(label))).getBytes(charset)
      assertEquals(decoded(bytes, Some(label)), ("žluťoučký", false), s"$charset $label")

  test(
    "UTF-8 is UTF-8 under every label of one byte, and under those of more beyond a few letters"
  ):
    for label <- List("iso-8859-1", "windows-1251", "koi8-r", "tis-620", "cp850", "x-klingon", "")
    do
      val said = Some(label).filter(_.nonEmpty)
      assertEquals(read("é", UTF_8, said), ("é", said.nonEmpty), label)
      assertEquals(read("é", UTF_8, None, said), ("é", said.nonEmpty), label)
    for label <- List("gb2312", "big5", "shift_jis", "euc-jp", "euc-kr") do
      assertEquals(read("中文", UTF_8, Some(label)), ("中文", true), label)
      assertEquals(read("日本語", UTF_8, None, Some(label)), ("日本語", true), label)
      assertEquals(read("é", UTF_8, Some(label), Some("utf-8")), ("é", true), label)
    assertEquals(read("茅", Charset.forName("GBK"), Some("gb2312")), ("茅", false))

  test(
    "a letter that was cut in two makes a text of several bytes neither windows-1252 nor another"
  ):
    for
      (label, charset, title) <- List(
        ("gb2312", "GBK", "中文网页的标题有很多字"),
        ("big5", "Big5", "標題有很多字的中文網頁"),
        ("shift_jis", "windows-31j", "日本語のページの題名です"),
        ("euc-kr", "x-windows-949", "한국어 페이지의 제목입니다"),
        ("euc-jp", "EUC-JP", "日本語のページの題名です")
      )
      places <- List((Some(label), None), (None, Some(label)), (Some("utf-8"), Some(label)))
    do
      val whole = document(title, places._2).getBytes(Charset.forName(charset))
      val start = whole.indexWhere(_ < 0)
      val end = whole.lastIndexWhere(_ < 0)
      val (text, wasWrong) = decoded(whole.patch(end, Nil, 1), places._1)
      assertEquals(text.take(title.length - 2), title.take(title.length - 2), s"$label $places")
      assert(wasWrong, label)
      val few = decoded(whole.take(start + 1) ++ "</title>".getBytes(UTF_8), Some(label))
      assert(few._1.forall(char => char < 128 || char == '\uFFFD'), s"$label ${few._1}")

  test("windows-1252, which servers say of everything, gives way to what the document declares"):
    val title = "中文网页"
    assertEquals(read(title, Charset.forName("GBK"), Some("iso-8859-1"), Some("gb2312"))._1, title)
    val french = "L’été, à la côte, ça coûte"
    val of = Charset.forName("windows-1252")
    assertEquals(read(french, of, Some("iso-8859-1"), Some("gb2312")), (french, false))

  test("what no label says, or all say wrongly, is guessed by its letters"):
    val russian = "Съешь же ещё этих мягких французских булок, да выпей чаю"
    for
      charset <- List("windows-1251", "KOI8-R");
      said <- List(None, Some("utf-8"), Some("x-klingon"))
    do assertEquals(read(russian, Charset.forName(charset), said)._1, russian, s"$charset $said")
    val japanese = "日本語のページの題名です。これは日本語の文章です。"
    for charset <- List("windows-31j", "EUC-JP", "ISO-2022-JP") do
      assertEquals(read(japanese, Charset.forName(charset))._1, japanese, charset)

  test(
    "windows-1252 is what is left for a label that is known and wrong, and is refused otherwise"
  ):
    val of = Charset.forName("windows-1252")
    assertEquals(read("é", of, Some("utf-8")), ("é", true))
    assertEquals(read("é", of), ("é", false))
    assert(DecodedText.of(document("é", Some("x-klingon")).getBytes(of), None).isLeft)
