package weir
package io

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, EOFException, IOException}
import java.security.{MessageDigest, NoSuchAlgorithmException}
import java.util.zip.*
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll
import scala.util.Random

class BytesSuite extends munit.ScalaCheckSuite, StreamTests:

  /** Some that compress well, some that do not. */
  private val contents = Gen.oneOf(
    Gen.const(Array[Byte]()),
    Gen.alphaNumStr.map(_.getBytes),
    Gen.choose(0, 100_000).map(n => new Array[Byte](n)),
    Gen.choose(0, 100_000).map(n => Random(n).nextBytes(n))
  )
  private val sizes = Gen.oneOf(997, 16_384, 1_000_000)

  private def cut(bytes: Array[Byte], size: Int): Stream[Array[Byte]] =
    Stream.fromIterable(bytes.grouped(size).toList)
  private def all(bytes: Stream[Array[Byte]]): Array[Byte] =
    bytes.toList.runSync().toArray.flatten
  private def same(left: Array[Byte], right: Array[Byte]): Unit =
    assert(java.util.Arrays.equals(left, right), s"${left.length} and ${right.length} bytes")

  private def gzipped(bytes: Array[Byte]): Array[Byte] =
    val out = ByteArrayOutputStream()
    val gzip = GZIPOutputStream(out)
    gzip.write(bytes)
    gzip.close()
    out.toByteArray

  property("the JDK reads what gzip and deflate write") {
    forAll(contents, sizes, Gen.choose(-1, 9)) { (bytes, size, level) =>
      val packed = all(Bytes.gzip(level)(cut(bytes, size)))
      same(GZIPInputStream(ByteArrayInputStream(packed)).readAllBytes(), bytes)
      val zlib = all(Bytes.deflate(level)(cut(bytes, size)))
      same(InflaterInputStream(ByteArrayInputStream(zlib)).readAllBytes(), bytes)
    }
  }

  property("gunzip and inflate read what was written, cut anywhere") {
    forAll(contents, sizes) { (bytes, size) =>
      same(all(Bytes.gunzip(cut(gzipped(bytes), size))), bytes)
      same(all(Bytes.inflate(Bytes.deflate()(cut(bytes, size)))), bytes)
    }
  }

  property("unframed emits the blocks that framed got, cut anywhere") {
    val blocks = Gen.listOf(Gen.choose(0, 300).map(n => Random(n).nextBytes(n)))
    forAll(blocks, Gen.choose(1, 700), Gen.choose(2, 4)) { (blocks, size, lengthBytes) =>
      val bytes = all(Stream.fromIterable(blocks).through(Bytes.framed(300, lengthBytes)))
      val found = cut(bytes, size).through(Bytes.unframed(300, lengthBytes)).toList.runSync()
      assertEquals(found.map(_.toList), blocks.map(_.toList))
      assertEquals(bytes.length, blocks.map(_.length + lengthBytes).sum)
    }
  }

  test("the length of a frame begins with its highest byte"):
    val block = new Array[Byte](0x010203)
    val bytes = all(Stream(block).through(Bytes.framed(limitBytes = 0x010203)))
    assertEquals(bytes.take(4).toList, List[Byte](0, 1, 2, 3))

  test("unframed of truncated input fails after the frames that are whole, at each byte"):
    val whole = all(Stream("one", "", "three").map(_.getBytes).through(Bytes.framed(9, 2)))
    val ends = List(0, 5, 7, 14) // of the frames
    for length <- 0 to whole.length; size <- List(1, 3, 100) do
      val (frames, result) = emitted(cut(whole.take(length), size).through(Bytes.unframed(9, 2)))
      val count = ends.count(end => end > 0 && end <= length)
      assertEquals(frames.map(String(_)), List("one", "", "three").take(count))
      result match
        case Right(()) => assert(ends.contains(length), s"$length")
        case Left(error: EOFException) =>
          assert(!ends.contains(length), s"$length")
          assert(error.getMessage.contains(s"frame ${count + 1}: "), error.getMessage)
        case Left(error) => throw error

  test("a frame above the limit fails before it is read, and before it is written"):
    val bytes = Array[Byte](0, 1, 7, 0xff.toByte, 0xff.toByte, 0xff.toByte, 0xff.toByte)
    val tooLong = Stream(bytes.take(3), bytes.drop(3)).through(Bytes.unframed(6, 1))
    val (frames, result) = emitted(tooLong)
    assertEquals(frames.map(_.toList), List(Nil, List[Byte](7)))
    assertEquals(
      result.left.map(_.getMessage),
      Left("Bytes.unframed: frame 3 has 255 bytes, which is more than 6, the limit.")
    )
    val error = intercept[IOException](
      Stream(bytes.drop(3)).through(Bytes.unframed(100)).drain.runSync()
    )
    assert(error.getMessage.contains(s"has ${0xffffffffL} bytes"), error.getMessage)
    val written = emitted(Stream("a", "bb").map(_.getBytes).through(Bytes.framed(1)))
    assertEquals(written._1.map(_.toList), List(List[Byte](0, 0, 0, 1, 97)))
    assert(written._2.left.exists(_.getMessage.startsWith("Bytes.framed: block 2 has 2 bytes")))

  test("limits that a length cannot hold are refused"):
    for make <- List(Bytes.framed, Bytes.unframed) do
      for (limit, lengthBytes) <- List((0, 4), (256, 1), (65_536, 2), (1, 0), (1, 5)) do
        intercept[IllegalArgumentException](make(limit, lengthBytes)): Unit
      make(255, 1): Unit

  test("a frame has to fit into an array with its length"):
    for make <- List(Bytes.framed, Bytes.unframed) do
      make(2_147_483_635, 4): Unit
      val error = intercept[IllegalArgumentException](make(2_147_483_636, 4))
      assert(clue(error.getMessage).contains("It must be 1 to 2147483635"))

  /** The elements of a stream up to its end, and that end. */
  private def emitted[A](stream: Stream[A]): (List[A], Either[Throwable, Unit]) =
    val seen = List.newBuilder[A]
    val end = stream.map(a => seen += a).drain.attempt.runSync()
    (seen.result(), end)

  test("gunzip of several members, some empty, cut at each byte, with zeros after them"):
    val members = List("one", "", "three").map(s => gzipped(s.getBytes)).toArray.flatten
    for zeros <- List(0, 1, 600); size <- List(1, 2, 5, 1000) do
      val unpacked = all(Bytes.gunzip(cut(members ++ new Array[Byte](zeros), size)))
      assertEquals(String(unpacked), "onethree")

  test("gunzip of a header with all optional fields, cut at each byte"):
    val plain = gzipped("text".getBytes)
    val header = Array[Byte](0x1f, 0x8b.toByte, 8, 31, 0, 0, 0, 0, 0, 3) ++ // flags: all of them
      Array[Byte](3, 0, 1, 2, 3) ++ "name\u0000".getBytes ++ "comment\u0000".getBytes ++
      Array[Byte](1, 2)
    for size <- List(1, 3, 1000) do
      assertEquals(String(all(Bytes.gunzip(cut(header ++ plain.drop(10), size)))), "text")

  private def failure(stream: Stream[Array[Byte]]): Throwable =
    stream.drain.attempt.runSync().left.getOrElse(fail("it has not failed"))

  test("bytes that are cut fail, wherever that is"):
    val packed = gzipped("text".getBytes)
    val zlib = all(Bytes.deflate()(Stream("text".getBytes)))
    for size <- List(1, 1000) do
      for n <- 0 until packed.length do
        assert(failure(Bytes.gunzip(cut(packed.take(n), size))).isInstanceOf[EOFException])
      for n <- 1 until packed.length do
        assert(
          failure(Bytes.gunzip(cut(packed ++ packed.take(n), size))).isInstanceOf[EOFException]
        )
      for n <- 0 until zlib.length do
        assert(failure(Bytes.inflate(cut(zlib.take(n), size))).isInstanceOf[EOFException])

  test("bytes that are damaged fail, after what was right; so does what follows"):
    val packed = gzipped("text".getBytes)
    def changed(index: Int) = packed.updated(index, (packed(index) ^ 1).toByte)
    for
      (bytes, message) <- List(
        changed(0) -> "does not begin with a header of gzip",
        changed(packed.length - 8) -> "checksum",
        changed(packed.length - 1) -> "length",
        (packed ++ "x".getBytes) -> "after member 1",
        (packed ++ Array[Byte](0, 1)) -> "more bytes after the end"
      )
      size <- List(1, 1000)
    do
      val error = failure(Bytes.gunzip(cut(bytes, size)))
      assert(error.isInstanceOf[IOException] && error.getMessage.contains(message), s"$error")
    val zlib = all(Bytes.deflate()(Stream("text".getBytes)))
    for size <- List(1, 1000) do
      assert(failure(Bytes.inflate(cut(zlib :+ 1, size))).getMessage.contains("more bytes after"))
      val bad = failure(Bytes.inflate(cut("no zlib at all".getBytes, size)))
      assert(bad.getMessage.contains("damaged"), s"$bad")

  test("take and an error upstream close upstream once"):
    val log = Log()
    val boom = Boom()
    val source = log.resource("bytes")(Stream(gzipped("text".getBytes)) ++ Stream.fail(boom))
    assertEquals(Bytes.gunzip(source).take(1).toList.runSync().map(String(_)), List("text"))
    assertEquals(seen(Bytes.gunzip(source)).runSync().last, boom)
    assertEquals(log.lines.size, 4)
    log.assertNested()

  property("a digest is the JDK's, anew in each run, and the blocks pass") {
    forAll(contents, sizes) { (bytes, size) =>
      val expected = MessageDigest.getInstance("SHA-256").digest(bytes).toList
      assertEquals(Bytes.digest(cut(bytes, size), "SHA-256").runSync().toList, expected)
      var sums = List.empty[List[Byte]]
      val through = Bytes.withDigest("SHA-256")(sum => Task { sums = sum.toList :: sums })
      for _ <- 1 to 2 do same(all(through(cut(bytes, size))), bytes)
      assertEquals(sums, List(expected, expected))
    }
  }

  test("no digest of a stream that is not consumed or fails; an error of its use is the stream's"):
    val boom = Boom()
    val unused = Bytes.withDigest("MD5")(_ => Task(fail("a digest")))
    assertEquals(unused(cut(new Array(10), 1)).take(3).count.runSync(), 3L)
    assertEquals(failure(unused(Stream.fail(boom))), boom)
    assertEquals(failure(Bytes.withDigest("MD5")(_ => Task.fail(boom))(Stream.empty)), boom)
    intercept[NoSuchAlgorithmException](Bytes.digest(Stream.empty, "nothing").runSync()): Unit

  test("a level out of range is refused"):
    intercept[IllegalArgumentException](Bytes.gzip(10)): Unit
    intercept[IllegalArgumentException](Bytes.deflate(-2)): Unit
