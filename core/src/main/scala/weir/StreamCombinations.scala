package weir

import scala.concurrent.duration.DurationLong
import weir.stream.*
import weir.task.{ScheduleRun, ScheduleStart}

/** The operators of `Stream` that combine it with other streams, handle its errors, or run code at
  * its end, on one fiber.
  */
private[weir] transparent trait StreamCombinations[+A]:
  self: Stream[A] =>

  /** Emits the elements of this stream, then those of `that`. `that` is evaluated when this stream
    * has ended.
    * {{{
    * val both: Stream[String] = Stream.emit("id,name") ++ Stream.linesOf(path)
    * }}}
    */
  final def ++[B >: A](that: => Stream[B]): Stream[B] = Concat(this, () => that)

  /** Applies `f` to each element and emits the elements of the resulting streams, one stream after
    * the other.
    * {{{
    * val lines: Stream[String] = Stream.emits(files).flatMap(file => Stream.linesOf(file))
    * }}}
    */
  final def flatMap[B](f: A => Stream[B]): Stream[B] = FlatMapped(this, f)

  /** Emits the elements of the streams that this stream emits, one stream after the other.
    * {{{
    * val lines: Stream[String] = Stream.emits(files).map(file => Stream.linesOf(file)).flatten
    * }}}
    */
  final def flatten[B](using stream: A <:< Stream[B]): Stream[B] = flatMap(stream)

  /** Emits `value`, then the elements of this stream.
    * {{{
    * val table: Stream[String] = Stream.linesOf(path).prepend("id,name")
    * }}}
    */
  final def prepend[B >: A](value: B): Stream[B] = Stream.emit(value) ++ this

  /** Emits the elements, and `separator` between each two of them.
    * {{{
    * val text: Stream[String] = Stream.linesOf(path).intersperse("\n")
    * }}}
    */
  final def intersperse[B >: A](separator: B): Stream[B] =
    transform(Transformer.Intersperse[B](separator))

  /** Emits the elements of this stream. If there are none, emits those of `that`.
    * {{{
    * val lines: Stream[String] = Stream.linesOf(path).ifEmpty(Stream.fail(IOException("no line")))
    * }}}
    */
  final def ifEmpty[B >: A](that: => Stream[B]): Stream[B] = Stream.suspend {
    var isEmpty = true
    map { a =>
      isEmpty = false; a
    } ++ (if isEmpty then that else Stream.empty)
  }

  /** Emits the elements of this stream, and runs it again each time it ends. Never ends by itself.
    * {{{
    * val inTurn: Stream[String] = Stream.emits(servers).repeat.take(100)
    * }}}
    */
  final def repeat: Stream[A] = this ++ repeat

  /** Runs this stream `count` times, and emits its elements each time. Emits none if `count` is not
    * positive.
    * {{{
    * val twice: Stream[String] = Stream.linesOf(path).repeatN(2) // read twice
    * }}}
    */
  final def repeatN(count: Long): Stream[A] =
    if count <= 0 then Stream.empty else this ++ repeatN(count - 1)

  /** Emits pairs of one element of each stream. Ends when one of the two streams ends.
    * {{{
    * val pairs: Stream[(Int, User)] = Stream.emits(ids).zip(Stream.emits(ids).evalMap(load))
    * }}}
    */
  final def zip[B](that: Stream[B]): Stream[(A, B)] =
    Stream.of(() => ZipStage(open(), that.open()))

  /** Applies `f` to pairs of one element of each stream, and emits the results. Ends when one of
    * the two streams ends.
    * {{{
    * val rows: Stream[String] = Stream.linesOf(path).zipWith(Stream.emits(ids))((l, n) => s"$n,$l")
    * }}}
    */
  final def zipWith[B, C](that: Stream[B])(f: (A, B) => C): Stream[C] = zip(that).map(f.tupled)

  /** Emits pairs of one element of each stream. Ends when both streams have ended. When this stream
    * has ended, `left` takes the place of its elements; when `that` has ended, `right` takes the
    * place of its elements.
    * {{{
    * val rows: Stream[(String, Int)] = Stream.linesOf(path).zipAll(Stream.emits(ids))("", 0)
    * }}}
    */
  final def zipAll[A1 >: A, B](that: Stream[B])(left: A1, right: B): Stream[(A1, B)] =
    Stream.of(() => ZipAllStage(open(), that.open(), left, right))

  /** As `zipAll`, but applies `f` to the pairs and emits the results.
    * {{{
    * val sums: Stream[Int] = Stream(1, 2, 3).zipAllWith(Stream(10, 20))(0, 0)(_ + _)
    * }}}
    */
  final def zipAllWith[A1 >: A, B, C](that: Stream[B])(left: A1, right: B)(
      f: (A1, B) => C
  ): Stream[C] = zipAll(that)(left, right).map(f.tupled)

  /** Emits one element of this stream and one of `that` in turn. Ends when one of the two streams
    * ends.
    * {{{
    * val fair: Stream[String] = Stream.emits(requests).interleave(Stream.linesOf(path))
    * }}}
    */
  final def interleave[B >: A](that: Stream[B]): Stream[B] =
    zipWith(that)((a, b) => List[B](a, b)).mapConcat(identity)

  /** Emits the elements of this stream. After an error, continues with the stream that `f` returns
    * for the error. `f` is called for every error; to handle only some, use `recoverWith`.
    *
    * **Fails** with the error that `f` throws, or with the error of the stream that it returns. The
    * error that `f` was called with is suppressed under that one.
    * {{{
    * val lines: Stream[String] =
    *   Stream.linesOf(path).handleErrorWith(e => Stream.emit(s"# not read: ${e.getMessage}"))
    * }}}
    */
  final def handleErrorWith[B >: A](f: Throwable => Stream[B]): Stream[B] = Handled(this, f)

  /** Emits the elements of this stream. After an error for which `f` is defined, continues with the
    * stream that `f` returns. **Fails** with any other error unchanged.
    * {{{
    * val lines: Stream[String] =
    *   Stream.linesOf(path).recoverWith { case _: IOException => Stream.emits(requests) }
    * }}}
    */
  final def recoverWith[B >: A](f: PartialFunction[Throwable, Stream[B]]): Stream[B] =
    handleErrorWith(error => f.applyOrElse(error, Stream.fail))

  /** Emits the elements of this stream. After an error for which `f` is defined, emits the value
    * that `f` returns, and ends. **Fails** with any other error unchanged.
    * {{{
    * val answers: Stream[String] =
    *   Stream.emits(servers).evalMap(ask).recover { case e: IOException => e.getMessage }
    * }}}
    */
  final def recover[B >: A](f: PartialFunction[Throwable, B]): Stream[B] =
    handleErrorWith(e => f.andThen[Stream[B]](b => Stream.emit(b)).applyOrElse(e, Stream.fail))

  /** Emits the elements of this stream. After an error, continues with those of `that`.
    * {{{
    * val configs: Stream[Config] = Stream.eval(fromFile).orElse(Stream.eval(fromNetwork))
    * }}}
    */
  final def orElse[B >: A](that: => Stream[B]): Stream[B] = handleErrorWith(_ => that)

  /** Emits the same elements. After an error for which `f` is defined, runs the task that `f`
    * returns. Then **Fails** with the stream's error, under which an error of that task is
    * suppressed.
    *
    * {{{
    * val watched = Stream.linesOf(path).onError { case e => Task(log(s"$path: $e")) }
    * }}}
    */
  final def onError(f: PartialFunction[Throwable, Task[Any]]): Stream[A] =
    handleErrorWith(error => Stream.eval(Task.fail(error).onError(f)))

  /** Emits the same elements. **Fails** with the error that `f` returns for the stream's error, or
    * with that error itself if `f` is not defined for it.
    * {{{
    * val users: Stream[User] = Stream
    *   .emits(ids)
    *   .flatMap(id => Stream.eval(load(id)).adaptError { case e => UserNotFound(id, e) })
    * }}}
    */
  final def adaptError(f: PartialFunction[Throwable, Throwable]): Stream[A] =
    handleErrorWith(error => Stream.fail(f.applyOrElse(error, identity)))

  /** Emits each element as a `Right`. If the stream fails, emits the error as a `Left` and ends.
    * {{{
    * val errors: Stream[Throwable] =
    *   Stream.emits(ids).evalMap(load).attempt.collect { case Left(error) => error }
    * }}}
    */
  final def attempt: Stream[Either[Throwable, A]] =
    map(a => Right(a): Either[Throwable, A]).handleErrorWith(e => Stream.emit(Left(e)))

  /** Emits the values on the right. **Fails** with the first error on the left. It is the opposite
    * of `attempt`.
    * {{{
    * val numbers: Stream[Int] = Stream.emits(fields).map(parse(_).toEither).rethrow
    * }}}
    */
  final def rethrow[B](using either: A <:< Either[Throwable, B]): Stream[B] =
    evalMap(a => Task.fromEither(either(a)))

  /** Emits the elements of this stream. After an error, runs the stream anew after the delay that
    * `schedule` gives. **Fails** with the last error when the schedule stops.
    *
    * Elements that were emitted before the error are emitted again, unless the source of this
    * stream continues where it stopped. The schedule counts all errors of a run, however far apart
    * they are: see `Schedule.resetAfter`.
    *
    * {{{
    * val lines = Stream.linesOf(path).retry(Schedule.exponential(1.second).times(5))
    * }}}
    */
  final def retry(schedule: Schedule[Throwable]): Stream[A] =
    val nanoTime = Task.onRuntime(_.timers.nanoTime)
    def again(run: ScheduleRun[Throwable]): Stream[A] = handleErrorWith(error =>
      Stream
        .eval(nanoTime.map(run.next(error, _)))
        .flatMap(delay =>
          if delay == ScheduleRun.Stop then Stream.fail(error)
          else Stream.exec(Task.sleep(delay.nanos)) ++ again(run)
        )
    )
    Stream
      .eval(Task.onRuntime(runtime => schedule.begin(ScheduleStart.now(runtime.timers))))
      .flatMap(again)

  /** Emits the same elements, and runs `finalizer` once when the stream is over, however it ends.
    * It also runs if an operator such as `take(0)` or `scan` ends the stream before it has asked
    * for an element.
    * {{{
    * val lines = Stream.linesOf(path).onFinalize(Task(log(s"$path is closed")))
    * }}}
    */
  final def onFinalize(finalizer: Task[Unit]): Stream[A] = onFinalizeCase(_ => finalizer)

  /** As `onFinalize`, but passes the outcome of the stream to the finalizer. The outcome is a
    * success also if the consumer asks for no more elements, and a failure also if an operator
    * downstream has failed.
    * {{{
    * val lines = Stream.linesOf(path).onFinalizeCase {
    *   case Outcome.Failed(error) => Task(log(s"$path: $error"))
    *   case _ => Task.unit
    * }
    * }}}
    */
  final def onFinalizeCase(finalizer: Outcome[Unit] => Task[Unit]): Stream[A] =
    Finalized(this, finalizer)
