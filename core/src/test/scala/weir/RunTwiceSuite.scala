package weir

import java.io.{ByteArrayInputStream, ByteArrayOutputStream}
import java.nio.charset.StandardCharsets.UTF_8
import java.nio.file.{Files, Path}
import scala.concurrent.duration.*
import scala.jdk.CollectionConverters.IteratorHasAsScala
import weir.io.{Bytes, ServerSentEvent, Source, Text}
import weir.std.Topic

/** Each way to make a stream, a pipe or a sink, run again and beside another run. */
class RunTwiceSuite extends RunTwice:
  private lazy val folder = Files.createTempDirectory("weir-twice")
  private lazy val file = Files.writeString(Files.createTempFile("weir-twice", ".txt"), "a\nb\n")
  private val one = Task(1)
  private def text(bytes: Stream[Array[Byte]]) = bytes.map(String(_, UTF_8)).mkString()
  private def input = ByteArrayInputStream("ab".getBytes)
  private val bytes = Stream("ab".getBytes, "cd".getBytes)

  complete(
    List(Stream, Text, Bytes, ServerSentEvent).map(_.getClass) :+
      Class.forName("weir.Sinks$package$"),
    internal = Set("Stream.of")
  )

  // ---- streams ----

  elements("Stream.empty")()(Stream.empty)
  elements("Stream.emit")(1)(Stream.emit(1))
  elements("Stream.fromIterable")(1, 2)(Stream.fromIterable(LazyList(1, 2)))
  elements("Stream.fromIterator")(1, 2)(Stream.fromIterator(Iterator(1, 2)))
  elements("Stream.emits")(1, 2)(Stream.emits(List(1, 2)))
  elements("Stream.fromSource")(1, 2)(Stream.fromSource(Task(Countdown(2))))
  row("Stream.fromPath")("a\nb\n")(text(Stream.fromPath(file)))
  row("Stream.fromInputStream")("ab")(text(Stream.fromInputStream(input)))
  elements("Stream.linesOf")("a", "b")(Stream.linesOf(file))
  elements("Stream.unfold")(2, 1)(Stream.unfold(2)(n => Option.when(n > 0)((n, n - 1))))
  elements("Stream.delay")(1)(Stream.delay(1))
  elements("Stream.eval")(1)(Stream.eval(one))
  elements("Stream.repeatEval")(1, 1)(Stream.repeatEval(one).take(2))
  elements("Stream.bracket")(1)(Stream.bracket(one)(_ => Task.unit))
  elements("Stream.resource")(1)(Stream.resource(Resource.eval(one)))
  elements("Stream.never")()(Stream.never.interruptWhen(Task.unit))
  row("Stream.fail")(true)(Stream.fail(Exception("no")).drain.attempt.map(_.isLeft))
  elements("Stream.apply")(1, 2)(Stream(1, 2))
  elements("Stream.exec")()(Stream.exec(one))
  elements("Stream.evalSeq")(1, 2)(Stream.evalSeq(Task(Iterator(1, 2))))
  elements("Stream.range")(1, 2)(Stream.range(1, 3))
  elements("Stream.rangeLong")(1L, 2L)(Stream.rangeLong(1, 3))
  elements("Stream.iterate")(1, 2)(Stream.iterate(1)(_ + 1).take(2))
  elements("Stream.iterateEval")(1, 2)(Stream.iterateEval(1)(n => Task(n + 1)).take(2))
  elements("Stream.unfoldEval")(2, 1)(
    Stream.unfoldEval(2)(n => Task(Option.when(n > 0)((n, n - 1))))
  )
  elements("Stream.constant")(1, 1)(Stream.constant(1).take(2))
  elements("Stream.repeatEvalOption")()(Stream.repeatEvalOption(Task(None)))
  elements("Stream.suspend")(1, 2)(Stream.suspend {
    var count = 0
    Stream("a", "b").map { _ =>
      count += 1; count
    }
  })
  elements("Stream.fromEither")(1)(Stream.fromEither(Right(1)))
  elements("Stream.fromOption")(1)(Stream.fromOption(Some(1)))
  elements("Stream.fromTry")(1)(Stream.fromTry(scala.util.Try(1)))
  elements("Stream.fromJavaStream")(1, 2)(Stream.fromJavaStream(java.util.List.of(1, 2).stream()))
  elements("Stream.fromPublisher")(1, 2)(Stream.fromPublisher(Stream(1, 2).toPublisher))
  elements("Stream.sleep")(())(Stream.sleep(1.nano))
  elements("Stream.awakeEvery")(true, true)(Stream.awakeEvery(1.milli).take(2).map(_ >= 1.milli))
  elements("Stream.fixedRate")((), ())(Stream.fixedRate(1.milli).take(2))
  elements("Stream.fixedDelay")((), ())(Stream.fixedDelay(1.milli).take(2))
  elements("Stream.fromSchedule")((), ())(Stream.fromSchedule(Schedule.recurs(2)))
  row("Stream.walk")(1L)(Stream.walk(file).count)
  elements("Stream.watch")("changed")(
    Stream
      .watch(folder)
      .as("changed")
      .take(1)
      .concurrently(Stream.fixedDelay(1.milli).evalMap(_ => changed))
  )
  row("Stream.tailOf")(Some("a\nb\n"))(
    Stream.tailOf(file, interval = 1.milli).map(String(_, UTF_8)).head
  )
  elements("Stream.fromQueue")(1) {
    val queue = Queue.unsafe[Int](9)
    (Stream.exec(queue.offer(1)) ++ Stream.fromQueue(queue)).take(1)
  }
  elements("Stream.fromQueueNoneTerminated")(1)(
    Stream
      .eval(
        Queue.unbounded[Option[Int]].flatTap(queue => queue.offer(Some(1)) >> queue.offer(None))
      )
      .flatMap(Stream.fromQueueNoneTerminated(_))
  )
  elements("Stream.fromChannel")(1)(
    Stream
      .eval(Channel.unbounded[Int].flatTap(channel => channel.send(1) >> channel.close))
      .flatMap(Stream.fromChannel(_))
  )
  elements("Stream.async")(1, 2)(Stream.async[Int](4) { emit =>
    Resource.eval(Task { emit(1); emit(2); emit.end() })
  })
  elements("Stream.direct")(1, 2)(Stream.direct[Int] { emit =>
    emit(1); emit(2)
  })

  private def changed = Task(Files.writeString(folder.resolve("changed"), "a"))

  private final class Countdown(var left: Int) extends Source[Int]:
    private var next = 0
    def next()(using Task.Direct): Int | Source.End =
      if next == left then Source.End
      else
        next += 1
        next

  test("an iterator or an input that was given to a run before is refused by the next"):
    val iterator = Iterator(1, 2)
    val shared = Stream.fromIterator(iterator)
    assertEquals(shared.take(1).toList.runSync(), List(1))
    assertEquals(
      intercept[IllegalStateException](shared.toList.runSync()).getMessage,
      "Stream.fromIterator: the iterator was read by an earlier run. Pass an expression that " +
        "makes a new one: it is evaluated at each run."
    )
    val items = java.util.List.of(1, 2).iterator
    val wrapped = Stream.fromIterator(items.asScala)
    assertEquals(wrapped.count.runSync(), 2L)
    val _ = intercept[IllegalStateException](wrapped.count.runSync())
    val bytes = input
    val read = Stream.fromInputStream(bytes)
    assertEquals(text(read).runSync(), "ab")
    val said = intercept[IllegalStateException](text(read).runSync()).getMessage
    assert(said.startsWith("Stream.fromInputStream: the input was read by an earlier run"), said)
    assertEquals(Stream.fromIterator(Iterator.empty).repeatN(3).count.runSync(), 0L)

  test("a JDK stream that was given to a run before is refused by the next"):
    val items = java.util.List.of(1, 2).stream()
    val shared = Stream.fromJavaStream(items)
    assertEquals(shared.count.runSync(), 2L)
    val _ = intercept[IllegalStateException](shared.count.runSync())

  // ---- pipes ----

  private val ab = "ab".getBytes
  private val cd = "cd".getBytes

  pipe("ServerSentEvent.encode")(ServerSentEvent("a"))("data: a\n\n".getBytes)(
    ServerSentEvent.encode
  )
  pipe("ServerSentEvent.decode")("id: 1\ndata: a\n\n".getBytes)(
    ServerSentEvent("a", id = Some("1"))
  )(ServerSentEvent.decode)
  pipe("Text.utf8Decode")(ab, cd)("ab", "cd")(Text.utf8Decode)
  pipe("Text.decode")(ab, cd)("ab", "cd")(Text.decode(UTF_8))
  pipe("Text.utf8Encode")("ab", "cd")(ab, cd)(Text.utf8Encode)
  pipe("Text.encode")("ab", "cd")(ab, cd)(Text.encode(UTF_8))
  pipe("Text.lines")("a\nb", "c\n")("a", "bc")(Text.lines)
  pipe("Text.linesOfAtMost")("a\nb", "c\n")("a", "bc")(Text.linesOfAtMost(2))
  pipe("Text.base64Encode")(ab)("YWI=")(Text.base64Encode)
  pipe("Text.base64Decode")("YWI=")(ab)(Text.base64Decode)
  pipe("Text.hexEncode")(ab)("6162")(Text.hexEncode)
  pipe("Text.hexDecode")("6162")(ab)(Text.hexDecode)

  private def there(name: String, back: => Stream[Array[Byte]] => Stream[Array[Byte]])(
      pipe: => Stream[Array[Byte]] => Stream[Array[Byte]]
  ): Unit = row(name)("abcd") {
    val reused = pipe
    text(bytes.through(reused).through(back))
  }
  there("Bytes.gzip", Bytes.gunzip)(Bytes.gzip())
  there("Bytes.deflate", Bytes.inflate)(Bytes.deflate())
  there("Bytes.framed", Bytes.unframed(9))(Bytes.framed(9))
  there("Bytes.unframed", identity)(Bytes.framed(9) andThen Bytes.unframed(9))
  there("Bytes.gunzip", identity)(Bytes.gzip() andThen Bytes.gunzip)
  there("Bytes.inflate", identity)(Bytes.deflate() andThen Bytes.inflate)
  private val md5 = java.security.MessageDigest.getInstance("MD5").digest("abcd".getBytes).toList
  row("Bytes.digest")(md5)(Bytes.digest(bytes, "MD5").map(_.toList))
  row("Bytes.withDigest")("abcd")(
    text(bytes.through(Bytes.withDigest("MD5")(digest => Task(assertEquals(digest.toList, md5)))))
  )

  // ---- sinks ----

  private lazy val target = Files.createTempDirectory("weir-twice")
  private def numbered(name: String)(n: Int): Path = target.resolve(s"$name$n")

  row("Sinks.writeTo")(4L)(bytes.writeTo(numbered("to")(0)))
  row("Sinks.writeRotating")(2)(bytes.writeRotating(2)(numbered("rotating")))
  row("Sinks.writeToOutputStream")(4L)(bytes.writeToOutputStream(ByteArrayOutputStream()))
  row("Sinks.toInputStream")("abcd")(
    bytes.toInputStream.use(input => Task(String(input.readAllBytes(), UTF_8)))
  )
  row("Sinks.throughInputStream")(List("abcd"))(
    bytes
      .throughInputStream(input => Stream.suspend(Stream(String(input.readAllBytes(), UTF_8))))
      .toList
  )
  row("Sinks.intoQueue")(()) {
    val queue = Queue.unsafe[Int](9)
    Stream(1, 2).intoQueue(queue) >> queue.take.replicate(2).void
  }
  row("Sinks.intoQueueNoneTerminated")(()) {
    val queue = Queue.unsafe[Option[Int]](9)
    Stream(1).intoQueueNoneTerminated(queue) >> queue.take.replicate(2).void
  }
  row("Sinks.intoChannel")(List(1, 2))(
    Channel
      .unbounded[Int]
      .flatMap(channel => Stream(1, 2).intoChannel(channel) >> channel.stream.toList)
  )

  row("Sinks.intoTopic")(true)(
    Topic[Int].flatMap(topic => Stream(1, 2).intoTopic(topic))
  )

  override def afterAll(): Unit =
    for made <- List(folder, target) do
      val files = made.toFile.listFiles
      files.foreach(_.delete(): Unit)
      Files.delete(made)
    Files.delete(file)
