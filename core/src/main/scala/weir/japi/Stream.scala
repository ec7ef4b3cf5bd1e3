package weir.japi

import java.nio.file.Path
import java.time.Duration
import java.util.concurrent.Flow
import java.util.function.{BiFunction, Consumer, Function, Predicate, Supplier}
import java.util.{Iterator as JavaIterator, List as JavaList, Optional}
import java.util.{Spliterator, Spliterators}
import java.util.stream.{Stream as JavaStream, StreamSupport}
import scala.annotation.varargs
import scala.jdk.CollectionConverters.*
import scala.jdk.OptionConverters.*
import weir.Stream as ScalaStream

/** A description of elements that come one after the other, and of the effects that make them:
  * `weir.Stream` for Java, with types of the JDK. All operators are in the Scala API: `asScala` and
  * `from` go there and back.
  *
  * Running it is a task (`toList`, `forEach`, `fold`). It may be run any number of times. It runs
  * in constant memory: an element is made when it is asked for. The finalizers of the stream run
  * once: when it has ended, failed or been cancelled, or when the consumer asks for no more.
  */
final class Stream[A] private (underlying: ScalaStream[A]):
  import Stream.from

  // ---- on one fiber ----

  /** `f` of each element. */
  def map[B](f: Function[? >: A, ? <: B]): Stream[B] = from(underlying.map(a => f(a)))

  /** The elements for which `keep` is true. */
  def filter(keep: Predicate[? >: A]): Stream[A] = from(underlying.filter(a => keep.test(a)))

  /** The elements of the streams that `f` makes of each element, one stream after the other. */
  def flatMap[B](f: Function[? >: A, Stream[B]]): Stream[B] =
    from(underlying.flatMap(a => f(a).asScala))

  /** The elements of the collections that `f` makes of each element. */
  def mapConcat[B](f: Function[? >: A, ? <: java.lang.Iterable[? <: B]]): Stream[B] =
    from(underlying.mapConcat(a => f(a).asInstanceOf[java.lang.Iterable[B]].asScala))

  /** The values of the tasks that `f` makes of each element, run one after the other. */
  def evalMap[B](f: Function[? >: A, Task[B]]): Stream[B] =
    from(underlying.evalMap(a => f(a).asScala))

  /** The same elements, each once the task that `f` makes of it has run. */
  def evalTap(f: Function[? >: A, Task[?]]): Stream[A] =
    from(underlying.evalTap(a => f(a).asScala))

  /** The values of `f` for a resource and each element. The resource is acquired once, when the
    * first element has come, and released once, when the stream is over.
    */
  def mapWithResource[R, B](
      resource: Resource[R],
      f: BiFunction[? >: R, ? >: A, ? <: B]
  ): Stream[B] = from(underlying.mapWithResource(resource.asScala)((r, a) => f(r, a)))

  /** The first `count` elements. */
  def take(count: Long): Stream[A] = from(underlying.take(count))

  /** All but the first `count` elements. */
  def drop(count: Long): Stream[A] = from(underlying.drop(count))

  /** The elements before the first for which `keep` is false. */
  def takeWhile(keep: Predicate[? >: A]): Stream[A] = from(underlying.takeWhile(a => keep.test(a)))

  /** The elements in lists of `size`; the last may be smaller. */
  def chunkN(size: Int): Stream[JavaList[A]] = from(underlying.chunkN(size).map(_.asJava))

  /** `zero`, then for each element `f` of the result before it and of the element. */
  def scan[B](zero: B, f: BiFunction[? >: B, ? >: A, ? <: B]): Stream[B] =
    from(underlying.scan(zero)((b, a) => f(b, a)))

  /** `f` of pairs of elements, until one of the two streams ends. */
  def zipWith[B, C](that: Stream[B], f: BiFunction[? >: A, ? >: B, ? <: C]): Stream[C] =
    from(underlying.zipWith(that.asScala)((a, b) => f(a, b)))

  /** These elements, then those of `that`. */
  def concat(that: Stream[A]): Stream[A] = from(underlying ++ that.asScala)

  /** These elements; after an error, those of the stream that `f` makes of it. */
  def handleErrorWith(f: Function[? >: Throwable, Stream[A]]): Stream[A] =
    from(underlying.handleErrorWith(e => f(e).asScala))

  /** These elements. After an error the stream begins anew, when `schedule` says. */
  def retry(schedule: Schedule): Stream[A] = from(underlying.retry(schedule.underlying))

  /** The same elements; `finalizer` runs once when the stream is over, however it ends. */
  def onFinalize(finalizer: Task[?]): Stream[A] =
    from(underlying.onFinalize(finalizer.asScala.void))

  // ---- on fibers of their own ----

  /** The values of the tasks that `f` makes of the elements, at most `parallelism` of them running,
    * in the order of the elements. **Fails** with the first error, which cancels the others.
    */
  def parEvalMap[B](parallelism: Int, f: Function[? >: A, Task[B]]): Stream[B] =
    from(underlying.parEvalMap(parallelism)(a => f(a).asScala))

  /** As `parEvalMap`, in the order in which the tasks end. */
  def parEvalMapUnordered[B](parallelism: Int, f: Function[? >: A, Task[B]]): Stream[B] =
    from(underlying.parEvalMapUnordered(parallelism)(a => f(a).asScala))

  /** These elements and those of `that`, as they come. */
  def merge(that: Stream[A]): Stream[A] = from(underlying.merge(that.asScala))

  /** The same elements, of which up to `size` are made ahead. */
  def prefetchN(size: Int): Stream[A] = from(underlying.prefetchN(size))

  /** The elements in lists: of `size`, or of what has come within `time`. */
  def groupWithin(size: Int, time: Duration): Stream[JavaList[A]] =
    from(underlying.groupWithin(size, Durations.of(time)).map(_.asJava))

  /** The same elements, at most one in each `interval`. */
  def metered(interval: Duration): Stream[A] = from(underlying.metered(Durations.of(interval)))

  /** The same elements, after a pause of `duration` before the first is asked for. */
  def delayBy(duration: Duration): Stream[A] = from(underlying.delayBy(Durations.of(duration)))

  /** The same elements. **Fails** with a `java.util.concurrent.TimeoutException` if the whole of it
    * takes longer than `total`.
    */
  def timeout(total: Duration): Stream[A] = from(underlying.timeout(Durations.of(total)))

  /** The elements until `task` has ended. */
  def interruptWhen(task: Task[?]): Stream[A] = from(underlying.interruptWhen(task.asScala))

  // ---- running ----

  /** All elements. */
  def toList(): Task[JavaList[A]] = Task(underlying.toVector.map(_.asJava))

  /** Nothing, once the stream has ended. */
  def drain(): Task[Void] = Task(underlying.drain.as(null.asInstanceOf[Void]))

  /** Nothing, once `f` has been called with each element. */
  def forEach(f: Consumer[? >: A]): Task[Void] = from(underlying.map(a => f.accept(a))).drain()

  /** `f` of all elements, from the left, with `zero` first. */
  def fold[B](zero: B, f: BiFunction[? >: B, ? >: A, ? <: B]): Task[B] =
    Task(underlying.fold(zero)((b, a) => f(b, a)))

  /** How many elements there are. */
  def count(): Task[java.lang.Long] = Task(underlying.count.map(Long.box))

  /** The first element. No more are made. **Fails** with a `NullPointerException` if it is null. */
  def head(): Task[Optional[A]] = Task(underlying.head.map(_.map(a => a.nn).toJava))

  // ---- to other streams ----

  /** A publisher, for each of whose subscribers the stream runs anew. */
  def toPublisher(): Flow.Publisher[A] = underlying.toPublisher[A]

  /** A stream of the JDK, whose elements are made as they are asked for, on the thread that asks,
    * which that blocks. It must be closed: use it in a try-with-resources. What the stream fails
    * with is thrown as it is.
    */
  def toJavaStream(): JavaStream[A] =
    val (iterator, release) = underlying.toIterator.allocated.runSync()
    val items = Spliterators.spliteratorUnknownSize(iterator.asJava, Spliterator.ORDERED)
    StreamSupport.stream(items, false).nn.onClose(() => release.runSync())

  /** The stream for Weir's Scala API. */
  def asScala: ScalaStream[A] = underlying

object Stream:
  /** A stream of Weir's Scala API. */
  def from[A](stream: ScalaStream[A]): Stream[A] = new Stream(stream)

  /** The elements of `items`. */
  @varargs
  def of[A](items: A*): Stream[A] = from(ScalaStream.fromIterable(items))

  /** No elements. */
  def empty[A](): Stream[A] = from(ScalaStream.empty)

  /** Fails with `error`. */
  def fail[A](error: Throwable): Stream[A] = from(ScalaStream.fail(error))

  /** The elements of `items`. */
  def fromIterable[A](items: java.lang.Iterable[? <: A]): Stream[A] =
    fromIterator[A](() => items.iterator.asInstanceOf[JavaIterator[A]])

  /** The elements of the iterator that `iterator` makes each time the stream runs. Its `next` may
    * block.
    */
  def fromIterator[A](iterator: Supplier[? <: JavaIterator[? <: A]]): Stream[A] =
    from(ScalaStream.fromIterator(iterator.get().asInstanceOf[JavaIterator[A]].asScala))

  /** The elements of the JDK's stream that `open` makes each time this runs. It is closed once. */
  def fromJavaStream[A](open: Supplier[? <: JavaStream[? <: A]]): Stream[A] =
    from(ScalaStream.fromJavaStream[A](open.get()))

  /** The elements of `publisher`, subscribed to each time the stream runs. At most `buffer` are
    * held, or requested and not there yet.
    */
  def fromPublisher[A](publisher: Flow.Publisher[? <: A], buffer: Int): Stream[A] =
    from(ScalaStream.fromPublisher(publisher, buffer))

  /** A processor that puts what its publisher signals through `pipe`, for one subscriber. */
  def processor[A, B](pipe: Function[Stream[A], Stream[B]], buffer: Int): Flow.Processor[A, B] =
    ScalaStream.processor[A, B](elements => pipe(from(elements)).asScala, buffer)

  /** The numbers from `from` on, before `until`. */
  def range(from: Int, until: Int): Stream[Integer] =
    Stream.from(ScalaStream.range(from, until).map(Int.box))

  /** One element, the value of `task`. */
  def eval[A](task: Task[A]): Stream[A] = from(ScalaStream.eval(task.asScala))

  /** The values of `task`, run again and again. */
  def repeatEval[A](task: Task[A]): Stream[A] = from(ScalaStream.repeatEval(task.asScala))

  /** The values of `task`, run again and again until one is empty. */
  def repeatEvalOptional[A](task: Task[Optional[A]]): Stream[A] =
    from(ScalaStream.repeatEvalOption(task.asScala.map(_.toScala)))

  /** One element, the resource, which is released once, when the stream is over. */
  def resource[A](resource: Resource[A]): Stream[A] = from(ScalaStream.resource(resource.asScala))

  /** The lines of a file, in UTF-8. */
  def linesOf(path: Path): Stream[String] = from(ScalaStream.linesOf(path))

  /** The bytes of a file, in blocks. */
  def fromPath(path: Path): Stream[Array[Byte]] = from(ScalaStream.fromPath(path))

  /** The time since the beginning at each `interval`, without end. */
  def awakeEvery(interval: Duration): Stream[Duration] =
    from(ScalaStream.awakeEvery(Durations.of(interval)).map(t => Duration.ofNanos(t.toNanos)))
