package weir

import java.io.{InputStream, OutputStream}
import java.nio.file.Path
import java.util.concurrent.CancellationException
import java.util.concurrent.atomic.AtomicReference
import weir.std.Topic
import weir.stream.{ByteOutput, QueuedInput, RotatingFiles}

// The places that the elements of a stream can go to.

extension (bytes: Stream[Array[Byte]])

  /** Writes the bytes of this stream to the file `path` and returns their number. The file is
    * created if it does not exist. It is opened when the task begins: emptied, or, with `append`,
    * written at its end. It is closed however the task ends.
    *
    * If the stream fails or is cancelled, the bytes that were written before that stay in the file.
    * They end with a whole block, or, after a cancel or an error of the write, within a block. If
    * readers must not see an incomplete file, write another file and move it.
    *
    * **Cancelled** also while it writes, and while it opens a named pipe that no process reads.
    * {{{
    * val copied: Task[Long] = Stream.fromPath(path).writeTo(java.nio.file.Path.of("b.txt"))
    * }}}
    */
  def writeTo(path: Path, append: Boolean = false): Task[Long] =
    Resource
      .makeFull(ByteOutput.open(_, path, append))((output, _) => Task(output.close()))
      .use(output => bytes.evalMap(output.write).fold(0L)(_ + _))

  /** Writes the blocks of this stream to files and returns the number of files. Each block goes as
    * a whole to the current file, or to the next one if the current one would exceed `limitBytes`.
    * `name` is called with 0, 1 and so on, and returns the names of the files. Each file is opened
    * and closed as by `writeTo`, and stays after an error. Without blocks, no file is written.
    * {{{
    * val files: Task[Int] = Stream
    *   .fromPath(path)
    *   .writeRotating(1_000_000)(number => java.nio.file.Path.of(s"part-$number"))
    * }}}
    */
  def writeRotating(limitBytes: Long)(name: Int => Path): Task[Int] =
    require(
      limitBytes >= 1,
      s"Stream.writeRotating: the limit was $limitBytes. It must be at least 1."
    )
    Resource
      .make(Task(RotatingFiles(limitBytes, name)))(files => Task(files.close()))
      .use(files => bytes.evalMap(files.write).drain.map(_ => files.count))

  /** Writes the bytes of this stream to the output that `open` returns, and returns their number.
    * The output is flushed at the end, and closed once, however the task ends.
    *
    * **Cancelled** while it writes: interrupts the write, and closes the output.
    * {{{
    * val written: Task[Long] =
    *   Stream.fromPath(path).writeToOutputStream(Files.newOutputStream(Path.of("b.txt")))
    * }}}
    */
  def writeToOutputStream(open: => OutputStream): Task[Long] =
    Resource
      .make(Task(ByteOutput.of(open)))(output => Task(output.close()))
      .use(output => bytes.evalMap(output.write).fold(0L)(_ + _).flatTap(_ => output.flush))

  /** Returns an input with the bytes of this stream, for code that reads an input. A separate fiber
    * runs the stream from the acquisition of the resource on, and is at most two blocks ahead of
    * the reader. After the release, a read fails.
    *
    * A read blocks until there are bytes. It fails with an `IOException` whose cause is the error
    * of the stream, after the bytes before it. **Cancelled**, or released: cancels the stream, and
    * waits for its finalizers.
    * {{{
    * val first: Task[Int] = Stream.fromPath(path).toInputStream.use(input => Task(input.read()))
    * }}}
    */
  def toInputStream: Resource[InputStream] =
    Resource.make(Task(QueuedInput()))(input => Task(input.finish())).flatMap { input =>
      val filled = bytes.evalMap(input.put).drain.attempt.flatMap(input.putEnd)
      filled.background.map(_ => input)
    }

  /** Emits the elements of the stream that `read` returns for an input with the bytes of this
    * stream. It is for a library that parses or unpacks an input. Each run opens an input of its
    * own, as `toInputStream` does, and closes it at the end.
    *
    * **Fails** with the error of this stream unchanged, even if the library has changed it.
    * Otherwise fails with the library's error, or with the result of `adapt` for that if `adapt` is
    * defined for it. **Cancelled** while it waits for bytes: cancels this stream, and waits for its
    * finalizers.
    * {{{
    * val lines: Stream[String] = Stream
    *   .fromPath(path)
    *   .throughInputStream(input =>
    *     Stream.fromIterator(scala.io.Source.fromInputStream(input).getLines())
    *   )
    * }}}
    */
  def throughInputStream[A](
      read: InputStream => Stream[A],
      adapt: PartialFunction[Throwable, Throwable] = PartialFunction.empty
  ): Stream[A] = Stream.suspend {
    val failure = AtomicReference[Throwable | Null](null)
    Stream
      .resource(bytes.onError { case error => Task(failure.set(error)) }.toInputStream)
      .flatMap(read)
      .adaptError { case error =>
        val upstream = failure.get
        if upstream ne null then upstream.nn else adapt.applyOrElse(error, identity)
      }
  }

extension [A](stream: Stream[A])

  /** Offers all elements to `queue`. **Waits** while that is full.
    * {{{
    * val stored = Queue.bounded[String](10).flatMap { queue =>
    *   Stream.linesOf(path).intoQueue(queue).both(queue.take.flatMap(store))
    * }
    * }}}
    */
  def intoQueue(queue: Queue[A]): Task[Unit] = stream.evalMap(queue.offer).drain

  /** As `intoQueue`, and offers a `None` after the end. It offers no `None` after an error or a
    * cancel. If takers must learn of those, use `intoChannel`.
    * {{{
    * def fill(queue: Queue[Option[String]]): Task[Unit] =
    *   Stream.linesOf(path).intoQueueNoneTerminated(queue)
    * }}}
    */
  def intoQueueNoneTerminated(queue: Queue[Option[A]]): Task[Unit] =
    stream.evalMap(a => queue.offer(Some(a))).drain.flatMap(_ => queue.offer(None))

  /** Sends all elements to `channel`, then closes it. If the stream fails, closes the channel with
    * the error; if it is cancelled, with a `CancellationException`.
    *
    * **Waits** while the channel is full. **Fails** also with `ChannelClosed`.
    * {{{
    * def doubled(values: Stream[Int], to: Channel[Int]): Task[Unit] =
    *   values.map(_ * 2).intoChannel(to)
    * }}}
    */
  def intoChannel(channel: Channel[A]): Task[Unit] =
    stream.evalMap(channel.send).drain.guaranteeCase {
      case Outcome.Succeeded(_) => channel.close.void
      case Outcome.Failed(error) => channel.closeWithError(error).void
      case Outcome.Canceled =>
        val error = CancellationException("Stream.intoChannel: the stream was cancelled.")
        channel.closeWithError(error).void
    }

  /** Publishes all elements to `topic`, then closes it, so that its subscribers see the end, and
    * returns true. If the stream fails, the subscribers receive the error; if it is cancelled, a
    * `CancellationException`. Returns false if another fiber has closed the topic, which ends this
    * stream too.
    *
    * **Waits** for the slowest subscriber. If there are no subscribers, elements are dropped.
    * {{{
    * val shared: Resource[Topic[Config]] = Resource.eval(Topic[Config]).flatMap { topic =>
    *   Stream.repeatEval(configChanged).intoTopic(topic).background.map(_ => topic)
    * }
    * }}}
    */
  def intoTopic(topic: Topic[A]): Task[Boolean] =
    stream.evalMap(topic.publish).forall(identity).guaranteeCase {
      case Outcome.Succeeded(_) => topic.close.void
      case Outcome.Failed(error) => topic.closeWithError(error).void
      case Outcome.Canceled =>
        val error = CancellationException("Stream.intoTopic: the stream was cancelled.")
        topic.closeWithError(error).void
    }
