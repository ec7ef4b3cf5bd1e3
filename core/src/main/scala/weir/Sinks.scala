package weir

import java.io.{InputStream, OutputStream}
import java.nio.file.Path
import java.util.concurrent.CancellationException
import weir.stream.{ByteOutput, QueuedInput, RotatingFiles}

// Where the elements of a stream can go to.

extension (bytes: Stream[Array[Byte]])

  /** How many bytes were written to `path`: all of this stream. The file is made if there is none,
    * and opened when the task begins: emptied, or with `append` written at its end. It is closed
    * however the task ends.
    *
    * A stream that fails or is cancelled leaves what was written before that: a part of the file,
    * which ends with a whole block, or, after a cancel or an error of the write, within one. Where
    * readers must not see that, write another file and move it.
    *
    * **Cancelled** also while it writes, and while it opens a named pipe that nobody reads.
    * {{{
    * val copied: Task[Long] = Stream.fromPath(path).writeTo(java.nio.file.Path.of("b.txt"))
    * }}}
    */
  def writeTo(path: Path, append: Boolean = false): Task[Long] =
    Resource
      .makeFull(ByteOutput.open(_, path, append))((output, _) => Task(output.close()))
      .use(output => bytes.evalMap(output.write).fold(0L)(_ + _))

  /** How many files were written: each block goes to the file that is written, whole; where that
    * would have more than `limitBytes` then, to the next one. Their names are those that `name`
    * makes of 0, 1 and so on. Files are opened and left as by `writeTo`; there is none for no
    * blocks.
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

  /** How many bytes were written to the output that `open` returns: all of this stream. It is
    * flushed at the end, and closed once, however this ends.
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

  /** An input with these bytes, for code that reads one. A fiber of its own runs the stream, from
    * the beginning of the resource on, and is at most two blocks ahead. After the release a read
    * fails.
    *
    * A read blocks until there are bytes. It fails with an `IOException` whose cause is the error
    * of the stream, after the bytes before it. **Cancelled**, as the release: cancels the stream,
    * and waits for its finalizers.
    * {{{
    * val first: Task[Int] = Stream.fromPath(path).toInputStream.use(input => Task(input.read()))
    * }}}
    */
  def toInputStream: Resource[InputStream] =
    Resource.make(Task(QueuedInput()))(input => Task(input.finish())).flatMap { input =>
      val filled = bytes.evalMap(input.put).drain.attempt.flatMap(input.putEnd)
      filled.background.map(_ => input)
    }

extension [A](stream: Stream[A])

  /** Nothing, once all elements are in `queue`. **Waits** while that is full.
    * {{{
    * val stored = Queue.bounded[String](10).flatMap { queue =>
    *   Stream.linesOf(path).intoQueue(queue).both(queue.take.flatMap(store))
    * }
    * }}}
    */
  def intoQueue(queue: Queue[A]): Task[Unit] = stream.evalMap(queue.offer).drain

  /** As `intoQueue`, and none after the end. After an error or a cancel there comes no none: where
    * takers must know of those, use `intoChannel`.
    * {{{
    * def fill(queue: Queue[Option[String]]): Task[Unit] =
    *   Stream.linesOf(path).intoQueueNoneTerminated(queue)
    * }}}
    */
  def intoQueueNoneTerminated(queue: Queue[Option[A]]): Task[Unit] =
    stream.evalMap(a => queue.offer(Some(a))).drain.flatMap(_ => queue.offer(None))

  /** Nothing, once all elements were sent to `channel`, which is closed then. If this fails, it is
    * closed with the error; if it is cancelled, with a `CancellationException`.
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

  /** True once all elements were published to `topic`, which is then closed: its subscribers see
    * the end. If this fails, they get the error; if it is cancelled, a `CancellationException`.
    * False if others closed the topic, which ends this stream too.
    *
    * **Waits** for the slowest subscriber. Without subscribers the elements are dropped.
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
