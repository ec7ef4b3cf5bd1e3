package weir.zstd

import java.io.IOException
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll
import weir.*

class ZstdSuite extends munit.ScalaCheckSuite, WeirSuite:

  private def cut(bytes: Array[Byte], size: Int): Stream[Array[Byte]] =
    Stream.emits(bytes.grouped(size).toList)

  private def all(stream: Stream[Array[Byte]]): Array[Byte] =
    stream.toList.runSync().flatten.toArray

  private val contents = Gen.listOf(Gen.choose[Byte](0, 3)).map(_.toArray)

  property("what is compressed is unpacked again, cut anywhere, at each level, of several frames") {
    forAll(contents, contents, Gen.choose(1, 9), Gen.choose(1, 12)) {
      (first, second, size, level) =>
        val one = all(cut(first, size).through(Zstd.compress(level)))
        val two = all(Stream(second).through(Zstd.compress()))
        val unpacked = all(cut(one ++ two, size).through(Zstd.decompress))
        assertEquals(unpacked.toList, (first ++ second).toList)
        val library = com.github.luben.zstd.Zstd.decompress(one, first.length + 1)
        assertEquals(library.toList, first.toList)
    }
  }

  test("it takes less room, and much of it in constant memory"):
    val block = Array.tabulate[Byte](65536)(i => (i % 7).toByte)
    val packed = Stream.constant(block).take(500).through(Zstd.compress())
    assert(packed.map(_.length).sum.runSync() < 100_000)
    assertEquals(packed.through(Zstd.decompress).map(_.length).sum.runSync(), 500 * 65536)

  test("what is not compressed, damaged or cut off fails, and says so"):
    val packed = all(cut(Array.tabulate(10_000)(i => (i * i).toByte), 100).through(Zstd.compress()))
    val damaged = packed.clone()
    damaged(packed.length / 2) = (damaged(packed.length / 2) ^ 0x55).toByte
    for (name, bytes) <- List(
        "plain" -> "no zstd at all".getBytes,
        "cut" -> packed.dropRight(5),
        "damaged" -> damaged
      )
    do
      val result = cut(bytes, 64).through(Zstd.decompress).drain.attempt.runSync()
      if name != "damaged" then // without a checksum, damage may be other bytes
        assert(result.left.exists(e => e.isInstanceOf[IOException]), (name, result))
        assert(result.left.exists(_.getMessage.startsWith("Zstd: ")), (name, result))

  test("an error of the bytes comes as it is"):
    val boom = Boom()
    val packed = all(Stream(Array.fill[Byte](1000)(1)).through(Zstd.compress()))
    val bytes = Stream(packed.take(9)) ++ Stream.fail(boom)
    assertEquals(bytes.through(Zstd.decompress).drain.attempt.runSync(), Left(boom))
    assertEquals(bytes.through(Zstd.compress()).drain.attempt.runSync(), Left(boom))

  test("not consumed to the end, and cancelled while it waits: the bytes are closed once"):
    val closed = AtomicInteger()
    val block = Array.fill[Byte](100)(7)
    val packed = all(Stream(block).through(Zstd.compress()))
    val bytes = (Stream(packed) ++ Stream.never).onFinalize(Task(closed.incrementAndGet()).void)
    assertEquals(bytes.through(Zstd.decompress).take(1).map(_.length).sum.runSync(), 100)
    assertEquals(closed.get, 1)
    val reached = CountDownLatch(1)
    val reads = bytes.through(Zstd.decompress).evalTap(_ => Task(reached.countDown()))
    val fiber = reads.drain.start.runSync()
    await(reached)
    fiber.cancel.runSync()
    assertEquals(closed.get, 2)

  test("a level that there is not is refused"):
    for level <- List(0, 23, -1) do intercept[IllegalArgumentException](Zstd.compress(level)): Unit
