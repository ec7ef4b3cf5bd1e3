package weir

import java.io.InputStream
import java.nio.charset.{Charset, StandardCharsets}
import java.nio.file.Path
import scala.annotation.implicitNotFound
import weir.fiber.HoldsUserCode
import weir.stream.*

/** A description of elements that come one after the other, and of the effects that make them.
  *
  * Running it is a task (`drain`, `toList`, `fold`, `count`). That task is a plain loop on one
  * fiber, but for the operators that run concurrently, as their comments say. The finalizers of the
  * stream run once: when it has ended, failed or been cancelled, or when the consumer asks for no
  * more. Every size counts elements.
  */
abstract class Stream[+A] private[weir] () extends HoldsUserCode:

  private[weir] def open(): Pull

  /** As `open`, and with `end` at its end where there is a class for that: `Pull.hasEnd`. */
  private[weir] def openUntil(end: Step.End): Pull =
    end: Unit
    open()

  private def step[B](step: Step): Stream[B] = Staged(this, step)

  // ---- on one fiber ----

  /** `f` of each element. */
  final def map[B](f: A => B): Stream[B] = step(Step.Map(Stream.erased(f)))

  /** The elements for which `keep` is true. */
  final def filter(keep: A => Boolean): Stream[A] =
    step(Step.Filter(Stream.erased(keep)))

  /** The same as `filter`: what the compiler calls for an `if` in a `for`. */
  final def withFilter(keep: A => Boolean): Stream[A] = filter(keep)

  /** The elements of the streams that `f` makes of each element, one stream after the other. */
  final def flatMap[B](f: A => Stream[B]): Stream[B] = FlatMapped(this, f)

  /** The values of the tasks that `f` makes of each element, run one after the other. */
  final def evalMap[B](f: A => Task[B]): Stream[B] =
    step(Step.EvalMap(Stream.erased(f)))

  /** The same elements, each once the task that `f` makes of it has run. */
  final def evalTap(f: A => Task[Any]): Stream[A] = evalMap(a => f(a).as(a))

  /** The first `count` elements. Upstream does no work for a further one. */
  final def take(count: Long): Stream[A] = step(Step.Take(count))

  /** All but the first `count` elements. */
  final def drop(count: Long): Stream[A] = step(Step.Drop(count))

  /** The elements before the first for which `keep` is false. */
  final def takeWhile(keep: A => Boolean): Stream[A] =
    step(Step.TakeWhile(Stream.erased(keep)))

  /** The elements in groups of `size`; the last group may be smaller, and is never empty. */
  final def chunkN(size: Int): Stream[Vector[A]] =
    require(size >= 1, s"Stream.chunkN: the size was $size. It must be at least 1.")
    Stream.of(() => ChunkStage(open(), size))

  /** `zero`, then for each element `f` of the result before it and of the element. */
  final def scan[B](zero: B)(f: (B, A) => B): Stream[B] =
    step(Step.Scan(zero, f.asInstanceOf[(Any, Any) => Any]))

  /** Pairs of elements, until one of the two streams ends. */
  final def zip[B](that: Stream[B]): Stream[(A, B)] =
    Stream.of(() => ZipStage(open(), that.open()))

  /** These elements, then those of `that`, which is made when these have ended. */
  final def ++[B >: A](that: => Stream[B]): Stream[B] = Concat(this, () => that)

  /** These elements; after an error, those of the stream that `f` makes of it. `f` is for every
    * error: for some of them there is `recoverWith`.
    *
    * **Fails** with what that stream or `f` throws. The error that `f` was given is suppressed
    * under what it throws.
    */
  final def handleErrorWith[B >: A](f: Throwable => Stream[B]): Stream[B] = Handled(this, f)

  /** These elements; after an error for which `f` has a case, those of the stream of that case.
    * **Fails** with any other error, as it is.
    */
  final def recoverWith[B >: A](f: PartialFunction[Throwable, Stream[B]]): Stream[B] =
    handleErrorWith(error => f.applyOrElse(error, Stream.fail))

  /** These elements; after an error for which `f` has a case, the value of that. **Fails** with
    * any other error, as it is.
    */
  final def recover[B >: A](f: PartialFunction[Throwable, B]): Stream[B] =
    handleErrorWith(e => f.andThen[Stream[B]](b => Stream.emit(b)).applyOrElse(e, Stream.fail))

  /** The same elements; `finalizer` runs once when the stream is over, however it ends. */
  final def onFinalize(finalizer: Task[Unit]): Stream[A] = Finalized(this, finalizer)

  /** The values of `f` for the elements for which it is defined.
    *
    * {{{
    * val numbers: Stream[Int] =
    *   Stream.linesOf(path).map(_.toIntOption).collect { case Some(number) => number }
    * }}}
    */
  final def collect[B](f: PartialFunction[A, B]): Stream[B] =
    step(Step.Collect(f.asInstanceOf[PartialFunction[Any, Any]]))

  /** The elements of the collections that `f` makes of each element, one after the other. Looks for
    * a cancel before each.
    *
    * {{{
    * val words: Stream[String] = Stream.linesOf(path).mapConcat(line => line.split(' '))
    * }}}
    */
  final def mapConcat[B](f: A => IterableOnce[B]): Stream[B] = step(
    Step.MapConcat(Stream.erased(f))
  )

  /** Pairs of each element and how many came before it. */
  final def zipWithIndex: Stream[(A, Long)] = step(Step.ZipWithIndex())

  /** The elements up to the first for which `keep` is false, and that one. */
  final def takeThrough(keep: A => Boolean): Stream[A] = step(Step.TakeThrough(Stream.erased(keep)))

  /** The elements from the first for which `drop` is false. */
  final def dropWhile(drop: A => Boolean): Stream[A] = step(Step.DropWhile(Stream.erased(drop)))

  /** The results of `f`, which is called with a state, at first `zero`, and each element, and
    * returns the next state and the result.
    *
    * {{{
    * val offsets: Stream[Long] =
    *   Stream.linesOf(path).mapAccumulate(0L)((at, line) => (at + line.length, at))
    * }}}
    */
  final def mapAccumulate[S, B](zero: S)(f: (S, A) => (S, B)): Stream[B] =
    step(Step.MapAccumulate(zero, f.asInstanceOf[(Any, Any) => (Any, Any)]))

  /** The elements that are not equal to the one before. */
  final def changes: Stream[A] = step(Step.Changes())

  // ---- concurrently ----

  /** The same elements, made ahead by a fiber of their own, the producer. At most `size` elements
    * are made and not used, and one more while the producer waits for room. It is woken when a
    * quarter of the room is free again. When the consumer asks for no more, the producer is
    * cancelled.
    *
    * **Order**: kept; an error comes after the elements before it.
    */
  final def prefetchN(size: Int): Stream[A] =
    require(size >= 1, s"Stream.prefetchN: the size was $size. It must be at least 1.")
    Stream.of(() => PrefetchStage.elements(open(), size))

  /** As `prefetchN`, with room for `limitBytes` instead of a number of elements. An element takes
    * the room that `sizeBytes` returns for it, but at least one byte. An element larger than the
    * limit is buffered alone.
    */
  final def prefetchBytes(limitBytes: Long)(sizeBytes: A => Int): Stream[A] =
    require(
      limitBytes >= 1,
      s"Stream.prefetchBytes: the limit was $limitBytes. It must be at least 1."
    )
    Stream.of(() => PrefetchStage.bytes(open(), limitBytes, Stream.erased(sizeBytes)))

  /** The same elements, made ahead by a fiber of their own, the producer. It makes one element
    * while the consumer uses the one before it, and begins with an element only when the one before
    * it has been taken. `take` requests no further element than it returns.
    *
    * **Order**: as with `prefetchN`.
    */
  final def prefetchStrict: Stream[A] = Stream.of(() => PrefetchStrictStage(open()))

  /** The elements of both streams as they come. **Fails** as soon as one of them does; the other is
    * then cancelled.
    */
  final def merge[B >: A](that: Stream[B]): Stream[B] =
    Stream.fromIterable[Stream[B]](List(this, that)).parJoin(2)

  /** The elements of these streams as they come, of at most `limit` streams at a time; up to 64
    * elements are buffered. **Fails** as soon as one of them does; the others are then cancelled.
    */
  final def parJoin[B](limit: Int)(using elements: A <:< Stream[B]): Stream[B] =
    require(limit >= 1, s"Stream.parJoin: the limit was $limit. It must be at least 1.")
    Stream.of(() => ParJoinStage(open(), limit))

  /** The values of the tasks that `f` makes of the elements, at most `parallelism` running at a
    * time.
    *
    * **Fails** with the first error, which cancels the other tasks. **Order**: that of the
    * elements. A task that takes long does not stop those of later elements, until `buffer` of them
    * have finished and wait for it.
    */
  final def parEvalMap[B](parallelism: Int, buffer: Int = 64)(f: A => Task[B]): Stream[B] =
    parMap(parallelism, buffer, f, ordered = true, "parEvalMap")

  /** As `parEvalMap`. **Order**: that in which the tasks end. */
  final def parEvalMapUnordered[B](parallelism: Int, buffer: Int = 64)(
      f: A => Task[B]
  ): Stream[B] =
    parMap(parallelism, buffer, f, ordered = false, "parEvalMapUnordered")

  private def parMap[B](
      parallelism: Int,
      buffer: Int,
      f: A => Task[B],
      ordered: Boolean,
      name: String
  ): Stream[B] =
    require(
      parallelism >= 1 && buffer >= 0,
      s"Stream.$name: the parallelism was $parallelism and the buffer $buffer. " +
        "They must be at least 1 and 0."
    )
    Stream.of(() => ParEvalMapStage(open(), parallelism, buffer, Stream.erased(f), ordered))

  // ---- as a task ----

  /** Nothing, once the stream has ended. */
  final def drain: Task[Unit] = RunStream(this, Step.Drain())

  /** All elements. */
  final def toList: Task[List[A]] = RunStream(this, Step.ToList())

  /** The last result of `f`, which is called with the result before, at first `zero`, and each
    * element.
    */
  final def fold[B](zero: B)(f: (B, A) => B): Task[B] =
    RunStream(this, Step.Fold(zero, f.asInstanceOf[(Any, Any) => Any]))

  /** Calls `f` for each element, as the code of the enclosing `Task.direct`: `f` may `await`. When
    * this has returned or thrown, the stream's finalizers have run.
    */
  final def foreach(f: A => Unit)(using
      @implicitNotFound(
        "`for x <- stream do ...` runs the stream at once, which only the code of a Task.direct " +
          "can: `Task.direct { for x <- stream do ... }`. In a method that is called from one, " +
          "take it as a parameter: `(using Task.Direct)`. Elsewhere use " +
          "`stream.evalMap(x => task).drain`, which is a task."
      ) direct: Task.Direct
  ): Unit = RunStream.foreach(this, f, direct)

  /** How many elements there are. */
  final def count: Task[Long] = RunStream(this, Step.Count())

object Stream:
  private def of[A](make: () => Pull): Stream[A] = new Stream[A]:
    private[weir] def open(): Pull = make()

  private def erased[A, B](f: A => B): Any => B = f.asInstanceOf[Any => B]

  /** No elements. */
  val empty: Stream[Nothing] = of(() => EmptySource)

  /** One element. */
  def emit[A](value: A): Stream[A] = of(() => EmitSource(value))

  /** The elements of `items`. */
  def fromIterable[A](items: Iterable[A]): Stream[A] = Iterated(items)

  /** The elements of the iterator that `iterator` makes each time the stream runs. Its `next` may
    * block.
    */
  def fromIterator[A](iterator: => Iterator[A]): Stream[A] =
    of(() => IteratorSource(() => iterator, isStrict = false, classOf[Iterator[?]]))

  /** The same as `fromIterable`. */
  def emits[A](items: Iterable[A]): Stream[A] = fromIterable(items)

  /** The elements of the source that `open` returns each time the stream runs. `open` is run when
    * the first element is asked for, and the source is closed once, when the stream is over,
    * however it ends. `Source` has an example.
    *
    * **Waits** where the source does: it may block. **Cancelled** while the source waits, and
    * between elements; `open` and `Source.close` are masked, so what takes long to open is better
    * opened by the first `Source.next`. **Fails** with what `open`, `next` or `close` throws; after
    * an error of `open` there is nothing to close.
    */
  def fromSource[A](open: Task[Source[A]]): Stream[A] = of(() => SourcePull(open))

  /** The bytes of a file, in blocks of `blockBytes`, of which the last one may be smaller; of a
    * pipe, what each read has returned. Each block is an array of its own, which the consumer may
    * keep. The file is opened when the stream runs, and closed when it is over.
    *
    * **Cancelled** also while it reads; not while it opens the file, which takes long only for a
    * pipe without a writer.
    */
  def fromPath(path: Path, blockBytes: Int = 65536): Stream[Array[Byte]] =
    blocks("fromPath", blockBytes)(ByteInput.ofPath(path))

  /** The bytes of the input that `open` returns each time the stream runs, as `fromPath`. It is
    * closed once.
    *
    * **Cancelled** while it reads: interrupts the read, and closes the input. A cancel waits for a
    * read that neither of them ends, such as one of `System.in`: pass
    * `FileInputStream(FileDescriptor.in)` instead. `open` is masked.
    */
  def fromInputStream(open: => InputStream, blockBytes: Int = 65536): Stream[Array[Byte]] =
    blocks("fromInputStream", blockBytes)(ByteInput.of(open))

  private def blocks(name: String, blockBytes: Int)(open: => ByteInput): Stream[Array[Byte]] =
    require(
      blockBytes >= 1,
      s"Stream.$name: the size of a block was $blockBytes. It must be at least 1."
    )
    of(() => BlockSource(() => open, blockBytes))

  /** The lines of a file, without the `\n`, `\r` or both that end them.
    *
    * **Cancelled** as `fromPath`. **Fails** with an `IOException` that names the line where the
    * bytes are not of this charset, after the lines before that one.
    */
  def linesOf(path: Path, charset: Charset = StandardCharsets.UTF_8): Stream[String] =
    of(() => LinesStage(fromPath(path).open(), charset, s"Stream.linesOf: $path"))

  /** The elements that `f` makes of the state, at first `zero`, until it returns none. */
  def unfold[S, A](zero: S)(f: S => Option[(A, S)]): Stream[A] = of(() => UnfoldSource(zero, f))

  /** One element, the value of `task`. */
  def eval[A](task: Task[A]): Stream[A] = of(() => EvalSource(task))

  /** The values of `task`, run again and again. */
  def repeatEval[A](task: Task[A]): Stream[A] = of(() => RepeatEvalSource(task))

  /** One element, the value of `acquire`; `release` of it runs once, when the stream is over,
    * however it ends. Both are masked.
    */
  def bracket[A](acquire: Task[A])(release: A => Task[Unit]): Stream[A] =
    resource(Resource.make(acquire)(release))

  /** One element, the resource, which is released once, when the stream is over. Its finalizers get
    * the outcome of the stream: it has succeeded also where the consumer asks for no more elements.
    */
  def resource[A](resource: Resource[A]): Stream[A] = of(() => ResourceSource(resource))

  /** No elements, and no end. */
  val never: Stream[Nothing] = eval(Task.never)

  /** Fails with `error`. */
  def fail(error: Throwable): Stream[Nothing] = eval(Task.fail(error))
