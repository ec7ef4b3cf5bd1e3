package weir.feeds.fetch

import java.io.{ByteArrayInputStream, IOException, InputStream}
import java.nio.file.{Files, Path}

import munit.FunSuite

class ContentSuite extends FunSuite:
  private def bytes(count: Int) = Array.tabulate(count)(_.toByte)

  private def read(all: Array[Byte]) = Content.read(ByteArrayInputStream(all))(_ => ())

  /** The files of bodies that have a name. */
  private def files: Long =
    val folder = Files.list(Path.of(System.getProperty("java.io.tmpdir")))
    try folder.filter(_.getFileName.toString.startsWith("weir-feed")).count()
    finally folder.close()

  test("a body is the same in memory and in a file, of which nothing can be seen"):
    val before = files
    for count <- List(0, 1, Content.memoryBytes, Content.memoryBytes + 1, 3_000_000) do
      val content = read(bytes(count))
      assertEquals(content.size, count.toLong)
      assertEquals(files, before)
      for _ <- 1 to 2 do assert(content.bytes.sameElements(bytes(count)), s"$count bytes differ")
      content.close()

  test("a large body takes no memory until it is read"):
    val content = read(bytes(3_000_000))
    try intercept[java.nio.channels.ClosedChannelException] { content.close(); content.bytes }: Unit
    finally content.close()

  test("a body that is too large, or ends with an error, leaves nothing behind"):
    val before = files
    val tooLarge = intercept[IOException]:
      Content.read(ByteArrayInputStream(bytes(3_000_000))): size =>
        if size > 2_000_000 then Failure.abandon(Reason.TooLarge, "too large")
    assertEquals(Failure.of(tooLarge).reason, Reason.TooLarge)
    val broken = new InputStream:
      private val in = ByteArrayInputStream(bytes(2_000_000))
      def read(): Int = in.read()
      override def read(into: Array[Byte], offset: Int, length: Int): Int =
        val count = in.read(into, offset, length)
        if count < 0 then throw IOException("reset") else count
    assertEquals(intercept[IOException](Content.read(broken)(_ => ())).getMessage, "reset")
    assertEquals(files, before)
