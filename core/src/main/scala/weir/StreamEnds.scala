package weir

import java.util.concurrent.Flow
import scala.annotation.implicitNotFound
import scala.collection.Factory
import weir.io.Source
import weir.stream.*

/** The operators of `Stream` that run it: each returns a task, or hands the elements to other
  * code.
  */
private[weir] transparent trait StreamEnds[+A]:
  self: Stream[A] =>

  /** Runs the stream to its end and drops its elements.
    * {{{
    * val stored: Task[Unit] = Stream.linesOf(path).evalMap(store).drain
    * }}}
    */
  final def drain: Task[Unit] = RunStream(this, Step.Drain())

  /** Cannot be called. It is for users of fs2: the compiler's message says that the methods of
    * `s.compile` are methods of the stream here.
    * {{{
    * val users: Task[List[User]] = Stream.emits(ids).evalMap(load).toList // without .compile
    * }}}
    */
  final def compile(using
      @implicitNotFound(
        "A stream of Weir needs no `compile`: its ends are tasks, such as `s.toList`, `s.drain`, " +
          "`s.fold(zero)(f)`, `s.last` and `s.count`."
      ) never: Nothing
  ): Nothing = never

  /** Runs the stream and returns all elements.
    * {{{
    * val users: Task[List[User]] = Stream.emits(ids).evalMap(load).toList
    * }}}
    */
  final def toList: Task[List[A]] = RunStream(this, Step.ToList())

  /** Runs the stream, calls `f` with the result so far and each element, and returns the last
    * result. The first result is `zero`.
    * {{{
    * val longest: Task[Int] = Stream.linesOf(path).fold(0)((most, line) => most.max(line.length))
    * }}}
    */
  final def fold[B](zero: B)(f: (B, A) => B): Task[B] =
    RunStream(this, Step.Fold(zero, f.asInstanceOf[(Any, Any) => Any]))

  /** Runs the stream and calls `f` for each element, as code of the enclosing `Task.direct`: `f`
    * may `await`. When this method has returned or thrown, the stream's finalizers have run.
    * {{{
    * val printed: Task[Unit] = Task.direct {
    *   for line <- Stream.linesOf(path) do if line.nonEmpty then store(line).await
    * }
    * }}}
    */
  final def foreach(f: A => Unit)(using
      @implicitNotFound(
        "`for x <- stream do ...` runs the stream at once, which only the code of a Task.direct " +
          "can: `Task.direct { for x <- stream do ... }`. In a method that is called from one, " +
          "take it as a parameter: `(using Task.Direct)`. Elsewhere use " +
          "`stream.evalMap(x => task).drain`, which is a task."
      ) direct: Task.Direct
  ): Unit = RunStream.foreach(this, f, direct)

  /** Returns one run of the stream as a source, whose elements are asked for one by one. It is for
    * code that reads several streams in turns. The run begins with the first element that is asked
    * for, on the fiber that asks. It is closed with the outcome of the resource. Fibers may share
    * the source: they take turns, and a release waits for the fiber that is waiting for an element.
    *
    * **Fails**: `Source.next` throws the error of the stream, again at each further call. It throws
    * an `IllegalStateException` after the release, and after a cancel within a `next`.
    * {{{
    * def inTurns(a: Stream[String], b: Stream[String]): Stream[String] = Stream.direct { emit =>
    *   def all(left: Source[String], right: Source[String])(using Task.Direct): Unit =
    *     left.next() match
    *       case Source.End => ()
    *       case line: String =>
    *         emit(line)
    *         all(right, left)
    *   Resource
    *     .both(a.toSource, b.toSource)
    *     .use((left, right) => Task.direct(all(left, right)))
    *     .await
    * }
    * }}}
    */
  final def toSource: Resource[Source[A]] = StreamSource(this)

  /** Returns a task that takes the next element each time it runs. It gives `None` at the end, and
    * from then on. It is `toSource` for code that is not in direct style.
    *
    * Fibers that share the task take turns. The stream is closed at the release, which waits for a
    * fiber that is taking an element. **Cancelled** while it takes an element: then no more can be
    * taken. **Fails** with the error of the stream, again each time; and with an
    * `IllegalStateException` after the release.
    * {{{
    * val two: Task[List[Option[String]]] =
    *   Stream.linesOf(path).toPull.use(line => Task.sequence(List(line, line)))
    * }}}
    */
  final def toPull: Resource[Task[Option[A]]] =
    StreamSource(this).map(
      _.take.map(value => if Pull.isEnd(value) then None else Some(value.asInstanceOf[A]))
    )

  /** Returns the first element and a stream of the others, or `None` if there is no element. The
    * stream of the others continues this run, which the resource closes, so it can only be used
    * inside of `use`. Running it a second time continues where the first run stopped.
    * {{{
    * def table(lines: Stream[String]): Stream[Map[String, String]] =
    *   Stream.resource(lines.uncons).flatMap {
    *     case None => Stream.empty
    *     case Some((header, rows)) =>
    *       val names = header.split(',')
    *       rows.map(row => names.zip(row.split(',')).toMap)
    *   }
    * }}}
    */
  final def uncons: Resource[Option[(A, Stream[A])]] = StreamSource.uncons(this)

  /** Returns an iterator of the elements. `hasNext` runs the stream up to the next element on the
    * calling thread, which it blocks. No element is made ahead. An interrupt of that thread cancels
    * the stream, and `hasNext` throws an `InterruptedException`. Otherwise it is as `toSource`.
    * {{{
    * val longest: Task[String] =
    *   Stream.linesOf(path).toIterator.use(lines => Task(lines.maxBy(_.length)))
    * }}}
    */
  final def toIterator: Resource[Iterator[A]] = StreamSource.iterator(this)

  /** Returns a publisher, which runs the stream anew for each subscriber, on a separate fiber. It
    * does nothing before there is a subscriber. It asks the stream for an element only when the
    * subscriber has requested one. If this stream is a collection, its end is signalled with the
    * last element, otherwise at the next request after it.
    *
    * The elements of a strict collection without a stage are delivered by the thread that requests
    * them, up to 256 in one request.
    *
    * **Waits** while nothing is requested. **Cancelled** by the subscriber: cancels the run. The
    * subscription's `cancel` does not wait for the finalizers. **Fails**: calls the subscriber's
    * `onError` after the finalizers, which precede `onComplete` too. A null element is an error. If
    * the subscriber throws, the run ends, and the exception is reported on the standard error.
    *
    * For the interface of `org.reactivestreams`, use
    * `FlowAdapters.toPublisher(stream.toPublisher)`.
    * {{{
    * val bytes = Stream.fromPath(path).map(java.nio.ByteBuffer.wrap(_))
    * val body = java.net.http.HttpRequest.BodyPublishers.fromPublisher(bytes.toPublisher)
    * }}}
    */
  final def toPublisher[B >: A](using runtime: WeirRuntime): Flow.Publisher[B] =
    StreamPublisher(this, runtime).asInstanceOf[Flow.Publisher[B]]

  /** As `toPublisher`, until the use of the resource ends. The release cancels the runs that have
    * not ended, without waiting for their finalizers. Their subscribers, and those that come later,
    * get an `IllegalStateException`.
    *
    * It is for subscribers that may leave a run without a cancel, as the JDK's HTTP client does if
    * a server answers before it has read the whole body of a request.
    * {{{
    * val bytes = Stream.fromPath(path).map(java.nio.ByteBuffer.wrap(_))
    * val body: Resource[java.net.http.HttpRequest.BodyPublisher] =
    *   bytes.toPublisherResource.map(java.net.http.HttpRequest.BodyPublishers.fromPublisher(_))
    * }}}
    */
  final def toPublisherResource[B >: A](using runtime: WeirRuntime): Resource[Flow.Publisher[B]] =
    ClosablePublisher.of(this, runtime).asInstanceOf[Resource[Flow.Publisher[B]]]

  /** Runs the stream and returns the number of elements.
    * {{{
    * val lines: Task[Long] = Stream.linesOf(path).count
    * }}}
    */
  final def count: Task[Long] = RunStream(this, Step.Count())

  /** Returns the first element, or `None` if there is none. Asks the stream for no more than that.
    * {{{
    * val header: Task[Option[String]] = Stream.linesOf(path).head
    * }}}
    */
  final def head: Task[Option[A]] = take(1).last

  /** Runs the stream and returns the last element, or `None` if there is none.
    * {{{
    * val latest: Task[Option[String]] = Stream.linesOf(path).last
    * }}}
    */
  final def last: Task[Option[A]] = fold(Option.empty[A])((_, a) => Some(a))

  /** Returns the first element for which `is` is true, or `None` if there is none. Asks the stream
    * for no element after it.
    *
    * {{{
    * val firstLong: Task[Option[String]] = Stream.linesOf(path).find(_.length > 100)
    * }}}
    */
  final def find(is: A => Boolean): Task[Option[A]] = filter(is).head

  /** Applies `f` to the first element for which it is defined and returns the result, or `None` if
    * there is no such element. Asks the stream for no element after it.
    * {{{
    * val number: Task[Option[Int]] =
    *   Stream.linesOf(path).map(_.toIntOption).collectFirst { case Some(n) => n }
    * }}}
    */
  final def collectFirst[B](f: PartialFunction[A, B]): Task[Option[B]] = collect(f).head

  /** Returns true if `is` is true for at least one element. Asks the stream for no element after
    * the first such one.
    * {{{
    * val hasError: Task[Boolean] = Stream.linesOf(path).exists(_.contains("ERROR"))
    * }}}
    */
  final def exists(is: A => Boolean): Task[Boolean] = find(is).map(_.isDefined)

  /** Returns true if `is` is true for all elements. Asks the stream for no element after the first
    * for which it is false.
    */
  final def forall(is: A => Boolean): Task[Boolean] = exists(a => !is(a)).map(!_)

  /** Calls `f` with the result so far and each element, and returns the last result. The first
    * result is the first element. Returns `None` if there is no element.
    * {{{
    * val longest: Task[Option[String]] =
    *   Stream.linesOf(path).reduce((a, b) => if a.length < b.length then b else a)
    * }}}
    */
  final def reduce[B >: A](f: (B, B) => B): Task[Option[B]] =
    fold(Option.empty[B])((before, a) => Some(before.fold(a: B)(f(_, a))))

  /** As `fold`, but `f` returns a task, whose value is the next result.
    *
    * {{{
    * val balance = Stream.emits(ids).evalFold(0)((sum, id) => visitsOf(id).map(sum + _))
    * }}}
    */
  final def evalFold[B](zero: B)(f: (B, A) => Task[B]): Task[B] = Task.defer {
    var state = zero
    evalMap(a => f(state, a).map(b => state = b)).drain.map(_ => state)
  }

  /** Runs the task that `f` returns for each element, one task after the other.
    * {{{
    * val stored: Task[Unit] = Stream.linesOf(path).evalForeach(store)
    * }}}
    */
  final def evalForeach(f: A => Task[Any]): Task[Unit] = evalMap(f).drain

  /** Runs the stream and returns all elements. */
  final def toVector: Task[Vector[A]] = toCollection(Vector)

  /** Runs the stream and returns all elements in a collection of the given kind.
    *
    * {{{
    * val names: Task[Set[String]] = Stream.linesOf(path).toCollection(Set)
    * val visits: Task[Map[String, Int]] = Stream.linesOf(path).map(_ -> 1).toCollection(Map)
    * }}}
    */
  final def toCollection[C](factory: Factory[A, C]): Task[C] = Task.defer {
    val builder = factory.newBuilder
    fold(())((_, a) => builder += a: Unit).map(_ => builder.result())
  }

  /** Runs the stream and returns the sum of the elements.
    * {{{
    * val cents: Task[Int] = Stream.evalSeq(ordersOf(id)).map(_.cents).sum
    * }}}
    */
  final def sum[B >: A](using number: Numeric[B]): Task[B] =
    fold(number.zero)((sum, a) => number.plus(sum, a))

  /** Runs the stream and returns the elements as text, with `separator` between them.
    * {{{
    * val text: Task[String] = Stream.linesOf(path).take(20).mkString("\n")
    * }}}
    */
  final def mkString(separator: String = ""): Task[String] = Task.defer {
    val text = java.lang.StringBuilder()
    intersperse[Any](separator).fold(())((_, a) => text.append(a): Unit).map(_ => text.toString)
  }
