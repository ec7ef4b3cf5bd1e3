package weir

import java.io.InputStream
import java.nio.charset.{Charset, StandardCharsets}
import java.nio.file.{Files, Path}
import java.util.concurrent.Flow
import scala.concurrent.duration.{DurationInt, DurationLong, FiniteDuration}
import weir.io.{FileChange, Source}
import weir.stream.*
import weir.task.{ScheduleRun, ScheduleStart}

/** The streams that read files, publishers, queues and callbacks, and those of time. */
private[weir] transparent trait StreamInputs:

  /** Emits the elements of the source that `open` returns each time the stream runs. `open` runs
    * when the first element is asked for. The source is closed once, when the stream is over,
    * however it ends. `Source` has an example.
    *
    * **Waits** when the source does: it may block. **Cancelled** while the source waits, and
    * between elements. `open` and `Source.close` are masked, so leave slow opening to the first
    * `Source.next`. **Fails** with the error that `open`, `next` or `close` throws. After an error
    * of `open`, nothing is closed.
    * {{{
    * final class Countdown(var left: Int) extends Source[Int]:
    *   def next()(using Task.Direct): Int | Source.End =
    *     if left == 0 then Source.End else { left -= 1; left }
    *
    * val numbers: Stream[Int] = Stream.fromSource(Task(Countdown(10)))
    * }}}
    */
  def fromSource[A](open: Task[Source[A]]): Stream[A] = Stream.of(() => SourcePull(open))

  /** Emits the bytes of a file in blocks of `blockBytes`. The last block may be smaller. For a
    * pipe, each block has the bytes that one read returned. Each block is a new array, which the
    * consumer may keep. The file is opened when the stream runs, and closed when it is over.
    *
    * **Cancelled** also while it reads, and while it opens a named pipe that nobody writes to.
    * {{{
    * val bytes: Task[Long] = Stream.fromPath(path).map(_.length.toLong).sum
    * }}}
    */
  def fromPath(path: Path, blockBytes: Int = 65536): Stream[Array[Byte]] =
    blocks("fromPath", blockBytes)(ByteInput.ofPath(path))

  /** Emits the bytes of the input that `open` returns each time the stream runs, in blocks as
    * `fromPath`. The input is closed once.
    *
    * **Cancelled** while it reads: interrupts the read, and closes the input. If neither ends the
    * read, as with `System.in`, the cancel waits for it; pass `FileInputStream(FileDescriptor.in)`
    * instead. `open` is masked. **Fails** with an `IllegalStateException` if `open` returns the
    * input of the run before.
    * {{{
    * val body: Stream[Array[Byte]] = Stream.fromInputStream(urls.head.toURL.openStream())
    * }}}
    */
  def fromInputStream(open: => InputStream, blockBytes: Int = 65536): Stream[Array[Byte]] =
    val once = SingleUse("Stream.fromInputStream: the input")
    blocks("fromInputStream", blockBytes)(ByteInput.of(once.checked(open)))

  private def blocks(name: String, blockBytes: Int)(open: => ByteInput): Stream[Array[Byte]] =
    require(
      blockBytes >= 1,
      s"Stream.$name: the size of a block was $blockBytes. It must be at least 1."
    )
    Stream.of(() => BlockSource(() => open, blockBytes))

  /** Emits the lines of a file, without the `\n`, `\r` or both that end them.
    *
    * **Cancelled** as `fromPath`. **Fails** with an `IOException` if the bytes of a line are not
    * valid in the charset. The error names the line and comes after the lines before it.
    * {{{
    * val errors: Task[Long] = Stream.linesOf(path).filter(_.contains("ERROR")).count
    * }}}
    */
  def linesOf(path: Path, charset: Charset = StandardCharsets.UTF_8): Stream[String] =
    Stream.of(() => LinesStage(fromPath(path).open(), charset, s"Stream.linesOf: $path"))

  /** Emits `path` and everything below it, a directory before its entries, down to `maxDepth`
    * levels. Links are not followed. A directory is read when the consumer comes to it.
    *
    * **Cancelled** between paths. **Fails** with an `IOException` if a directory cannot be read.
    * {{{
    * val sources = Stream.walk(path).filter(_.toString.endsWith(".scala"))
    * }}}
    */
  def walk(path: Path, maxDepth: Int = Int.MaxValue): Stream[Path] =
    require(maxDepth >= 0, s"Stream.walk: the depth was $maxDepth. It must be at least 0.")
    fromSource(Task(WalkSource(Files.walk(path, maxDepth))))

  /** Emits the changes in `directory` that happen after the first one is asked for. Changes below
    * its subdirectories are not emitted. Ends when the directory is deleted.
    *
    * **Waits** for the next change. **Fails** with an `IOException` if there is no such directory.
    * **Order**: changes of one file are in order. Several of them may be merged into one.
    * {{{
    * val created = Stream.watch(path).collect { case FileChange.Created(file) => file }
    * }}}
    */
  def watch(directory: Path): Stream[FileChange] = fromSource(Task(WatchSource(directory)))

  /** Emits the bytes of a growing file: first the bytes that it has, then those that are appended.
    * With `fromEnd`, only the latter. Checks for more each `interval`. If the file does not exist,
    * waits for it. Never ends by itself.
    *
    * If another file replaces this one, as when logs are rotated, the rest of this one is emitted
    * first, then all of the new one. A file that has become shorter is read from its beginning. A
    * file that is truncated and grows beyond its old length within one interval is not recognized
    * as a new one.
    * {{{
    * val lines = Text.lines(Text.utf8Decode(Stream.tailOf(path)))
    * }}}
    */
  def tailOf(
      path: Path,
      fromEnd: Boolean = false,
      interval: FiniteDuration = 1.second,
      blockBytes: Int = 65536
  ): Stream[Array[Byte]] =
    Stream.positive("tailOf", "interval", interval)
    require(
      blockBytes >= 1,
      s"Stream.tailOf: the size of a block was $blockBytes. It must be at least 1."
    )
    fromSource(Task(TailSource(path, fromEnd, interval, blockBytes)))

  /** Emits the elements of `publisher`. Subscribes when the first element is asked for, and anew
    * each time the stream runs. Requests `buffer` elements at first, then as many as have been
    * used, in batches of half of `buffer`. The elements that are buffered and those that are
    * requested are at most `buffer` together.
    *
    * **Waits** for the next element. **Cancelled**, and when no more elements are asked for:
    * cancels the subscription, without waiting for the publisher. **Fails** with the publisher's
    * error, after the elements before it. Fails with an `IllegalStateException` if the publisher
    * breaks a rule of Reactive Streams. **Order**: the publisher's.
    *
    * For a publisher of the interface `org.reactivestreams`, use `FlowAdapters.toFlowPublisher`.
    * {{{
    * val prices = java.util.concurrent.SubmissionPublisher[String]()
    * val stored: Task[Unit] = Stream.fromPublisher(prices).evalForeach(store)
    * }}}
    */
  def fromPublisher[A](publisher: Flow.Publisher[? <: A], buffer: Int = 64): Stream[A] =
    require(
      buffer >= 1,
      s"Stream.fromPublisher: the buffer was $buffer. It must be at least 1."
    )
    Stream.of(() => PublisherSource.of(publisher, buffer))

  /** Returns a processor for one subscriber, which passes the elements that it receives through
    * `pipe`. The pipe starts when there is a subscriber, and runs once. It may run concurrently.
    * `buffer` is that of `fromPublisher`. One further element is made ready for the subscriber
    * before it requests it.
    *
    * **Cancelled** by the subscriber: cancels the pipe, and so the subscription to the publisher.
    * **Fails**: calls the subscriber's `onError` with the error of the publisher or of the pipe.
    * For a second subscriber, it calls `onError` with an `IllegalStateException`.
    * {{{
    * val names: java.util.concurrent.Flow.Processor[Int, String] =
    *   Stream.processor[Int, String](_.parEvalMap(8)(id => load(id).map(_.name)))
    * }}}
    */
  def processor[A, B](pipe: Stream[A] => Stream[B], buffer: Int = 64)(using
      runtime: WeirRuntime
  ): Flow.Processor[A, B] =
    require(buffer >= 1, s"Stream.processor: the buffer was $buffer. It must be at least 1.")
    val erased = pipe.asInstanceOf[Stream[Any] => Stream[Any]]
    StreamProcessor(erased, buffer, runtime).asInstanceOf[Flow.Processor[A, B]]

  /** Takes the values of `queue` and emits them. A value is taken when the stream is asked for an
    * element. Streams of the same queue share its values: each value goes to one of them. Never
    * ends by itself.
    * {{{
    * val stored = Queue.bounded[String](100).flatMap { queue =>
    *   val filled = Stream.emits(requests).intoQueue(queue)
    *   filled.both(Stream.fromQueue(queue).take(2).evalForeach(store))
    * }
    * }}}
    */
  def fromQueue[A](queue: Queue[A]): Stream[A] = Stream.repeatEval(queue.take)

  /** As `fromQueue`, but ends at the first `None`.
    * {{{
    * val stored = Queue.bounded[Option[String]](100).flatMap { queue =>
    *   val filled = Stream.emits(requests).intoQueueNoneTerminated(queue)
    *   filled.both(Stream.fromQueueNoneTerminated(queue).evalForeach(store))
    * }
    * }}}
    */
  def fromQueueNoneTerminated[A](queue: Queue[Option[A]]): Stream[A] =
    Stream.repeatEvalOption(queue.take)

  /** The same as `channel.stream`. */
  def fromChannel[A](channel: Channel[A]): Stream[A] = channel.stream

  /** Emits the elements that callbacks pass, from any thread, to the `Emit` that `register` is
    * called with. `register` returns a resource that starts and stops the callbacks. It is acquired
    * when the first element is asked for, and released when the stream is over. At most `bound`
    * elements are buffered. `overflow` is the rule for further elements.
    *
    * **Waits** for the next element. **Fails** with the error that `Emit.fail` was called with, and
    * under `Overflow.Fail` with a `BufferOverflow`; both come after the elements before them.
    * {{{
    * def ticks: Stream[Long] = Stream.async[Long](bound = 16, Overflow.DropOldest) { emit =>
    *   Resource.make(Task {
    *     val timer = java.util.Timer(true)
    *     val tick = new java.util.TimerTask:
    *       def run(): Unit = emit(System.nanoTime()): Unit
    *     timer.schedule(tick, 0L, 100L)
    *     timer
    *   })(timer => Task(timer.cancel()))
    * }
    * }}}
    */
  def async[A](bound: Int, overflow: Overflow = Overflow.Fail)(
      register: Stream.Emit[A] => Resource[Any]
  ): Stream[A] =
    require(bound >= 1, s"Stream.async: the bound was $bound. It must be at least 1.")
    Stream
      .resource(Resource.defer {
        val buffer = CallbackBuffer[A](bound, overflow)
        val discarding = Resource.make(Task.unit)(_ => Task(buffer.discard()))
        // Discards before `register` releases, and also if `register` fails to acquire.
        discarding.flatMap(_ => register(buffer)).flatMap(_ => discarding).map(_ => buffer)
      })
      .flatMap(buffer => ChannelSource.stream(buffer.next))

  /** Emits the elements that `body` emits. `body` is code as that of a `Task.direct`: it may await,
    * loop over other streams, and block. It runs on a separate fiber, in turns with the consumer:
    * an emit waits until the consumer asks for the next element. So no element is made ahead of
    * demand; for that, add `prefetchN`. The stream ends when `body` returns.
    *
    * **Cancelled** when the consumer asks for no more elements: `body` is cancelled at an await, at
    * an emit, or where it blocks, and its finalizers see a cancel. The stream waits for them.
    * **Fails** with the error that `body` throws, after the elements before it.
    * {{{
    * def pages(first: String): Stream[String] = Stream.direct { emit =>
    *   var url = first
    *   while url.nonEmpty do
    *     val page = ask(url).await
    *     emit(page)
    *     url = page.linesIterator.find(_.startsWith("next: ")).fold("")(_.drop(6))
    * }
    * }}}
    */
  def direct[A](body: Stream.Emitter[A] => Task.Direct ?=> Unit): Stream[A] =
    Stream.of(() => EmitterSource(body.asInstanceOf[Stream.Emitter[Any] => Task.Direct ?=> Unit]))

  /** Emits `()` after `duration`, and ends.
    * {{{
    * val later: Stream[Config] = Stream.sleep(1.second).flatMap(_ => Stream.eval(fromNetwork))
    * }}}
    */
  def sleep(duration: FiniteDuration): Stream[Unit] = Stream.eval(Task.sleep(duration))

  /** Emits the time since the beginning at each `interval`. The first element comes after one
    * `interval`. If the consumer takes longer than an interval, the next element comes at once, and
    * the missed ones are left out. Never ends by itself.
    * {{{
    * val progress = Stream.awakeEvery(1.second).evalTap(t => Task(log(s"$t")))
    * }}}
    */
  def awakeEvery(interval: FiniteDuration): Stream[FiniteDuration] =
    Stream.positive("awakeEvery", "interval", interval)
    Stream
      .eval(Task.monotonic)
      .flatMap(begin => fixedRate(interval).evalMap(_ => Task.monotonic.map(_ - begin)))

  /** As `awakeEvery`, but emits `()`.
    * {{{
    * val measured: Stream[Int] = Stream.fixedRate(1.second).evalMap(_ => visitsOf(id))
    * }}}
    */
  def fixedRate(interval: FiniteDuration): Stream[Unit] =
    Stream.positive("fixedRate", "interval", interval)
    fromSchedule(Schedule.fixed(interval))

  /** Emits `()` after `delay`, and then each time `delay` after the consumer has asked for the next
    * element. Never ends by itself.
    * {{{
    * val polled: Stream[Config] = Stream.fixedDelay(1.second).evalMap(_ => fromNetwork)
    * }}}
    */
  def fixedDelay(delay: FiniteDuration): Stream[Unit] =
    Stream.positive("fixedDelay", "delay", delay)
    Stream.repeatEval(Task.sleep(delay))

  /** Emits `()` after each delay that `schedule` gives. Ends when the schedule stops.
    * {{{
    * val tries = Stream.fromSchedule(Schedule.exponential(10.millis).times(5))
    * }}}
    */
  def fromSchedule(schedule: Schedule[Unit]): Stream[Unit] =
    val nanoTime = Task.onRuntime(_.timers.nanoTime)
    val begun = Task.onRuntime(runtime => schedule.begin(ScheduleStart.now(runtime.timers)))
    Stream
      .eval(begun)
      .flatMap(run =>
        Stream.repeatEvalOption(nanoTime.map(run.next((), _)).flatMap { delay =>
          if delay == ScheduleRun.Stop then Task.pure(None)
          else Task.sleep(delay.nanos).as(Some(()))
        })
      )
