package weir
package stream

import java.io.{ByteArrayOutputStream, IOException, OutputStream}
import java.nio.file.{Files, NoSuchFileException, Path}
import java.util.concurrent.CancellationException
import java.util.concurrent.atomic.AtomicInteger
import org.scalacheck.Gen
import org.scalacheck.Prop.forAll
import scala.concurrent.duration.*

class SinksSuite extends munit.ScalaCheckSuite, StreamTests:

  override def scalaCheckTestParameters =
    super.scalaCheckTestParameters.withMinSuccessfulTests(Tier(25, 500))

  private def inFolder(body: Path => Unit): Unit =
    val folder = Files.createTempDirectory("weir")
    try body(folder)
    finally
      Files.list(folder).forEach(Files.delete(_))
      Files.delete(folder)

  private def blocks(texts: String*): Stream[Array[Byte]] = Stream.emits(texts.map(_.getBytes))

  test("writeTo makes the file, empties it, or writes at its end, and counts"):
    inFolder { folder =>
      val file = folder.resolve("a")
      assertEquals(blocks("one", "", "two").writeTo(file).runSync(), 6L)
      assertEquals(Files.readString(file), "onetwo")
      assertEquals(blocks("3").writeTo(file, append = true).runSync(), 1L)
      assertEquals(Files.readString(file), "onetwo3")
      assertEquals(blocks().writeTo(file).runSync(), 0L)
      assertEquals(Files.readString(file), "")
      val lost = folder.resolve("none").resolve("a")
      intercept[NoSuchFileException](blocks("a").writeTo(lost).runSync()): Unit
    }

  test("writeTo leaves the blocks before an error, and before a cancel"):
    inFolder { folder =>
      val file = folder.resolve("a")
      val boom = Boom()
      val failing = blocks("one") ++ Stream.fail(boom)
      assertEquals(failing.writeTo(file).attempt.runSync(), Left(boom))
      assertEquals(Files.readString(file), "one")
      val begun = Deferred.unsafe[Unit]
      val waits = (blocks("two") ++ Stream.eval(begun.complete(()) >> Task.never)).writeTo(file)
      val outcome = waits.start.flatMap(fiber => begun.get >> fiber.cancel >> fiber.join)
      assertEquals(outcome.runSync(), Outcome.Canceled)
      assertEquals(Files.readString(file), "two")
    }

  property("writeRotating puts each block whole into one of the files, none over the limit") {
    forAll(Gen.listOf(Gen.choose(0, 12).map("x" * _)), Gen.choose(1, 10)) { (texts, limit) =>
      inFolder { folder =>
        val name = (n: Int) => folder.resolve(s"$n")
        val count = blocks(texts*).writeRotating(limit)(name).runSync()
        val files = List.range(0, count).map(n => Files.readString(name(n)))
        assertEquals(files.mkString, texts.mkString)
        assertEquals(Files.list(folder).count, count.toLong)
        for file <- files do assert(file.length <= math.max(limit, 12))
        for pair <- files.sliding(2) if pair.size == 2 do
          assert(pair.head.nonEmpty && pair.map(_.length).sum > limit, s"$files")
      }
    }
  }

  /** Counts how often it is flushed and closed. */
  private class Out extends OutputStream:
    val bytes = ByteArrayOutputStream()
    val flushed, closed = AtomicInteger()
    override def write(byte: Int): Unit = bytes.write(byte)
    override def flush(): Unit = flushed.incrementAndGet(): Unit
    override def close(): Unit = closed.incrementAndGet(): Unit

  test("writeToOutputStream writes all, flushes, closes once, also after an error"):
    val out = Out()
    assertEquals(blocks("one", "two").writeToOutputStream(out).runSync(), 6L)
    assertEquals((out.bytes.toString, out.flushed.get, out.closed.get), ("onetwo", 1, 1))
    val boom = Boom()
    val failing = Out()
    val result = (blocks("one") ++ Stream.fail(boom)).writeToOutputStream(failing).attempt
    assertEquals(result.runSync(), Left(boom))
    assertEquals((failing.bytes.toString, failing.closed.get), ("one", 1))

  test("a cancel closes an output whose write ignores interrupts, once"):
    val writing = java.util.concurrent.CountDownLatch(1)
    val out = new Out:
      private var isOpen = true
      override def write(block: Array[Byte]): Unit = synchronized {
        writing.countDown()
        while isOpen do
          try wait()
          catch case _: InterruptedException => ()
        throw IOException("closed")
      }
      override def close(): Unit = synchronized {
        super.close()
        isOpen = false
        notifyAll()
      }
    val fiber = blocks("one").writeToOutputStream(out).start.runSync()
    await(writing)
    fiber.cancel.timeout(10.seconds).runSync()
    assertEquals(out.closed.get, 1)

  property("toInputStream has the bytes, however they are cut") {
    val texts = Gen.listOf(Gen.oneOf("", "a", "bcd", "ef" * 500))
    forAll(texts, Gen.choose(1, 700)) { (texts, size) =>
      val read = blocks(texts*).toInputStream.use(input =>
        Task(Iterator.continually(input.readNBytes(size)).takeWhile(_.nonEmpty).toList.flatten)
      )
      assertEquals(read.runSync(), texts.mkString.getBytes.toList)
    }
  }

  test("read() of a toInputStream: bytes above 127, then -1 again and again"):
    val read = Stream(Array[Byte](-1, 0)).toInputStream
      .use(input => Task(List.fill(4)(input.read())))
    assertEquals(read.runSync(), List(255, 0, -1, -1))

  test("an error of the stream is an IOException of the read, after the bytes"):
    val boom = Boom()
    val read = (blocks("a") ++ Stream.fail(boom)).toInputStream.use(input =>
      Task {
        assertEquals(input.read(), 'a'.toInt)
        assertEquals(intercept[IOException](input.read()).getCause, boom)
        assertEquals(intercept[IOException](input.read()).getCause, boom)
      }
    )
    read.runSync()

  test("the release cancels the stream and ends a read that waits in another thread"):
    val log = Log()
    val source = log.resource("source")(blocks("a") ++ Stream.never)
    var thread: Thread | Null = null
    var failed: Throwable | Null = null
    val use = source.toInputStream.use { input =>
      Task {
        assertEquals(input.read(), 'a'.toInt)
        val reads = Thread.ofPlatform().start { () =>
          try input.read(): Unit
          catch case error: Throwable => failed = error
        }
        thread = reads
        eventually("it waits")(reads.getState == Thread.State.WAITING)
      }
    }
    use.runSync()
    thread.nn.join(10_000)
    assert(failed.isInstanceOf[IOException], s"$failed")
    assertEquals(log.lines, List("+source", "-source"))

  test("a full toInputStream that is not read to its end is released"):
    val log = Log()
    val source = log.resource("source")(Stream.constant("a".getBytes))
    assertEquals(source.toInputStream.use(input => Task(input.read())).runSync(), 'a'.toInt)
    assertEquals(log.lines, List("+source", "-source"))

  private def bytesOf(input: java.io.InputStream): Stream[Int] =
    Stream.fromIterator(Iterator.continually(input.read()).takeWhile(_ >= 0))

  test("throughInputStream emits what the code reads, each time from a new input"):
    val read = blocks("ab", "", "c").throughInputStream(bytesOf)
    for _ <- 1 to 2 do assertEquals(read.toList.runSync(), List('a', 'b', 'c').map(_.toInt))

  test("throughInputStream fails with the error of the stream, not with the code's"):
    val boom = Boom()
    val read = (blocks("a") ++ Stream.fail(boom))
      .throughInputStream(bytesOf, { case _ => AssertionError("adapted") })
    assertEquals(read.take(1).toList.runSync(), List('a'.toInt))
    assertEquals(read.toList.attempt.runSync(), Left(boom))

  test("throughInputStream fails with what adapt makes of the code's error"):
    val (first, second) = (Boom(), Boom())
    val read = blocks("a").throughInputStream(
      _ => Stream.fail(first),
      { case error if error eq first => second }
    )
    assertEquals(read.toList.attempt.runSync(), Left(second))
    val other = blocks("a").throughInputStream(_ => Stream.fail(first))
    assertEquals(other.toList.attempt.runSync(), Left(first))

  test("a throughInputStream that is cancelled closes the input and the stream"):
    val log = Log()
    val source = log.resource("source")(blocks("a") ++ Stream.never)
    val begun = java.util.concurrent.CountDownLatch(1)
    val read = source.throughInputStream(bytesOf).evalTap(_ => Task(begun.countDown())).drain
    val fiber = read.start.runSync()
    await(begun)
    fiber.cancel.timeout(10.seconds).runSync()
    assertEquals(log.lines, List("+source", "-source"))

  test("intoQueue and intoQueueNoneTerminated: the elements, and none after a success alone"):
    val boom = Boom()
    val queue = Queue.unsafe[Int](10)
    Stream(1, 2).intoQueue(queue).runSync()
    assertEquals(queue.takeAll.runSync(), List(1, 2))
    val ended = Queue.unsafe[Option[Int]](10)
    Stream(1).intoQueueNoneTerminated(ended).runSync()
    assertEquals(ended.takeAll.runSync(), List(Some(1), None))
    val failing = (Stream(1) ++ Stream.fail(boom)).intoQueueNoneTerminated(ended)
    assertEquals(failing.attempt.runSync(), Left(boom))
    assertEquals(ended.takeAll.runSync(), List(Some(1)))

  test("intoChannel closes the channel as the stream has ended"):
    val boom = Boom()
    def received(stream: Stream[Int]): List[Int | Throwable] =
      val channel = Channel.unsafe[Int](1)
      stream
        .intoChannel(channel)
        .attempt
        .start
        .flatMap(_ => seen(channel.stream))
        .runSync()
    assertEquals(received(Stream(1, 2, 3)), List(1, 2, 3))
    assertEquals(received(Stream(1) ++ Stream.fail(boom)), List(1, boom))
    val channel = Channel.unsafe[Int](1)
    val fiber = Stream.constant(1).intoChannel(channel).start.runSync()
    eventually("full")(channel.size.runSync() == 1)
    fiber.cancel.runSync()
    seen(channel.stream).runSync() match
      case List(1, _: CancellationException) => ()
      case other => fail(s"$other")
