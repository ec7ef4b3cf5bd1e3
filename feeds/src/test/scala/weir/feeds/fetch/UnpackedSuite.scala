package weir.feeds.fetch

import java.io.ByteArrayOutputStream
import java.util.zip.{Deflater, DeflaterOutputStream, GZIPOutputStream}

import com.aayushatharva.brotli4j.Brotli4jLoader
import com.aayushatharva.brotli4j.encoder.Encoder
import com.github.luben.zstd.Zstd
import munit.FunSuite

import RawServer.response

class UnpackedSuite extends FunSuite with FetchFixture:
  private val feed = "<rss>" + "<item/>" * 1000 + "</rss>"
  private val plain = feed.getBytes

  private def gzip(bytes: Array[Byte]) =
    val out = ByteArrayOutputStream()
    val packed = GZIPOutputStream(out)
    packed.write(bytes)
    packed.close()
    out.toByteArray

  private def deflate(bytes: Array[Byte], isBare: Boolean) =
    val out = ByteArrayOutputStream()
    val packed = DeflaterOutputStream(out, Deflater(6, isBare))
    packed.write(bytes)
    packed.close()
    out.toByteArray

  private def answer(body: Array[Byte], encoding: String*): Answer =
    fetch("http://a.example/", limitBytes = 10_000)(_ =>
      response(200, encoding.map("Content-Encoding: " + _)*)(body)
    )._1

  test("a plain body is read as it is, whatever is named"):
    for name <- List("identity", "UTF-8", "none", "binary", "", "gzip", "deflate", "br", "x, y") do
      assert(utf8(document(answer(plain, name))) == feed, name)
    val marked = "\uFEFF" + feed + "é"
    assert(utf8(document(answer(marked.getBytes, "deflate"))) == marked)
    assertEquals(document(answer(Array.emptyByteArray, "gzip")).content.bytes.length, 0)

  test("gzip is unpacked, whatever is named"):
    for names <- List(
        Nil,
        List("gzip"),
        List("x-gzip"),
        List("none"),
        List("UTF-8"),
        List("gzip, br")
      )
    do assert(utf8(document(answer(gzip(plain), names*))) == feed, names)

  test("deflate is unpacked with and without the frame of zlib"):
    assert(utf8(document(answer(deflate(plain, isBare = false), "deflate"))) == feed)
    assert(utf8(document(answer(deflate(plain, isBare = true), "deflate"))) == feed)

  test("what was not asked for and is no text is a failure that names it"):
    for name <- List("compress", "exi", "gzip, DCZ") do
      val refused = failure(answer(Array[Byte](0x1f, -99, 0x2f, -3, 4, 0, 1), name))
      assertEquals(refused.reason, Reason.OtherAnswer)
      assert(refused.detail.toLowerCase.contains(name.takeRight(2).toLowerCase), refused.detail)

  private def zstd(bytes: Array[Byte]) = Zstd.compress(bytes)

  private def brotli(bytes: Array[Byte]) =
    Brotli4jLoader.ensureAvailability()
    Encoder.compress(bytes)

  test("Brotli is unpacked where it is named, and zstd always"):
    assert(utf8(document(answer(brotli(plain), "br"))) == feed)
    for names <- List(List("zstd"), Nil, List("gzip, zstd")) do
      assert(utf8(document(answer(zstd(plain), names*))) == feed, names)

  test("the encodings that can be unpacked are asked for"):
    val (_, asked) = fetch("http://a.example/")(_ => response(200)(plain))
    assertEquals(asked.head.headers("accept-encoding"), "gzip, br, zstd")

  test("the limit counts unpacked bytes in every encoding"):
    val large = ("<x/>" * 5000).getBytes
    for (body, name) <- List(
        large -> "none",
        gzip(large) -> "none",
        gzip(large) -> "gzip",
        deflate(large, isBare = false) -> "deflate",
        deflate(large, isBare = true) -> "deflate",
        zstd(large) -> "zstd",
        brotli(large) -> "br"
      )
    do assertEquals(failure(answer(body, name)).reason, Reason.TooLarge, name)

  test("a packed body that ends in the middle is a failure"):
    for (body, name) <- List(
        gzip(plain) -> "gzip",
        gzip(plain) -> "none",
        deflate(plain, isBare = false) -> "deflate",
        deflate(plain, isBare = true) -> "deflate",
        zstd(plain) -> "zstd",
        brotli(plain) -> "br"
      )
    do assertEquals(failure(answer(body.dropRight(12), name)).reason, Reason.BrokenPacking, name)

  test("a connection that ends without an answer was reset, which is no fault of a packed body"):
    val (answer, _) = fetch("http://a.example/")({ case _ => Array.emptyByteArray })
    assertEquals(failure(answer).reason, Reason.Reset)
