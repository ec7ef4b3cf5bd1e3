package weir

import java.io.InputStream
import java.nio.charset.{Charset, StandardCharsets}
import java.nio.file.Path
import scala.annotation.implicitNotFound
import weir.stream.*

/** A description of elements that come one after the other, and of the effects that make them.
  *
  * Running it is a task (`drain`, `toList`, `fold`, `count`); inside of that it is a plain loop on one fiber, but for
  * the stages that say that they run concurrently. Its finalizers run once, when the stream has ended, failed, been
  * cancelled, or when nobody wants more of it. Every size counts elements.
  */
abstract class Stream[+A] private[weir] ():

  private[weir] def open(): Pull

  // ---- on one fiber ----

  /** `f` of each element. */
  final def map[B](f: A => B): Stream[B] = Stream.of(() => MapStage(open(), Stream.erased(f)))

  /** The elements for which `keep` is true. */
  final def filter(keep: A => Boolean): Stream[A] =
    Stream.of(() => FilterStage(open(), Stream.erased(keep)))

  /** What the compiler makes of an `if` in a `for`: the same as `filter`. */
  final def withFilter(keep: A => Boolean): Stream[A] = filter(keep)

  /** The elements of the streams that `f` makes of each element, one stream after the other. */
  final def flatMap[B](f: A => Stream[B]): Stream[B] = FlatMapped(this, f)

  /** The values of the tasks that `f` makes of each element, run one after the other. */
  final def evalMap[B](f: A => Task[B]): Stream[B] =
    Stream.of(() => EvalMapStage(open(), Stream.erased(f)))

  /** The same elements, each once the task that `f` makes of it has run. */
  final def evalTap(f: A => Task[Any]): Stream[A] = evalMap(a => f(a).as(a))

  /** The first `count` elements. What is above does no work for a further one. */
  final def take(count: Long): Stream[A] = Stream.of(() => TakeStage(open(), count))

  /** All but the first `count` elements. */
  final def drop(count: Long): Stream[A] = Stream.of(() => DropStage(open(), count))

  /** The elements before the first for which `keep` is false. */
  final def takeWhile(keep: A => Boolean): Stream[A] =
    Stream.of(() => TakeWhileStage(open(), Stream.erased(keep)))

  /** The elements in groups of `size`; the last group may be smaller, and is never empty. */
  final def chunkN(size: Int): Stream[Vector[A]] =
    require(size >= 1, s"Stream.chunkN: the size was $size. It must be at least 1.")
    Stream.of(() => ChunkStage(open(), size))

  /** `zero`, then `f` of what came before and of each element. */
  final def scan[B](zero: B)(f: (B, A) => B): Stream[B] =
    Stream.of(() => ScanStage(open(), zero, f.asInstanceOf[(Any, Any) => Any]))

  /** Pairs of elements, until one of the two streams ends. */
  final def zip[B](that: Stream[B]): Stream[(A, B)] =
    Stream.of(() => ZipStage(open(), that.open()))

  /** These elements, then those of `that`, which is made when these have ended. */
  final def ++[B >: A](that: => Stream[B]): Stream[B] = Concat(this, () => that)

  /** These elements; after an error, those of the stream that `f` makes of it. `f` is for every
    * error: for some of them there is `recoverWith`.
    *
    * '''Fails''' with what that stream or `f` throws. The error that `f` was given is suppressed
    * under what it throws.
    */
  final def handleErrorWith[B >: A](f: Throwable => Stream[B]): Stream[B] = Handled(this, f)

  /** These elements; after an error for which `f` has a case, those of the stream of that case.
    * '''Fails''' with any other error, as it is.
    */
  final def recoverWith[B >: A](f: PartialFunction[Throwable, Stream[B]]): Stream[B] =
    handleErrorWith(error => f.applyOrElse(error, Stream.fail))

  /** These elements; after an error for which `f` has a case, the value of that. '''Fails''' with
    * any other error, as it is.
    */
  final def recover[B >: A](f: PartialFunction[Throwable, B]): Stream[B] =
    handleErrorWith(e => f.andThen[Stream[B]](b => Stream.emit(b)).applyOrElse(e, Stream.fail))

  /** The same elements; `finalizer` runs once when the stream is over, however it ends. */
  final def onFinalize(finalizer: Task[Unit]): Stream[A] = Finalized(this, finalizer)

  // ---- concurrently ----

  /** The same elements, made on a fiber of its own: up to `size` are waiting, and one more is in its hand. The fiber is woken
    * when a quarter of them is used.
    *
    * '''Order''': kept; an error comes after the elements before it. A consumer that goes away stops the fiber.
    */
  final def prefetchN(size: Int): Stream[A] =
    require(size >= 1, s"Stream.prefetchN: the size was $size. It must be at least 1.")
    Stream.of(() => PrefetchStage.elements(open(), size))

  /** As `prefetchN`, with room for `limitBytes` instead of a number of elements: each takes up the bytes that `sizeBytes` says of
    * it, at least one. An element larger than the limit waits alone. The fiber is woken when a quarter of the room is
    * free again.
    */
  final def prefetchBytes(limitBytes: Long)(sizeBytes: A => Int): Stream[A] =
    require(
      limitBytes >= 1,
      s"Stream.prefetchBytes: the limit was $limitBytes. It must be at least 1."
    )
    Stream.of(() => PrefetchStage.bytes(open(), limitBytes, Stream.erased(sizeBytes)))

  /** The same elements, made on a fiber of its own, which begins with one only when the one before it has been taken: it makes
    * the next element while one is used, and never waits with one in its hand that has not been asked for. `take` asks for
    * no further one.
    *
    * '''Order''': as with `prefetchN`.
    */
  final def prefetchStrict: Stream[A] = Stream.of(() => PrefetchStrictStage(open()))

  /** The elements of both as they come. '''Fails''' as soon as one does; the other is then cancelled. */
  final def merge[B >: A](that: Stream[B]): Stream[B] =
    Stream.fromIterable[Stream[B]](List(this, that)).parJoin(2)

  /** The elements of these streams as they come, of at most `limit` streams at a time; up to 64 elements wait.
    * '''Fails''' as soon as one does; the others are then cancelled.
    */
  final def parJoin[B](limit: Int)(using elements: A <:< Stream[B]): Stream[B] =
    require(limit >= 1, s"Stream.parJoin: the limit was $limit. It must be at least 1.")
    Stream.of(() => ParJoinStage(open(), limit))

  /** The values of the tasks that `f` makes of the elements, at most `parallelism` running at a time.
    *
    * '''Order''': that of the elements. An element that takes long does not stop those after it, until `buffer` of them
    * wait finished. '''Fails''' with the first error, which cancels the other tasks.
    */
  final def parEvalMap[B](parallelism: Int, buffer: Int = 64)(f: A => Task[B]): Stream[B] =
    parMap(parallelism, buffer, f, ordered = true, "parEvalMap")

  /** As `parEvalMap`. '''Order''': that in which the tasks end. */
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
  final def drain: Task[Unit] = fold(())((_, _) => ())

  /** All elements. */
  final def toList: Task[List[A]] = Compile.toList(this)

  /** `f` of what came before, at first `zero`, and of each element: the last of these. */
  final def fold[B](zero: B)(f: (B, A) => B): Task[B] = Compile.fold(this, zero, f)

  /** Calls `f` for each element, as the code of the enclosing `Task.direct`: `f` may `await`. Once this has returned, or
    * `f` has left it in any way, the stream's finalizers have run.
    */
  final def foreach(f: A => Unit)(using
      @implicitNotFound(
        "`for x <- stream do ...` runs the stream at once, which only the code of a Task.direct can: " +
          "`Task.direct { for x <- stream do ... }`. In a method that is called from one, take it as a parameter: " +
          "`(using Task.Direct)`. Elsewhere use `stream.evalMap(x => task).drain`, which is a task."
      ) direct: Task.Direct
  ): Unit = direct.foreach(this)(f)

  /** How many elements there are. */
  final def count: Task[Long] = fold(0L)((n, _) => n + 1)

object Stream:
  private def of[A](make: () => Pull): Stream[A] = new Stream[A]:
    private[weir] def open(): Pull = make()

  private def erased[A, B](f: A => B): Any => B = f.asInstanceOf[Any => B]

  /** No elements. */
  val empty: Stream[Nothing] = of(() => EmptySource)

  /** One element. */
  def emit[A](value: A): Stream[A] = of(() => EmitSource(value))

  /** The elements of `items`. */
  def fromIterable[A](items: Iterable[A]): Stream[A] =
    of(() => IteratorSource(() => items.iterator, IteratorSource.isStrict(items)))

  /** The elements of the iterator that `iterator` makes each time the stream runs. Its `next` may block. */
  def fromIterator[A](iterator: => Iterator[A]): Stream[A] =
    of(() => IteratorSource(() => iterator, isStrict = false))

  /** The same as `fromIterable`. */
  def emits[A](items: Iterable[A]): Stream[A] = fromIterable(items)

  /** The bytes of a file, in blocks of `blockBytes`, the last of which is smaller; of a pipe, what each read has given. Each is an
    * array of its own, for the consumer to keep. The file is opened when the stream runs, and closed when it is over.
    *
    * '''Cancelled''' also while it reads; not while it opens the file, which takes long only for a pipe that nobody writes to.
    */
  def fromPath(path: Path, blockBytes: Int = 65536): Stream[Array[Byte]] =
    blocks("fromPath", blockBytes)(ByteInput.ofPath(path))

  /** The bytes of the input that `open` returns each time the stream runs, as `fromPath`. It is closed once.
    *
    * '''Cancelled''' while it reads: interrupts the read, and closes the input. A read that ends with neither is waited for,
    * and such is that of `System.in`: give `FileInputStream(FileDescriptor.in)` instead. `open` is masked.
    */
  def fromInputStream(open: => InputStream, blockBytes: Int = 65536): Stream[Array[Byte]] =
    blocks("fromInputStream", blockBytes)(ByteInput.of(open))

  private def blocks(name: String, blockBytes: Int)(open: => ByteInput): Stream[Array[Byte]] =
    require(
      blockBytes >= 1,
      s"Stream.$name: the size of a block was $blockBytes. It must be at least 1."
    )
    of(() => BlockSource(() => open, blockBytes))

  /** The lines of a file, without the `\n`, `\r` or both that end them. '''Fails''' with an `IOException` that names the line where
    * the bytes are not of this charset, after the lines before that one. '''Cancelled''' as `fromPath`.
    */
  def linesOf(path: Path, charset: Charset = StandardCharsets.UTF_8): Stream[String] =
    of(() => LinesStage(fromPath(path).open(), charset, s"Stream.linesOf: $path"))

  /** The elements that `f` makes of the state, at first `zero`, until it returns none. */
  def unfold[S, A](zero: S)(f: S => Option[(A, S)]): Stream[A] = of(() => UnfoldSource(zero, f))

  /** One element, the value of `task`. */
  def eval[A](task: Task[A]): Stream[A] = of(() => EvalSource(task))

  /** The values of `task`, run again and again. */
  def repeatEval[A](task: Task[A]): Stream[A] = of(() => RepeatEvalSource(task))

  /** One element, the value of `acquire`; `release` of it runs once, when the stream is over, however it ends. Both are
    * masked.
    */
  def bracket[A](acquire: Task[A])(release: A => Task[Unit]): Stream[A] =
    resource(Resource.make(acquire)(release))

  /** One element, the resource, which is released once, when the stream is over. Its releases are told how that came: a stream
    * that ended, or of which nobody wanted more, has succeeded.
    */
  def resource[A](resource: Resource[A]): Stream[A] = of(() => ResourceSource(resource))

  /** No elements, and no end. */
  val never: Stream[Nothing] = eval(Task.never)

  /** Fails with `error`. */
  def fail(error: Throwable): Stream[Nothing] = eval(Task.fail(error))
