package weir.japi

import java.nio.file.Path
import java.time.Duration
import java.util.concurrent.Flow
import java.util.function.{BiFunction, Consumer, Function, Predicate, Supplier, ToLongFunction}
import java.util.{Iterator as JavaIterator, List as JavaList, Optional}
import java.util.{Spliterator, Spliterators}
import java.util.stream.{Stream as JavaStream, StreamSupport}
import scala.annotation.varargs
import scala.jdk.CollectionConverters.*
import scala.jdk.OptionConverters.*
import weir.Stream as ScalaStream

/** A description of a sequence of elements and of the effects that produce them: `weir.Stream` for
  * Java, with types of the JDK. All operators are in the Scala API: `asScala` and `from` convert to
  * it and back.
  *
  * A stream is run by a task (`toList`, `forEach`, `fold`). It may be run any number of times. It
  * runs in constant memory: an element is made when it is asked for. The finalizers of the stream
  * run once: when it ends, fails or is cancelled, or when the consumer asks for no more elements.
  */
final class Stream[A] private (underlying: ScalaStream[A]):
  import Stream.from

  // ---- on one fiber ----

  /** Applies `f` to each element and emits the results. */
  def map[B](f: Function[? >: A, ? <: B]): Stream[B] = from(underlying.map(a => f(a)))

  /** Emits the elements for which `keep` is true. */
  def filter(keep: Predicate[? >: A]): Stream[A] = from(underlying.filter(a => keep.test(a)))

  /** Applies `f` to each element and emits the elements of the resulting streams, one stream after
    * the other.
    */
  def flatMap[B](f: Function[? >: A, Stream[B]]): Stream[B] =
    from(underlying.flatMap(a => f(a).asScala))

  /** Applies `f` to each element and emits the elements of the resulting collections. */
  def mapConcat[B](f: Function[? >: A, ? <: java.lang.Iterable[? <: B]]): Stream[B] =
    from(underlying.mapConcat(a => f(a).asInstanceOf[java.lang.Iterable[B]].asScala))

  /** Runs the task that `f` returns for each element and emits its value. The tasks run one after
    * the other.
    */
  def evalMap[B](f: Function[? >: A, Task[B]]): Stream[B] =
    from(underlying.evalMap(a => f(a).asScala))

  /** Runs the task that `f` returns for each element, then emits the element. */
  def evalTap(f: Function[? >: A, Task[?]]): Stream[A] =
    from(underlying.evalTap(a => f(a).asScala))

  /** Applies `f` to a resource and each element, and emits the results. The resource is acquired
    * once, when the first element has arrived, and released once, when the stream is over.
    */
  def mapWithResource[R, B](
      resource: Resource[R],
      f: BiFunction[? >: R, ? >: A, ? <: B]
  ): Stream[B] = from(underlying.mapWithResource(resource.asScala)((r, a) => f(r, a)))

  /** Emits the first `count` elements, then ends. */
  def take(count: Long): Stream[A] = from(underlying.take(count))

  /** Emits all elements except the first `count`. */
  def drop(count: Long): Stream[A] = from(underlying.drop(count))

  /** Emits elements as long as `keep` is true for them. Ends before the first element for which it
    * is false.
    */
  def takeWhile(keep: Predicate[? >: A]): Stream[A] = from(underlying.takeWhile(a => keep.test(a)))

  /** Emits the elements in lists of `size`. The last list may be smaller. */
  def chunkN(size: Int): Stream[JavaList[A]] = from(underlying.chunkN(size).map(_.asJava))

  /** Emits `zero`, then for each element the result of `f`. `f` is called with the result before
    * and the element.
    */
  def scan[B](zero: B, f: BiFunction[? >: B, ? >: A, ? <: B]): Stream[B] =
    from(underlying.scan(zero)((b, a) => f(b, a)))

  /** Applies `f` to pairs of one element of each stream, and emits the results. Ends when one of
    * the two streams ends.
    */
  def zipWith[B, C](that: Stream[B], f: BiFunction[? >: A, ? >: B, ? <: C]): Stream[C] =
    from(underlying.zipWith(that.asScala)((a, b) => f(a, b)))

  /** Emits the elements of this stream, then those of `that`. */
  def concat(that: Stream[A]): Stream[A] = from(underlying ++ that.asScala)

  /** Emits the elements of this stream. After an error, continues with the stream that `f` returns
    * for the error.
    */
  def handleErrorWith(f: Function[? >: Throwable, Stream[A]]): Stream[A] =
    from(underlying.handleErrorWith(e => f(e).asScala))

  /** Emits the elements of this stream. After an error, runs the stream anew after the delay that
    * `schedule` gives.
    */
  def retry(schedule: Schedule): Stream[A] = from(underlying.retry(schedule.underlying))

  /** Emits the same elements, and runs `finalizer` once when the stream is over, however it ends.
    */
  def onFinalize(finalizer: Task[?]): Stream[A] =
    from(underlying.onFinalize(finalizer.asScala.void))

  // ---- on fibers of their own ----

  /** Runs the task that `f` returns for each element and emits its value, in the order of the
    * elements. At most `parallelism` tasks run at a time. **Fails** with the first error, which
    * cancels the others.
    */
  def parEvalMap[B](parallelism: Int, f: Function[? >: A, Task[B]]): Stream[B] =
    from(underlying.parEvalMap(parallelism)(a => f(a).asScala))

  /** As `parEvalMap`, but in the order in which the tasks end. */
  def parEvalMapUnordered[B](parallelism: Int, f: Function[? >: A, Task[B]]): Stream[B] =
    from(underlying.parEvalMapUnordered(parallelism)(a => f(a).asScala))

  /** Emits the elements of this stream and of `that` as they arrive. */
  def merge(that: Stream[A]): Stream[A] = from(underlying.merge(that.asScala))

  /** Emits the same elements. A separate fiber makes up to `size` of them ahead of the consumer.
    */
  def prefetchN(size: Int): Stream[A] = from(underlying.prefetchN(size))

  /** Emits the elements in lists. A list is complete when it has `size` elements, or when `time`
    * has passed since its first one.
    */
  def groupWithin(size: Int, time: Duration): Stream[JavaList[A]] =
    from(underlying.groupWithin(size, Durations.of(time)).map(_.asJava))

  /** Emits the elements in lists whose weights add up to at most `limit`. A list is complete when
    * its weights add up to `limit`, when the next element does not fit into it, or when `time` has
    * passed since its first one. An element that is heavier than `limit` is in a separate list.
    * **Fails** with an `IllegalArgumentException` if a weight is less than 0.
    */
  def groupWeightedWithin(
      limit: Long,
      time: Duration,
      weight: ToLongFunction[? >: A]
  ): Stream[JavaList[A]] = from(
    underlying
      .groupWeightedWithin(limit, Durations.of(time))(a => weight.applyAsLong(a))
      .map(_.asJava)
  )

  /** Emits the same elements, at least `interval` apart. */
  def metered(interval: Duration): Stream[A] = from(underlying.metered(Durations.of(interval)))

  /** Emits the same elements, after a pause of `duration` before the first is asked for. */
  def delayBy(duration: Duration): Stream[A] = from(underlying.delayBy(Durations.of(duration)))

  /** Emits the same elements. **Fails** with a `java.util.concurrent.TimeoutException` if the
    * stream has not ended within `total` of the first element that was asked for.
    */
  def timeout(total: Duration): Stream[A] = from(underlying.timeout(Durations.of(total)))

  /** Emits elements until `task` has ended. */
  def interruptWhen(task: Task[?]): Stream[A] = from(underlying.interruptWhen(task.asScala))

  // ---- running ----

  /** Runs the stream and returns all elements. */
  def toList(): Task[JavaList[A]] = Task(underlying.toVector.map(_.asJava))

  /** Runs the stream to its end and drops its elements. */
  def drain(): Task[Void] = Task(underlying.drain.as(null.asInstanceOf[Void]))

  /** Runs the stream and calls `f` with each element. */
  def forEach(f: Consumer[? >: A]): Task[Void] = from(underlying.map(a => f.accept(a))).drain()

  /** Runs the stream, calls `f` with the result so far and each element, and returns the last
    * result. The first result is `zero`.
    */
  def fold[B](zero: B, f: BiFunction[? >: B, ? >: A, ? <: B]): Task[B] =
    Task(underlying.fold(zero)((b, a) => f(b, a)))

  /** Runs the stream and returns the number of elements. */
  def count(): Task[java.lang.Long] = Task(underlying.count.map(Long.box))

  /** Returns the first element, or an empty `Optional` if there is none. Asks the stream for no
    * more than that. **Fails** with a `NullPointerException` if it is null.
    */
  def head(): Task[Optional[A]] = Task(underlying.head.map(_.map(a => a.nn).toJava))

  // ---- to other streams ----

  /** Returns a publisher, which runs the stream anew for each subscriber. */
  def toPublisher(): Flow.Publisher[A] = underlying.toPublisher[A]

  /** As `toPublisher`, until the use of the resource ends. The release cancels the runs that have
    * not ended, without waiting for their finalizers. Their subscribers, and those that come later,
    * get an `IllegalStateException`.
    *
    * It is for subscribers that may leave a run without a cancel, as the JDK's HTTP client does if
    * a server answers before it has read the whole body of a request.
    */
  def toPublisherResource(): Resource[Flow.Publisher[A]] =
    Resource.from(underlying.toPublisherResource[A])

  /** Returns a stream of the JDK. Its elements are made as they are asked for, on the thread that
    * asks, which is blocked meanwhile. It must be closed: use try-with-resources. The error of this
    * stream is thrown unchanged.
    */
  def toJavaStream(): JavaStream[A] =
    val (iterator, release) = underlying.toIterator.allocated.runSync()
    val items = Spliterators.spliteratorUnknownSize(iterator.asJava, Spliterator.ORDERED)
    StreamSupport.stream(items, false).nn.onClose(() => release.runSync())

  /** Returns the stream of Weir's Scala API. */
  def asScala: ScalaStream[A] = underlying

object Stream:
  /** Returns a stream for Java from one of Weir's Scala API. */
  def from[A](stream: ScalaStream[A]): Stream[A] = new Stream(stream)

  /** Emits the elements of `items`. */
  @varargs
  def of[A](items: A*): Stream[A] = from(ScalaStream.fromIterable(items))

  /** Emits no elements and ends. */
  def empty[A](): Stream[A] = from(ScalaStream.empty)

  /** Emits no elements and fails with `error`. */
  def fail[A](error: Throwable): Stream[A] = from(ScalaStream.fail(error))

  /** Emits the elements of `items`. */
  def fromIterable[A](items: java.lang.Iterable[? <: A]): Stream[A] =
    fromIterator[A](() => items.iterator.asInstanceOf[JavaIterator[A]])

  /** Emits the elements of the iterator that `iterator` returns each time the stream runs. The
    * iterator's `next` may block.
    */
  def fromIterator[A](iterator: Supplier[? <: JavaIterator[? <: A]]): Stream[A] =
    from(ScalaStream.fromIterator(iterator.get().asInstanceOf[JavaIterator[A]].asScala))

  /** Emits the elements of the JDK's stream that `open` returns each time this stream runs. The
    * JDK's stream is closed once.
    */
  def fromJavaStream[A](open: Supplier[? <: JavaStream[? <: A]]): Stream[A] =
    from(ScalaStream.fromJavaStream[A](open.get()))

  /** Emits the elements of `publisher`. Subscribes each time the stream runs. The elements that are
    * buffered and those that are requested are at most `buffer` together.
    */
  def fromPublisher[A](publisher: Flow.Publisher[? <: A], buffer: Int): Stream[A] =
    from(ScalaStream.fromPublisher(publisher, buffer))

  /** Returns a processor for one subscriber, which passes the elements that it receives through
    * `pipe`.
    */
  def processor[A, B](pipe: Function[Stream[A], Stream[B]], buffer: Int): Flow.Processor[A, B] =
    ScalaStream.processor[A, B](elements => pipe(from(elements)).asScala, buffer)

  /** Emits the numbers from `from` on, before `until`. */
  def range(from: Int, until: Int): Stream[Integer] =
    Stream.from(ScalaStream.range(from, until).map(Int.box))

  /** Runs `task` and emits its value. */
  def eval[A](task: Task[A]): Stream[A] = from(ScalaStream.eval(task.asScala))

  /** Runs `task` again and again, and emits its values. Never ends by itself. */
  def repeatEval[A](task: Task[A]): Stream[A] = from(ScalaStream.repeatEval(task.asScala))

  /** Runs `task` again and again, and emits its values. Ends when it returns an empty `Optional`.
    */
  def repeatEvalOptional[A](task: Task[Optional[A]]): Stream[A] =
    from(ScalaStream.repeatEvalOption(task.asScala.map(_.toScala)))

  /** Acquires the resource and emits its value. Releases it once, when the stream is over. */
  def resource[A](resource: Resource[A]): Stream[A] = from(ScalaStream.resource(resource.asScala))

  /** Emits the lines of a file in UTF-8. */
  def linesOf(path: Path): Stream[String] = from(ScalaStream.linesOf(path))

  /** Emits the bytes of a file, in blocks. */
  def fromPath(path: Path): Stream[Array[Byte]] = from(ScalaStream.fromPath(path))

  /** Emits the time since the beginning at each `interval`. Never ends by itself. */
  def awakeEvery(interval: Duration): Stream[Duration] =
    from(ScalaStream.awakeEvery(Durations.of(interval)).map(t => Duration.ofNanos(t.toNanos)))
