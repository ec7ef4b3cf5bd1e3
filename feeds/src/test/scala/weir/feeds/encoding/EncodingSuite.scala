package weir.feeds.encoding

import java.nio.charset.StandardCharsets.UTF_8
import java.util.Locale

import munit.FunSuite

/** The table of labels, against that of the standard in `labels.tsv`. */
class EncodingSuite extends FunSuite:
  private val standard: Vector[(String, String)] =
    val in = getClass.getResourceAsStream("/weir/feeds/encodings/labels.tsv")
    try
      String(in.readAllBytes(), UTF_8).linesIterator
        .map(_.split('\t'))
        .map(l => (l(0), l(1)))
        .toVector
    finally in.close()

  /** The encodings that no feed that is read by its labels can have. */
  private val unusable = Set("replacement", "utf-16le", "utf-16be")

  test("the standard has 228 labels, and each is here with its encoding, and no other"):
    assertEquals(standard.size, 228)
    for (label, name) <- standard do
      val expected = Option.when(!unusable(name))(name)
      assertEquals(Encoding.of(label).map(_.name.toLowerCase(Locale.ROOT)), expected, label)
      assertEquals(
        Encoding.of(s" ${label.toUpperCase} ").map(_.name),
        Encoding.of(label).map(_.name)
      )
    assertEquals(EncodingLabels.known.keySet, standard.map(_._1).toSet)

  test("every encoding decodes ASCII as itself"):
    val ascii = "<?xml version='1.0'?> a~"
    for (label, name) <- standard if !unusable(name) do
      assertEquals(Encoding.of(label).get.strictly(ascii.getBytes(UTF_8)), Some(ascii), label)

  /** Bytes in hexadecimal, and what browsers read there and other programs do not. */
  private val browsers = List(
    ("iso-8859-1", "93 80 94 81", "“€”\u0081"),
    ("ascii", "e9", "é"),
    ("iso-8859-9", "f0 80", "ğ€"),
    ("iso-8859-10", "a1 bd ff", "Ą―ĸ"),
    ("iso-8859-14", "a1 d0 ff", "ḂŴÿ"),
    ("iso-8859-8-i", "e0 fa", "את"),
    ("tis-620", "a1 93 80", "ก“€"),
    ("koi8-u", "a4 ae be", "єўЎ"),
    ("windows-1255", "ca", "\u05ba"),
    ("x-mac-cyrillic", "a2 ff", "Ґ€"),
    ("macintosh", "db de", "€ﬁ"),
    ("gb2312", "e9 46 a2 e3 81 39 ee 39 a3 a0", "镕€㐀\u3000"),
    ("big5", "9d f6 a1 45 a1 c3", "喺‧￣"),
    ("euc-jp", "ad a1 a1 c1 8f b0 a1 8e b1", "①～丂ｱ"),
    ("iso-2022-jp", "1b 24 42 2d 21 21 41 1b 28 42 61", "①～a"),
    ("shift_jis", "87 40 81 60 fb fc b1", "①～髙ｱ"),
    ("euc-kr", "8c 63 b0 a1", "똠가"),
    ("x-user-defined", "80 ff", "\uf780\uf7ff")
  )

  for (label, hex, text) <- browsers do
    test(s"$label is read as browsers do"):
      val bytes = hex.split(' ').map(Integer.parseInt(_, 16).toByte)
      assertEquals(Encoding.of(label).get.strictly(bytes), Some(text))

  test("a byte that means nothing is U+FFFD, and the characters around it stay"):
    for (label, hex) <- List("gbk" -> "61 ff 3c", "windows-874" -> "61 fc 3c", "big5" -> "61 80 3c")
    do
      val encoding = Encoding.of(label).get
      val bytes = hex.split(' ').map(Integer.parseInt(_, 16).toByte)
      assertEquals(encoding.strictly(bytes), None)
      assertEquals(encoding.decode(bytes), "a\uFFFD<", label)

  test("a name of the JDK's that the standard lacks is known, if its text begins as ASCII does"):
    assertEquals(Encoding.of("cp850").map(_.isOneByte), Some(true))
    assertEquals(Encoding.of("cp850").flatMap(_.strictly(Array(0x82.toByte))), Some("é"))
    assertEquals(Encoding.of("x-EUC-TW").map(_.isOneByte), Some(false))
    for name <- List("IBM037", "UTF-16LE", "UTF-32", "x-klingon", "") do
      assertEquals(Encoding.of(name).map(_.name), None, name)
