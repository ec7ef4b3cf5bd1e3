package weir
package stream

import java.io.{ByteArrayInputStream, FileInputStream, FileOutputStream, IOException, InputStream}
import java.nio.file.{Files, NoSuchFileException, Path}
import java.util.concurrent.CountDownLatch
import java.util.concurrent.atomic.AtomicInteger
import scala.util.Random

class BlockSourceSuite extends StreamTests:

  private def withFile[A](bytes: Array[Byte])(body: Path => A): A =
    val file = Files.createTempFile("weir", ".bytes")
    try
      Files.write(file, bytes): Unit
      body(file)
    finally Files.delete(file)

  private def bytesOf(size: Int): Array[Byte] =
    val bytes = new Array[Byte](size)
    Random(size).nextBytes(bytes)
    bytes

  /** An input that returns at most `most` bytes for each read, and counts how often it is opened
    * and closed.
    */
  private final class Counted(bytes: Array[Byte], most: Int):
    val opened, closed = AtomicInteger()
    def open(): InputStream =
      opened.incrementAndGet(): Unit
      new ByteArrayInputStream(bytes):
        override def read(block: Array[Byte], from: Int, length: Int): Int =
          super.read(block, from, math.min(length, most))
        override def close(): Unit = closed.incrementAndGet(): Unit

  for size <- List(0, 1, 9, 10, 11, 20, 100_000); block <- List(1, 10, 65536) if size <= 100 * block
  do
    test(s"$size bytes in blocks of $block: all of them, no block empty, or larger, or used twice"):
      val bytes = bytesOf(size)
      def check(stream: Stream[Array[Byte]]): Unit =
        val blocks = stream.toList.runSync()
        assertEquals(blocks.flatten.toArray.toSeq, bytes.toSeq)
        assert(blocks.forall(b => b.nonEmpty && b.length <= block), blocks.map(_.length).toString)
        for i <- blocks.indices; k <- blocks.indices if i < k do assert(blocks(i) ne blocks(k))
      withFile(bytes) { file =>
        check(Stream.fromPath(file, block))
        check(Stream.fromInputStream(FileInputStream(file.toFile), block))
      }
      for most <- List(1, 7, 65536) if size <= 100 * most do
        check(Stream.fromInputStream(Counted(bytes, most).open(), block))

  test(
    "an input is opened when the stream runs, each time, and closed once however the stream ends"
  ):
    val boom = Boom()
    val input = Counted(bytesOf(100), 10)
    val stream = Stream.fromInputStream(input.open(), 10)
    assertEquals(input.opened.get, 0)
    val ends = List[Task[Any]](
      stream.drain,
      stream.take(1).drain,
      stream.takeWhile(_ => false).drain,
      stream.prefetchN(2).takeWhile(_ => false).drain,
      stream.evalMap(_ => Task.fail(boom)).drain.attempt,
      stream.evalMap(_ => Task.canceled).drain.start.flatMap(_.join),
      stream.zip(Stream.emit(1)).drain
    )
    for (end, i) <- ends.zipWithIndex do
      end.runSync(): Unit
      assertEquals((input.opened.get, input.closed.get), (i + 1, i + 1))
    stream.take(0).drain.runSync()
    assertEquals(input.opened.get, ends.size)

  test("what cannot be opened fails with what opening it has thrown"):
    intercept[NoSuchFileException](Stream.fromPath(Path.of("no-such-file")).drain.runSync()): Unit
    val boom = Boom()
    assertEquals(Stream.fromInputStream(throw boom).drain.attempt.runSync(), Left(boom))

  test("an error of a read comes after the blocks before it, and closes the input"):
    val closed = AtomicInteger()
    val error = IOException("the disk is gone")
    def broken = new InputStream:
      private var reads = 0
      def read(): Int = -1
      override def read(block: Array[Byte], from: Int, length: Int): Int =
        reads += 1
        if reads == 3 then throw error else 1
      override def close(): Unit = closed.incrementAndGet(): Unit
    val stream = Stream.fromInputStream(broken)
    assertEquals(seen(stream.map(_.length)).runSync(), List(1, 1, error))
    assertEquals(seen(stream.map(_.length).prefetchN(8)).runSync(), List(1, 1, error))
    assertEquals(closed.get, 2)

  test("an input that is being opened while the stream is canceled is closed"):
    val opening, goOn = CountDownLatch(1)
    val input = Counted(bytesOf(100), 10)
    val stream = Stream.fromInputStream {
      opening.countDown()
      goOn.await()
      input.open()
    }
    val fiber = stream.drain.start.runSync()
    await(opening)
    val canceling = startCancel(fiber)
    goOn.countDown()
    canceling.joinOrFail.runSync()
    assertEquals(fiber.join.runSync(), Outcome.Canceled)
    assertEquals((input.opened.get, input.closed.get), (1, 1))

  test("a cancel ends a read that knows no interrupts by closing the input, once"):
    val reading, over = CountDownLatch(1)
    val closed = AtomicInteger()
    val deaf = new InputStream:
      def read(): Int =
        reading.countDown()
        var waiting = true
        while waiting do
          try
            over.await()
            waiting = false
          catch case _: InterruptedException => ()
        -1
      override def close(): Unit =
        closed.incrementAndGet(): Unit
        over.countDown()
    val fiber = Stream.fromInputStream(deaf).drain.start.runSync()
    await(reading)
    fiber.cancel.runSync()
    assertEquals(fiber.join.runSync(), Outcome.Canceled)
    assertEquals(closed.get, 1)

  /** True if a thread of the operating system is in a read of a file. */
  private def isReading: Boolean =
    Thread.getAllStackTraces.values.toArray.exists {
      case frames: Array[StackTraceElement] => frames.exists(_.getMethodName == "read0")
      case _ => false
    }

  test("a cancel ends a read of a pipe, of a file's stream too, and a prefetch of one"):
    val folder = Files.createTempDirectory("weir")
    val pipe = folder.resolve("pipe")
    assertEquals(ProcessBuilder("mkfifo", pipe.toString).start().waitFor(), 0)
    try
      for open <- List[() => Stream[Array[Byte]]](
          () => Stream.fromPath(pipe),
          () => Stream.fromInputStream(FileInputStream(pipe.toFile)),
          () => Stream.fromPath(pipe).prefetchBytes(1000)(_.length)
        )
      do
        val read = CountDownLatch(1)
        val fiber = open().evalTap(_ => Task(read.countDown())).drain.start.runSync()
        val writer = java.io.FileOutputStream(pipe.toFile) // returns when the reader has opened it
        try
          writer.write(1)
          await(read)
          eventually("a thread that can be signalled waits for the pipe")(isReading)
          fiber.cancel.runSync()
          assertEquals(fiber.join.runSync(), Outcome.Canceled)
        finally writer.close()
    finally
      Files.delete(pipe)
      Files.delete(folder)

  test("a block of no bytes is refused with its size and the rule"):
    for stream <- List(
        () => Stream.fromPath(Path.of("x"), 0),
        () => Stream.fromInputStream(InputStream.nullInputStream(), 0)
      )
    do
      val error = intercept[IllegalArgumentException](stream())
      assert(error.getMessage.contains("was 0. It must be at least 1."), error.getMessage)

  /** A named pipe. */
  private def withPipe[A](body: Path => A): A =
    val folder = Files.createTempDirectory("weir-pipe")
    val pipe = folder.resolve("pipe")
    try
      val isMade =
        try ProcessBuilder("mkfifo", pipe.toString).start().waitFor() == 0
        catch case _: IOException => false
      assume(isMade, "there is no mkfifo")
      body(pipe)
    finally
      Files.deleteIfExists(pipe): Unit
      Files.delete(folder)

  test("a cancel ends the opening of a named pipe that nobody writes to, or reads"):
    val isBoth = List[(Path => Task[Any], Path => java.io.Closeable)](
      (pipe => Stream.fromPath(pipe).drain, pipe => FileOutputStream(pipe.toFile)),
      (pipe => Stream.emit(bytesOf(1)).writeTo(pipe), pipe => FileInputStream(pipe.toFile))
    )
    for (task, other) <- isBoth do
      withPipe { pipe =>
        val fiber = task(pipe).start.runSync()
        eventually("it waits")(isWaiting(fiber))
        fiber.cancel.runSync()
        assertEquals(WeirRuntime.default.abandonedTasks, 1)
        other(pipe).close() // which ends the call that was abandoned
        eventually("it is closed")(WeirRuntime.default.abandonedTasks == 0)
      }

  test("a named pipe gives what was written to it, to its end"):
    withPipe { pipe =>
      val bytes = bytesOf(100_000)
      val both = Stream.emit(bytes).writeTo(pipe).both(Stream.fromPath(pipe, 1000).toList)
      val (written, read) = both.runSync()
      assertEquals((written, read.flatten.toArray.toSeq), (100_000L, bytes.toSeq))
    }
