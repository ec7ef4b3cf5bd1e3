package weir

import scala.jdk.CollectionConverters.IteratorHasAsScala
import scala.util.Try
import weir.stream.*

/** The streams that are made of values, of tasks and of state. */
private[weir] transparent trait StreamValues:

  /** Emits `value`.
    * {{{
    * val one: Stream[String] = Stream.emit("id,name")
    * }}}
    */
  def emit[A](value: A): Stream[A] = Stream.of(() => EmitSource(value))

  /** Emits the elements of `items`.
    * {{{
    * val three: Stream[Int] = Stream(1, 2, 3)
    * }}}
    */
  def apply[A](items: A*): Stream[A] = fromIterable(items)

  /** The same as `fromIterable`. */
  def emits[A](items: Iterable[A]): Stream[A] = fromIterable(items)

  /** Emits the elements of `items`.
    * {{{
    * val users: Stream[User] = Stream.fromIterable(ids).evalMap(load)
    * }}}
    */
  def fromIterable[A](items: Iterable[A]): Stream[A] = Iterated(items)

  /** Emits the elements of the iterator that `iterator` returns each time the stream runs. The
    * iterator's `next` may block. **Fails** with an `IllegalStateException` if the iterator is the
    * one of the run before.
    * {{{
    * val lines: Stream[String] = Stream.fromIterator(scala.io.Source.stdin.getLines())
    * }}}
    */
  def fromIterator[A](iterator: => Iterator[A]): Stream[A] =
    val once = SingleUse("Stream.fromIterator: the iterator")
    iterated {
      val made = iterator
      if made eq Iterator.empty then made else once.checked(made)
    }

  private def iterated[A](iterator: => Iterator[A]): Stream[A] =
    Stream.of(() => IteratorSource(() => iterator, isStrict = false, classOf[Iterator[?]]))

  /** Emits the numbers `from`, `from + step` and so on, before `until`. `step` may be negative.
    * {{{
    * val even: Stream[Int] = Stream.range(0, 100, step = 2)
    * }}}
    */
  def range(from: Int, until: Int, step: Int = 1): Stream[Int] =
    require(step != 0, "Stream.range: the step was 0. It must be positive or negative.")
    rangeLong(from, until, step).map(_.toInt)

  /** As `range`, for `Long`. */
  def rangeLong(from: Long, until: Long, step: Long = 1): Stream[Long] =
    require(step != 0, "Stream.rangeLong: the step was 0. It must be positive or negative.")
    unfold(from)(n =>
      Option.when(if step > 0 then n < until else n > until) {
        val next = n + step
        (n, if (next > n) == (step > 0) then next else until) // the sum may overflow
      }
    )

  /** Emits `zero`, then the result of `f` for the element before, again and again. Never ends by
    * itself.
    * {{{
    * val powers: Stream[Long] = Stream.iterate(1L)(_ * 2).take(10)
    * }}}
    */
  def iterate[A](zero: A)(f: A => A): Stream[A] = iterated(Iterator.iterate(zero)(f))

  /** As `iterate`, but `f` returns a task, whose value is the next element. */
  def iterateEval[A](zero: A)(f: A => Task[A]): Stream[A] =
    emit(zero) ++ unfoldEval(zero)(before => f(before).map(after => Some((after, after))))

  /** Calls `f` with a state, at first `zero`. `f` returns an element, which is emitted, and the
    * next state. Ends when `f` returns `None`.
    * {{{
    * val digits: Stream[Int] = Stream.unfold(1729)(n => Option.when(n > 0)((n % 10, n / 10)))
    * }}}
    */
  def unfold[S, A](zero: S)(f: S => Option[(A, S)]): Stream[A] =
    Stream.of(() => UnfoldSource(zero, f))

  /** Calls `f` with a state, at first `zero`, and runs the task that it returns. The task gives an
    * element, which is emitted, and the next state. Ends when a task gives `None`. It is for pages
    * that are requested one after the other.
    *
    * **Fails** with the first error of `f` or of its tasks, after the elements before it.
    * {{{
    * def page(after: Int): Task[List[User]] = Task.traverse(List(after + 1, after + 2))(load)
    * val users: Stream[List[User]] = Stream.unfoldEval(0)(after =>
    *   page(after).map(found => Option.when(found.nonEmpty)((found, after + found.size)))
    * )
    * }}}
    */
  def unfoldEval[S, A](zero: S)(f: S => Task[Option[(A, S)]]): Stream[A] =
    Stream.of(() => UnfoldEvalSource(zero, f))

  /** Emits `value` again and again. Never ends by itself.
    * {{{
    * val pairs: Stream[(String, Int)] = Stream.linesOf(path).zip(Stream.constant(1))
    * }}}
    */
  def constant[A](value: A): Stream[A] = iterated(Iterator.continually(value))

  /** Runs `task` and emits its value.
    * {{{
    * val orders: Stream[Order] = Stream.eval(ordersOf(id)).mapConcat(identity)
    * }}}
    */
  def eval[A](task: Task[A]): Stream[A] = Stream.of(() => EvalSource(task))

  /** Runs `task`, emits no elements, and ends.
    * {{{
    * val lines = Stream.exec(Task(log("begins"))) ++ Stream.linesOf(path)
    * }}}
    */
  def exec(task: Task[Any]): Stream[Nothing] = eval(task).flatMap(_ => Stream.empty)

  /** Evaluates `code` each time the stream runs, and emits its value. `code` may block. It is the
    * same as `Stream.eval(Task(code))`.
    * {{{
    * val text: Stream[String] = Stream.delay(Files.readString(path))
    * }}}
    */
  def delay[A](code: => A): Stream[A] = eval(Task.delay(code))

  /** Runs `task` and emits the elements of the collection that it returns.
    * {{{
    * val orders: Stream[Order] = Stream.evalSeq(ordersOf(id))
    * }}}
    */
  def evalSeq[A](task: Task[IterableOnce[A]]): Stream[A] = eval(task).mapConcat(identity)

  /** Runs `task` again and again, and emits its values. Never ends by itself.
    * {{{
    * val polled: Stream[Config] = Stream.repeatEval(fromNetwork).metered(1.second)
    * }}}
    */
  def repeatEval[A](task: Task[A]): Stream[A] = Stream.of(() => RepeatEvalSource(task))

  /** Runs `task` again and again, and emits its values. Ends when it returns `None`.
    * {{{
    * val lines: Stream[String] = Stream.repeatEvalOption(Task(Option(readLine())))
    * }}}
    */
  def repeatEvalOption[A](task: Task[Option[A]]): Stream[A] =
    repeatEval(task).takeWhile(_.isDefined).map(_.get)

  /** Emits the value of `acquire`. Runs `release` for that value once, when the stream is over,
    * however it ends. Both are masked.
    * {{{
    * val lines: Stream[String] = Stream
    *   .bracket(Task(Files.newBufferedReader(path)))(reader => Task(reader.close()))
    *   .flatMap(reader => Stream.fromIterator(Iterator.continually(reader.readLine())))
    *   .takeWhile(_ != null)
    * }}}
    */
  def bracket[A](acquire: Task[A])(release: A => Task[Unit]): Stream[A] =
    resource(Resource.make(acquire)(release))

  /** Acquires the resource and emits its value. Releases it once, when the stream is over. Its
    * finalizers receive the outcome of the stream, which is a success also if the consumer asks for
    * no more elements.
    * {{{
    * val totals: Stream[Int] =
    *   Stream.resource(connection).flatMap(db => Stream.emits(ids).map(id => total(db, id)))
    * }}}
    */
  def resource[A](resource: Resource[A]): Stream[A] = Stream.of(() => ResourceSource(resource))

  /** Evaluates `stream` each time it runs, and emits the elements of the result. It is for state
    * that belongs to one run, and for recursion.
    * {{{
    * val numbered: Stream[String] = Stream.suspend {
    *   var count = 0
    *   Stream.linesOf(path).map { line => count += 1; s"$count $line" }
    * }
    * }}}
    */
  def suspend[A](stream: => Stream[A]): Stream[A] = Stream.empty ++ stream

  /** Emits no elements and fails with `error`.
    * {{{
    * val lines: Stream[String] = Stream.linesOf(path) ++ Stream.fail(IOException("no END"))
    * }}}
    */
  def fail(error: Throwable): Stream[Nothing] = Stream.of(() => FailSource(error))

  /** Emits the value on the right. **Fails** with the error on the left.
    * {{{
    * val numbers: Stream[Int] =
    *   Stream.emits(fields).flatMap(field => Stream.fromEither(parse(field).toEither))
    * }}}
    */
  def fromEither[A](either: Either[Throwable, A]): Stream[A] = either.fold(fail, emit)

  /** Emits the value if there is one, and ends. */
  def fromOption[A](option: Option[A]): Stream[A] = fromIterable(option.toList)

  /** Emits the value of a success. **Fails** with the error of a failure. */
  def fromTry[A](result: Try[A]): Stream[A] = fromEither(result.toEither)

  /** Emits the elements of the JDK's stream that `open` returns each time this stream runs. The
    * JDK's stream is closed once.
    *
    * **Cancelled** between elements, and where its code blocks.
    * {{{
    * val folders = Stream.fromJavaStream(Files.list(path)).filter(Files.isDirectory(_))
    * }}}
    */
  def fromJavaStream[A](open: => java.util.stream.Stream[? <: A]): Stream[A] =
    resource(Resource.fromAutoCloseable(Task(open)))
      .flatMap(items => iterated[A](items.iterator.asScala))
