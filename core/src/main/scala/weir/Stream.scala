package weir

import java.io.InputStream
import java.nio.charset.{Charset, StandardCharsets}
import java.nio.file.{Files, Path}
import java.util.concurrent.{Flow, TimeoutException}
import scala.annotation.implicitNotFound
import scala.collection.Factory
import scala.concurrent.duration.{DurationInt, DurationLong, FiniteDuration}
import scala.jdk.CollectionConverters.IteratorHasAsScala
import scala.util.Try
import weir.fiber.HoldsUserCode
import weir.io.{FileChange, Source}
import weir.std.{RateLimiter, Signal, StreamMonitor}
import weir.stream.*
import weir.sync.OneShot
import weir.task.{ScheduleRun, ScheduleStart}

/** A description of a sequence of elements and of the effects that produce them.
  *
  * A stream is run by a task (`drain`, `toList`, `fold`, `count`). That task is a plain loop on one
  * fiber, except for the operators that run concurrently; their comments say so. The finalizers of
  * the stream run once: when it ends, fails or is cancelled, or when the consumer asks for no more
  * elements. Every size is a number of elements.
  */
abstract class Stream[+A] private[weir] () extends HoldsUserCode:

  private[weir] def open(): Pull

  /** Opens the stream and appends `end` to its fused loop, if there is a fused class for that.
    * `Pull.hasEnd` of the result says whether `end` was appended.
    */
  private[weir] def openUntil(end: Step.End): Pull =
    val pull = open()
    val fused = FusedShapes.open(pull, Array(end), this)
    if fused ne null then fused else pull

  private def step[B](step: Step): Stream[B] = Staged(this, step)

  // ---- on one fiber ----

  /** Applies `f` to each element and emits the results.
    * {{{
    * val lengths: Stream[Int] = Stream.linesOf(path).map(_.length)
    * }}}
    */
  final def map[B](f: A => B): Stream[B] = step(Step.Map(Stream.erased(f)))

  /** Emits the elements for which `keep` is true.
    * {{{
    * val comments: Stream[String] = Stream.linesOf(path).filter(_.startsWith("#"))
    * }}}
    */
  final def filter(keep: A => Boolean): Stream[A] =
    step(Step.Filter(Stream.erased(keep)))

  /** The same as `filter`. The compiler calls it for an `if` in a `for`. */
  final def withFilter(keep: A => Boolean): Stream[A] = filter(keep)

  /** Applies `f` to each element and emits the elements of the resulting streams, one stream after
    * the other.
    * {{{
    * val lines: Stream[String] = Stream.emits(files).flatMap(file => Stream.linesOf(file))
    * }}}
    */
  final def flatMap[B](f: A => Stream[B]): Stream[B] = FlatMapped(this, f)

  /** Runs the task that `f` returns for each element and emits its value. The tasks run one after
    * the other.
    * {{{
    * val users: Stream[User] = Stream.emits(ids).evalMap(load)
    * }}}
    */
  final def evalMap[B](f: A => Task[B]): Stream[B] =
    step(Step.EvalMap(Stream.erased(f)))

  /** Runs the task that `f` returns for each element, then emits the element.
    * {{{
    * val users: Stream[User] = Stream.emits(ids).evalMap(load).evalTap(user => store(user.name))
    * }}}
    */
  final def evalTap(f: A => Task[Any]): Stream[A] = evalMap(a => f(a).as(a))

  /** Emits the first `count` elements, then ends. Upstream does no work for a further element.
    * {{{
    * val newest: Task[List[String]] = Stream.repeatEval(ask("a.example")).take(3).toList
    * }}}
    */
  final def take(count: Long): Stream[A] = step(Step.Take(count))

  /** Emits all elements except the first `count`.
    * {{{
    * val rows: Stream[String] = Stream.linesOf(path).drop(1) // without the header
    * }}}
    */
  final def drop(count: Long): Stream[A] = step(Step.Drop(count))

  /** Emits elements as long as `keep` is true for them. Ends before the first element for which it
    * is false.
    * {{{
    * val header: Stream[String] = Stream.linesOf(path).takeWhile(_.nonEmpty)
    * }}}
    */
  final def takeWhile(keep: A => Boolean): Stream[A] =
    step(Step.TakeWhile(Stream.erased(keep)))

  /** Emits the elements in groups of `size`. The last group may be smaller; no group is empty.
    * {{{
    * val stored = Stream.linesOf(path).chunkN(500).evalMap(rows => store(rows.mkString("\n")))
    * }}}
    */
  final def chunkN(size: Int): Stream[Vector[A]] =
    require(size >= 1, s"Stream.chunkN: the size was $size. It must be at least 1.")
    Stream.of(() => ChunkStage(open(), size))

  /** Emits the elements in groups of those that are available without waiting, at most `limit` in a
    * group. Such elements come from a collection, from a block that was read, or together from
    * another fiber. No group is empty.
    *
    * This is for handing elements to another library that takes them in groups: no group waits for
    * further elements, and your code is not run ahead of demand. If only the size of the groups
    * matters, use `chunkN`.
    * {{{
    * val stored = Stream.emits(ids).prefetchN(64).chunks().evalMap(ready => store(s"$ready"))
    * }}}
    */
  final def chunks(limit: Int = 256): Stream[Vector[A]] =
    require(limit >= 1, s"Stream.chunks: the limit was $limit. It must be at least 1.")
    Stream.of(() => ReadyChunks(open(), limit))

  /** Emits `zero`, then for each element the result of `f`. `f` is called with the result before
    * and the element.
    * {{{
    * val balances: Stream[Int] = Stream(100, -30, 20).scan(0)(_ + _) // 0, 100, 70, 90
    * }}}
    */
  final def scan[B](zero: B)(f: (B, A) => B): Stream[B] =
    step(Step.Scan(zero, f.asInstanceOf[(Any, Any) => Any]))

  /** Emits pairs of one element of each stream. Ends when one of the two streams ends.
    * {{{
    * val pairs: Stream[(Int, User)] = Stream.emits(ids).zip(Stream.emits(ids).evalMap(load))
    * }}}
    */
  final def zip[B](that: Stream[B]): Stream[(A, B)] =
    Stream.of(() => ZipStage(open(), that.open()))

  /** Emits the elements of this stream, then those of `that`. `that` is evaluated when this stream
    * has ended.
    * {{{
    * val both: Stream[String] = Stream.emit("id,name") ++ Stream.linesOf(path)
    * }}}
    */
  final def ++[B >: A](that: => Stream[B]): Stream[B] = Concat(this, () => that)

  /** Emits the elements of this stream. After an error, continues with the stream that `f` returns
    * for the error. `f` is called for every error; to handle only some, use `recoverWith`.
    *
    * **Fails** with what `f` throws, or with the error of the stream that it returns. The error
    * that `f` was called with is suppressed under that one.
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

  /** Applies `f` to a resource and each element, and emits the results. The resource is acquired
    * once, when the first element has arrived, and released once, when the stream is over. A stream
    * without elements does not acquire it.
    *
    * The release receives the outcome of the stream, as with `Stream.resource`. If `f` returns a
    * task, add `evalMap(identity)`, which runs it while the resource is open.
    * {{{
    * val totals: Stream[Int] = Stream.emits(ids).mapWithResource(connection)(total)
    * }}}
    */
  final def mapWithResource[R, B](resource: Resource[R])(f: (R, A) => B): Stream[B] =
    Stream.of(() => MapWithResourceStage(open(), resource, f.asInstanceOf[(Any, Any) => Any]))

  /** Applies `f` to the elements for which it is defined, and emits the results. Drops the others.
    *
    * {{{
    * val numbers: Stream[Int] =
    *   Stream.linesOf(path).map(_.toIntOption).collect { case Some(number) => number }
    * }}}
    */
  final def collect[B](f: PartialFunction[A, B]): Stream[B] =
    step(Step.Collect(f.asInstanceOf[PartialFunction[Any, Any]]))

  /** Applies `f` to each element and emits the elements of the resulting collections, one
    * collection after the other. A cancel is noticed before each of those elements.
    *
    * {{{
    * val words: Stream[String] = Stream.linesOf(path).mapConcat(line => line.split(' '))
    * }}}
    */
  final def mapConcat[B](f: A => IterableOnce[B]): Stream[B] = step(
    Step.MapConcat(Stream.erased(f))
  )

  /** Emits each element together with its index. The first index is 0.
    * {{{
    * val numbered: Stream[String] = Stream.linesOf(path).zipWithIndex.map((l, n) => s"${n + 1} $l")
    * }}}
    */
  final def zipWithIndex: Stream[(A, Long)] = step(Step.ZipWithIndex())

  /** Emits elements as long as `keep` is true for them, and also the first one for which it is
    * false. Then ends.
    * {{{
    * val toTheEnd: Stream[String] = Stream.linesOf(path).takeThrough(_ != "END") // with it
    * }}}
    */
  final def takeThrough(keep: A => Boolean): Stream[A] = step(Step.TakeThrough(Stream.erased(keep)))

  /** Drops elements as long as `drop` is true for them. Emits the first one for which it is false,
    * and all that follow.
    * {{{
    * val code: Stream[String] = Stream.linesOf(path).dropWhile(_.startsWith("#"))
    * }}}
    */
  final def dropWhile(drop: A => Boolean): Stream[A] = step(Step.DropWhile(Stream.erased(drop)))

  /** Calls `f` with a state and each element. `f` returns the next state and a result, which is
    * emitted. The first state is `zero`.
    *
    * {{{
    * val offsets: Stream[Long] =
    *   Stream.linesOf(path).mapAccumulate(0L)((at, line) => (at + line.length, at))
    * }}}
    */
  final def mapAccumulate[S, B](zero: S)(f: (S, A) => (S, B)): Stream[B] =
    step(Step.MapAccumulate(zero, f.asInstanceOf[(Any, Any) => (Any, Any)]))

  /** Emits the elements that are not equal to the element before them.
    * {{{
    * val states: Stream[Config] = Stream.repeatEval(fromNetwork).metered(1.second).changes
    * }}}
    */
  final def changes: Stream[A] = step(Step.Changes())

  private def transform[B](make: => Transformer[A, B]): Stream[B] =
    Stream.of(() => TransformStage(open(), make))

  /** Emits the elements for which `drop` is false.
    * {{{
    * val rows: Stream[String] = Stream.linesOf(path).filterNot(_.isBlank)
    * }}}
    */
  final def filterNot(drop: A => Boolean): Stream[A] = filter(a => !drop(a))

  /** Emits the elements for which the task that `keep` returns gives true.
    *
    * {{{
    * val valid: Stream[Int] = Stream.emits(ids).evalFilter(id => Task(id % 2 == 0))
    * }}}
    */
  final def evalFilter(keep: A => Task[Boolean]): Stream[A] =
    evalCollect(a => keep(a).map(is => Option.when(is)(a)))

  /** Runs the task that `f` returns for each element. Emits the value in its result; emits nothing
    * if the result is `None`.
    * {{{
    * val known: Stream[User] =
    *   Stream.emits(ids).evalCollect(id => load(id).option) // without those that fail
    * }}}
    */
  final def evalCollect[B](f: A => Task[Option[B]]): Stream[B] = evalMap(f).unNone

  /** As `scan`, but `f` returns a task, whose value is the result.
    * {{{
    * val totals: Stream[Int] =
    *   Stream.emits(ids).evalScan(0)((sum, id) => visitsOf(id).map(sum + _))
    * }}}
    */
  final def evalScan[B](zero: B)(f: (B, A) => Task[B]): Stream[B] = Stream.suspend {
    var state = zero
    Stream.emit(zero) ++ evalMap(a =>
      f(state, a).map { b =>
        state = b; b
      }
    )
  }

  /** As `mapAccumulate`, but `f` returns a task, whose value is the next state and the result.
    * {{{
    * val renewed: Stream[String] = Stream.eval(login).flatMap { first =>
    *   Stream.emits(requests).evalMapAccumulate(first) { (token, request) =>
    *     for
    *       valid <- if token.isValid then Task.pure(token) else login
    *       answer <- send(request, valid)
    *     yield (valid, answer)
    *   }
    * }
    * }}}
    */
  final def evalMapAccumulate[S, B](zero: S)(f: (S, A) => Task[(S, B)]): Stream[B] =
    Stream.suspend {
      var state = zero
      evalMap(a =>
        f(state, a).map { (after, b) =>
          state = after; b
        }
      )
    }

  /** Emits the values of the options that are defined, and drops each `None`.
    * {{{
    * val numbers: Stream[Int] = Stream.linesOf(path).map(_.toIntOption).unNone
    * }}}
    */
  final def unNone[B](using option: A <:< Option[B]): Stream[B] = mapConcat(option)

  /** Emits the values of the options. Ends at the first `None`.
    * {{{
    * val numbers: Stream[Int] = Stream.linesOf(path).map(_.toIntOption).unNoneTerminate
    * }}}
    */
  final def unNoneTerminate[B](using option: A <:< Option[B]): Stream[B] =
    map(option).takeWhile(_.isDefined).map(_.get)

  /** Emits the values on the right. **Fails** with the first error on the left. It is the opposite
    * of `attempt`.
    * {{{
    * val numbers: Stream[Int] = Stream.emits(fields).map(parse(_).toEither).rethrow
    * }}}
    */
  final def rethrow[B](using either: A <:< Either[Throwable, B]): Stream[B] =
    evalMap(a => Task.fromEither(either(a)))

  /** Emits each element as a `Right`. If the stream fails, emits the error as a `Left` and ends.
    * {{{
    * val errors: Stream[Throwable] =
    *   Stream.emits(ids).evalMap(load).attempt.collect { case Left(error) => error }
    * }}}
    */
  final def attempt: Stream[Either[Throwable, A]] =
    map(a => Right(a): Either[Throwable, A]).handleErrorWith(e => Stream.emit(Left(e)))

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

  /** Emits the elements of this stream. After an error, continues with those of `that`.
    * {{{
    * val configs: Stream[Config] = Stream.eval(fromFile).orElse(Stream.eval(fromNetwork))
    * }}}
    */
  final def orElse[B >: A](that: => Stream[B]): Stream[B] = handleErrorWith(_ => that)

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
      .eval(nanoTime.map(now => schedule.begin(ScheduleStart(now, Schedule.Random))))
      .flatMap(again)

  /** Emits `value` in place of each element.
    * {{{
    * val dots: Stream[String] = Stream.linesOf(path).as(".")
    * }}}
    */
  final def as[B](value: B): Stream[B] = map(_ => value)

  /** Emits `()` in place of each element. */
  final def void: Stream[Unit] = as(())

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

  /** Emits the same elements. First prints each to the standard error, after `label`.
    * {{{
    * val found = Stream.emits(ids).debug("asked").evalMap(load).debug("loaded")
    * }}}
    */
  final def debug(label: String = "stream"): Stream[A] =
    map { a =>
      System.err.println(s"$label: $a"); a
    }

  /** Emits the same elements, and names the stretch of the stream that ends here, for `observed`.
    * The stretch begins after the name before it, or at the source. In a stream that is not
    * `observed`, a name costs nothing.
    * {{{
    * val stored = Stream.linesOf(path).named("read").prefetchN(16).evalMap(store).named("store")
    * }}}
    */
  final def named(name: String): Stream[A] = Named(this, name)

  /** Emits the same elements, and has `monitor` count the work of each named stretch above this
    * point: the time it worked, the time it waited for input and for room, and the number of
    * elements that it passed on. This costs about 100 ns for each element and stretch.
    *
    * If `consumer` is given, the time that passes below this point between one element and the next
    * is counted under that name.
    * {{{
    * def stored(monitor: StreamMonitor): Task[Unit] =
    *   Stream.linesOf(path).named("read").evalMap(store).named("store").observed(monitor).drain
    * }}}
    */
  final def observed(monitor: StreamMonitor, consumer: Option[String] = None): Stream[A] =
    Stream.of(() => ObservedPull(this, monitor, consumer.orNull))

  /** Applies `pipe` to this stream. It is for calling an operator of your own in a chain of
    * operators.
    *
    * {{{
    * def numbered[A](lines: Stream[A]): Stream[String] = lines.zipWithIndex.map((a, n) => s"$n $a")
    *
    * val lines: Stream[String] = Stream.linesOf(path).through(numbered)
    * }}}
    */
  final def through[B](pipe: Stream[A] => Stream[B]): Stream[B] = pipe(this)

  /** Returns the task that `sink` returns for this stream.
    * {{{
    * def asLog(lines: Stream[String]): Task[Unit] = lines.evalForeach(line => Task(log(line)))
    *
    * val logged: Task[Unit] = Stream.linesOf(path).to(asLog)
    * }}}
    */
  final def to[B](sink: Stream[A] => Task[B]): Task[B] = sink(this)

  /** Emits the last `count` elements, once this stream has ended. Keeps `count` elements in memory.
    * {{{
    * val end: Task[List[String]] = Stream.linesOf(path).takeRight(10).toList
    * }}}
    */
  final def takeRight(count: Int): Stream[A] = transform(Transformer.TakeRight(count))

  /** Emits all elements except the last `count`. Each is emitted once `count` others have followed
    * it.
    * {{{
    * val withoutSum: Stream[String] = Stream.linesOf(path).dropRight(1)
    * }}}
    */
  final def dropRight(count: Int): Stream[A] = transform(Transformer.DropRight(count))

  /** Emits the elements whose key differs from that of the element before them. The first element
    * is emitted too.
    * {{{
    * val firstOfFolder = Stream.walk(path).changesBy(_.getParent)
    * }}}
    */
  final def changesBy[K](key: A => K): Stream[A] = transform(Transformer.ChangesBy(key))

  /** Emits the first of all equal elements. Keeps every distinct element in memory.
    * {{{
    * val words: Stream[String] = Stream.linesOf(path).mapConcat(_.split(' ')).distinct
    * }}}
    */
  final def distinct: Stream[A] = distinctBy(identity)

  /** Emits the first element of each key. Keeps every key in memory.
    * {{{
    * val users: Stream[User] = Stream.emits(ids).evalMap(load).distinctBy(_.name)
    * }}}
    */
  final def distinctBy[K](key: A => K): Stream[A] = transform(Transformer.DistinctBy(key))

  /** Applies `f` to pairs of one element of each stream, and emits the results. Ends when one of
    * the two streams ends.
    * {{{
    * val rows: Stream[String] = Stream.linesOf(path).zipWith(Stream.emits(ids))((l, n) => s"$n,$l")
    * }}}
    */
  final def zipWith[B, C](that: Stream[B])(f: (A, B) => C): Stream[C] = zip(that).map(f.tupled)

  /** Emits each element together with the one after it. For the last element, that is `None`.
    * {{{
    * val isLast: Stream[(Int, Boolean)] =
    *   Stream.emits(ids).zipWithNext.map((a, b) => (a, b.isEmpty))
    * }}}
    */
  final def zipWithNext: Stream[(A, Option[A])] = transform(Transformer.WithNext[A]())

  /** Emits each element together with the one before it. For the first element, that is `None`.
    * {{{
    * val gains: Stream[Int] =
    *   Stream(3, 5, 9).zipWithPrevious.collect { case (Some(before), now) => now - before }
    * }}}
    */
  final def zipWithPrevious: Stream[(Option[A], A)] =
    mapAccumulate(Option.empty[A])((before, a) => (Some(a), (before, a)))

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

  /** Emits the elements, and `separator` between each two of them.
    * {{{
    * val text: Stream[String] = Stream.linesOf(path).intersperse("\n")
    * }}}
    */
  final def intersperse[B >: A](separator: B): Stream[B] =
    transform(Transformer.Intersperse[B](separator))

  /** Emits windows of `size` consecutive elements. Each window begins `step` elements after the one
    * before it. If elements are left at the end that are in no window, a smaller one with them is
    * emitted last.
    *
    * {{{
    * val means = Stream.emits(List(1.0, 2.0, 4.0)).sliding(2).map(w => w.sum / w.size)
    * }}}
    */
  final def sliding(size: Int, step: Int = 1): Stream[Vector[A]] =
    require(
      size >= 1 && step >= 1,
      s"Stream.sliding: the size was $size and the step $step. They must be at least 1."
    )
    transform(Transformer.Sliding(size, step))

  /** Emits groups of consecutive elements whose weights add up to at most `limit`. An element that
    * is heavier than `limit` forms a group of its own. No group is empty.
    *
    * {{{
    * val batches = Stream.linesOf(path).chunkWeighted(10000)(line => line.length.toLong)
    * }}}
    */
  final def chunkWeighted(limit: Long)(weight: A => Long): Stream[Vector[A]] =
    require(
      limit >= 1,
      s"Stream.chunkWeighted: the limit was $limit. It must be at least 1."
    )
    transform(Transformer.Weighted(limit, weight))

  /** Emits groups of consecutive elements that have the same key, each with its key.
    *
    * {{{
    * val byFolder = Stream.emits(files).groupAdjacentBy(_.getParent)
    * }}}
    */
  final def groupAdjacentBy[K](key: A => K): Stream[(K, Vector[A])] =
    transform(Transformer.Adjacent(key))

  /** Emits the groups of elements between those for which `at` is true, which are dropped. Two such
    * elements in a row have an empty group between them.
    * {{{
    * val paragraphs: Stream[Vector[String]] = Stream.linesOf(path).split(_.isBlank)
    * }}}
    */
  final def split(at: A => Boolean): Stream[Vector[A]] = transform(Transformer.Split(at))

  // ---- concurrently ----

  /** Emits the same elements, which a fiber of its own, the producer, pulls from upstream ahead of
    * the consumer. The buffer holds at most `size` elements, and the producer holds one more while
    * it waits for room. Elements of a collection, which exist already, do not count.
    *
    * The producer is woken when a quarter of the buffer is free again. When the consumer asks for
    * no more elements, the producer is cancelled.
    *
    * **Order**: kept. An error comes after the elements before it.
    * {{{
    * val loadedAhead = Stream.emits(ids).evalMap(load).prefetchN(8).evalMap(u => store(u.name))
    * }}}
    */
  final def prefetchN(size: Int): Stream[A] =
    require(size >= 1, s"Stream.prefetchN: the size was $size. It must be at least 1.")
    Stream.of(() => PrefetchStage.elements(open(), size))

  /** As `prefetchN`, but limits the buffer by bytes instead of a number of elements. An element
    * takes as many bytes of `limitBytes` as `sizeBytes` returns for it, but at least one. An
    * element that is larger than the limit is buffered alone.
    * {{{
    * val lines: Stream[String] =
    *   Stream.fromPath(path).prefetchBytes(1_000_000)(_.length).through(Text.utf8Decode)
    * }}}
    */
  final def prefetchBytes(limitBytes: Long)(sizeBytes: A => Int): Stream[A] =
    require(
      limitBytes >= 1,
      s"Stream.prefetchBytes: the limit was $limitBytes. It must be at least 1."
    )
    Stream.of(() => PrefetchStage.bytes(open(), limitBytes, Stream.erased(sizeBytes)))

  /** Emits the same elements, of which a fiber of its own, the producer, pulls one from upstream
    * while the consumer uses the one before it. The producer begins with an element only when the
    * one before it has been taken. A `take` downstream asks for no more elements than it emits.
    *
    * **Order**: as with `prefetchN`.
    * {{{
    * val pages = Stream.emits(urls).map(fetch).prefetchStrict.evalMap(store)
    * }}}
    */
  final def prefetchStrict: Stream[A] = Stream.of(() => PrefetchStrictStage(open()))

  /** Emits the elements of both streams as they arrive. **Fails** as soon as one of them fails; the
    * other is then cancelled.
    * {{{
    * val events: Stream[Config] = Stream.repeatEval(configChanged).merge(Stream.eval(fromFile))
    * }}}
    */
  final def merge[B >: A](that: Stream[B]): Stream[B] =
    Stream.fromIterable[Stream[B]](List(this, that)).parJoin(2)

  /** Emits the elements of the streams that this stream emits, as they arrive. Runs at most `limit`
    * of them at a time, and buffers up to 64 elements. **Fails** as soon as one of them fails; the
    * others are then cancelled.
    * {{{
    * val lines: Stream[String] = Stream.emits(files).map(file => Stream.linesOf(file)).parJoin(4)
    * }}}
    */
  final def parJoin[B](limit: Int)(using elements: A <:< Stream[B]): Stream[B] =
    require(limit >= 1, s"Stream.parJoin: the limit was $limit. It must be at least 1.")
    Stream.of(() => ParJoinStage(open(), limit))

  /** Runs the task that `f` returns for each element and emits its value. At most `parallelism`
    * tasks run at a time.
    *
    * **Fails** with the first error, which cancels the other tasks. **Order**: that of the
    * elements. While one task takes long, those of later elements run, until `buffer` of them have
    * finished and wait for it.
    * {{{
    * val users: Stream[User] = Stream.emits(ids).parEvalMap(8)(load)
    * }}}
    */
  final def parEvalMap[B](parallelism: Int, buffer: Int = 64)(f: A => Task[B]): Stream[B] =
    parMap(parallelism, buffer, f, ordered = true, "parEvalMap")

  /** As `parEvalMap`. **Order**: that in which the tasks end.
    * {{{
    * val firstAnswer: Task[Option[String]] = Stream.emits(servers).parEvalMapUnordered(3)(ask).head
    * }}}
    */
  final def parEvalMapUnordered[B](parallelism: Int, buffer: Int = 64)(
      f: A => Task[B]
  ): Stream[B] =
    parMap(parallelism, buffer, f, ordered = false, "parEvalMapUnordered")

  /** As `parEvalMap`, with the value of a signal as the parallelism, which may change while the
    * stream runs. If more tasks run than it allows, they continue, and no further one begins. With
    * 0, none begins. Changes in quick succession may be seen as one.
    *
    * **Fails** also with an `IllegalArgumentException` if the value is negative.
    * {{{
    * val users = Signal.of(8).map { parallelism =>
    *   Stream.emits(ids).parEvalMap(parallelism, buffer = 64)(load)
    * }
    * }}}
    */
  final def parEvalMap[B](parallelism: Signal.View[Int], buffer: Int)(f: A => Task[B]): Stream[B] =
    parMapResized(parallelism, buffer, f, ordered = true, "parEvalMap")

  /** As `parEvalMapUnordered`, with the value of a signal as the parallelism: see `parEvalMap`.
    * {{{
    * def loaded(parallelism: Signal[Int]): Stream[User] =
    *   Stream.emits(ids).parEvalMapUnordered(parallelism, buffer = 64)(load)
    * }}}
    */
  final def parEvalMapUnordered[B](parallelism: Signal.View[Int], buffer: Int)(
      f: A => Task[B]
  ): Stream[B] =
    parMapResized(parallelism, buffer, f, ordered = false, "parEvalMapUnordered")

  private def parMapResized[B](
      parallelism: Signal.View[Int],
      buffer: Int,
      f: A => Task[B],
      ordered: Boolean,
      name: String
  ): Stream[B] =
    require(buffer >= 0, s"Stream.$name: the buffer was $buffer. It must be at least 0.")
    Stream.of { () =>
      val stage =
        ParEvalMapStage(open(), 0, buffer, Stream.erased(f), ordered, isResized = true)
      Resized(stage, parallelism)
    }

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

  /** Emits the elements in groups. A group is complete when it has `size` elements, or when `time`
    * has passed since its first one. No group is empty. While the consumer is busy, up to `size`
    * elements are collected, and one more is pulled from upstream.
    *
    * **Waits** for the first element of a group, then no longer than `time`. **Order**: kept. At
    * the end or after an error, the elements before it are emitted as a group at once, without
    * waiting for `time`.
    * {{{
    * val stored =
    *   Stream.fromIterable(ids).groupWithin(100, 1.second).evalMap(Task.traverse(_)(load))
    * }}}
    */
  final def groupWithin(size: Int, time: FiniteDuration): Stream[Vector[A]] =
    require(size >= 1, s"Stream.groupWithin: the size was $size. It must be at least 1.")
    Stream.positive("groupWithin", "time", time)
    Stream.of(() => GroupWithinStage.groups(open(), size, time.toNanos))

  /** Emits the same elements, at least `interval` apart. The first is emitted at once. An element
    * that is late does not shorten the interval before the next ones.
    *
    * **Waits** until the element is due. **Cancelled** while it waits.
    * {{{
    * val polled = Stream.repeatEval(fromNetwork).metered(1.second)
    * }}}
    */
  final def metered(interval: FiniteDuration): Stream[A] =
    Stream.positive("metered", "interval", interval)
    limited("metered", 1, interval, 1)(limiter => evalTap(_ => limiter.acquire))

  /** Emits the same elements, evenly spaced, at most `count` in each period `per`. After a pause,
    * `burst` of them may be emitted at once. `RateLimiter` explains how they are counted.
    *
    * **Waits** until the element is due. **Cancelled** while it waits.
    * {{{
    * val sent = Stream.emits(requests).throttle(100, 1.second, burst = 10).evalMap(store)
    * }}}
    */
  final def throttle(count: Int, per: FiniteDuration, burst: Int = 1): Stream[A] =
    limited("throttle", count, per, burst)(limiter => evalTap(_ => limiter.acquire))

  /** Emits the same elements. **Fails** with `RateExceeded` at the first element that arrives
    * faster than `throttle` would let it pass.
    * {{{
    * val orFails = Stream.repeatEval(configChanged).throttleEnforcing(5, 1.minute)
    * }}}
    */
  final def throttleEnforcing(count: Int, per: FiniteDuration, burst: Int = 1): Stream[A] =
    limited("throttleEnforcing", count, per, burst)(limiter =>
      evalTap(_ =>
        limiter.tryAcquire.flatMap(isInTime =>
          if isInTime then Task.unit else Task.fail(RateExceeded(count, per, burst))
        )
      )
    )

  private def limited(operator: String, count: Int, per: FiniteDuration, burst: Int)(
      use: RateLimiter => Stream[A]
  ): Stream[A] =
    require(
      count >= 1 && burst >= 1 && per.toNanos >= 1,
      s"Stream.$operator: the count was $count, the time $per and the burst $burst. " +
        "They must be at least 1, 1 ns and 1."
    )
    RateLimiter.check(s"Stream.$operator", count, per, burst)
    Stream.eval(RateLimiter(count, per, burst)).flatMap(use)

  /** Emits the same elements, and runs `that` concurrently from the first element that is asked
    * for. The elements of `that` are dropped. When this stream ends, or is not consumed to its end,
    * `that` is cancelled. The end of `that` changes nothing. No element is made ahead of demand.
    *
    * **Fails** also as soon as `that` fails; the work of this stream is then cancelled.
    * {{{
    * val watched =
    *   Stream.fromIterable(ids).evalMap(load).concurrently(Stream.repeatEval(configChanged))
    * }}}
    */
  final def concurrently(that: Stream[Any]): Stream[A] = beside(that.drain, ends = false)

  /** Emits elements until `task` ends. `task` starts when the first element is asked for. When it
    * ends, the work of this stream is cancelled; when this stream ends first, `task` is cancelled.
    * No element is made ahead of demand.
    *
    * For a `Deferred`, pass its `get` itself: then no element is emitted after the value has been
    * set, and none at all if it was set before the stream began. With any other task, an element
    * that was made before the end of the task may still be emitted after it.
    *
    * **Fails** also as soon as `task` fails.
    * {{{
    * val untilStop =
    *   Deferred[Unit].map(stop => Stream.repeatEval(fromNetwork).interruptWhen(stop.get))
    * }}}
    */
  final def interruptWhen(task: Task[Any]): Stream[A] = task match
    case set: OneShot.Wait[?] => beside(task, ends = true, () => set.isSet)
    case _ => beside(task, ends = true)

  /** As `interruptWhen`, but ends when the value of `stop` is true. No element is emitted once a
    * `set(true)` has returned, and none at all if the value was true before. A `true` that is
    * replaced at once may be missed.
    * {{{
    * val polled = Signal.of(false).map { stop =>
    *   Stream.repeatEval(fromNetwork).interruptWhenTrue(stop)
    * }
    * }}}
    */
  final def interruptWhenTrue(stop: Signal.View[Boolean]): Stream[A] =
    beside(stop.waitUntil(identity), ends = true, () => stop.present)

  /** As `interruptWhen`, but ends at the first `true` of `that`, which runs on a fiber of its own.
    * Elements may be emitted until the `true` has arrived. If `that` ends without a `true`, nothing
    * changes. For a `Signal`, pass the signal itself, not its stream.
    * {{{
    * val polled = Stream.repeatEval(fromNetwork).interruptWhenTrue(Stream.sleep(1.minute).as(true))
    * }}}
    */
  final def interruptWhenTrue(that: Stream[Boolean]): Stream[A] =
    interruptWhen(
      that.filter(identity).take(1).count.flatMap(n => if n == 0 then Task.never else Task.unit)
    )

  /** Emits the same elements. **Fails** with a `TimeoutException` if the stream has not ended
    * within `total` of the first element that was asked for; its work is then cancelled. The time
    * that the consumer takes counts too.
    * {{{
    * val users: Task[List[User]] = Stream.emits(ids).evalMap(load).timeout(10.seconds).toList
    * }}}
    */
  final def timeout(total: FiniteDuration): Stream[A] =
    val tooLate = Task.defer(Task.fail(TimeoutException(s"The stream did not end within $total.")))
    beside(Task.sleep(total).andThen(tooLate), ends = false)

  private def beside(
      task: Task[Any],
      ends: Boolean,
      isOver: () => Boolean = () => false
  ): Stream[A] =
    Stream.of(() => BesideStage(open(), Stream.eval(task).open(), ends, isOver))

  /** Emits the same elements. **Fails** with a `TimeoutException` if the consumer has waited for an
    * element for longer than `limit`; the work of this stream is then cancelled. The time that the
    * consumer takes does not count. No element is made ahead of demand.
    * {{{
    * val alive: Stream[Array[Byte]] = Stream.tailOf(path).idleTimeout(30.seconds)
    * }}}
    */
  final def idleTimeout(limit: FiniteDuration): Stream[A] =
    Stream.positive("idleTimeout", "limit", limit)
    val error = () => TimeoutException(s"The stream had no element within $limit.")
    Stream.of(() => IdleStage.timeout(open(), limit.toNanos, error))

  /** Passes all elements of this stream, which runs once, to each of `pipes`, and emits the
    * elements of the pipes as they arrive. Up to 16 elements wait for each pipe; the slowest pipe
    * sets the pace. A pipe that ends early receives no more. The stream ends when all pipes have
    * ended.
    *
    * A pipe sees an end only if this stream has ended. So code after a `++` in a pipe, such as a
    * commit, does not run after a cancel or an error, or if the consumer asks for no more elements.
    *
    * **Fails** as soon as a pipe fails; the others are then cancelled. An error of this stream
    * reaches each pipe, after the elements before it. **Order**: each pipe receives the elements in
    * order.
    * {{{
    * val both = Stream
    *   .fromIterable(ids)
    *   .broadcastThrough(_.evalMap(load), _.evalMap(id => store(s"$id")))
    * }}}
    */
  final def broadcastThrough[B](pipes: (Stream[A] => Stream[B])*): Stream[B] =
    require(pipes.nonEmpty, "Stream.broadcastThrough: there was no pipe. Give it at least one.")
    Stream.of(() => FedStage.broadcast(open(), Stream.erasedPipes(pipes)))

  /** Emits the elements of both streams as they arrive, until this stream ends; `that` is then
    * cancelled. **Fails** as `merge`.
    * {{{
    * val withTicks: Stream[String] =
    *   Stream.linesOf(path).mergeHaltLeft(Stream.fixedRate(1.second).as("tick"))
    * }}}
    */
  final def mergeHaltLeft[B >: A](that: Stream[B]): Stream[B] =
    Stream.untilNone(withEnd.merge(that.map(Some(_))))

  /** Emits the elements of both streams as they arrive, until `that` ends; this stream is then
    * cancelled. **Fails** as `merge`.
    */
  final def mergeHaltRight[B >: A](that: Stream[B]): Stream[B] =
    Stream.untilNone(map(Some(_)).merge(that.withEnd))

  /** Emits the elements of both streams as they arrive, until one of them ends; the other is then
    * cancelled. **Fails** as `merge`.
    */
  final def mergeHaltBoth[B >: A](that: Stream[B]): Stream[B] =
    Stream.untilNone[B](withEnd.merge(that.withEnd))

  /** Emits each element as a `Some`, then one `None`. This is not written with `++`, which would
    * close this stream before its last elements have been used.
    */
  private def withEnd: Stream[Option[A]] = transform(Transformer.WithEnd[A]())

  /** Emits the elements of both streams as they arrive. If both have one, emits that of this
    * stream. At most one element of each stream is made ahead. The next one of this stream is
    * pulled as soon as the consumer has taken one, so that it arrives first. **Fails** as `merge`.
    * {{{
    * val urgentFirst: Stream[String] = Stream.linesOf(path).mergePreferred(Stream.emits(requests))
    * }}}
    */
  final def mergePreferred[B >: A](that: Stream[B]): Stream[B] =
    Stream.of(() => MergePreferredStage(open(), that.open()))

  /** As `parEvalMap`, without a limit to the number of tasks that run at a time. Use it when there
    * are few tasks.
    */
  final def parEvalMapUnbounded[B](f: A => Task[B]): Stream[B] = parEvalMap(Int.MaxValue)(f)

  /** As `parJoin`, without a limit to the number of streams that run at a time. Use it when there
    * are few streams.
    */
  final def parJoinUnbounded[B](using elements: A <:< Stream[B]): Stream[B] = parJoin(Int.MaxValue)

  /** Emits pairs of one element of each stream, both of which are pulled at the same time. Ends
    * when one of the two streams ends. **Fails** as soon as one of them fails; the other is then
    * cancelled.
    * {{{
    * val both: Stream[(User, Int)] =
    *   Stream.emits(ids).evalMap(load).parZip(Stream.emits(ids).evalMap(visitsOf))
    * }}}
    */
  final def parZip[B](that: Stream[B]): Stream[(A, B)] =
    Stream.of(() => ParZipStage(open(), that.open()))

  /** Emits a pair of the latest elements of both streams for each element that arrives, once both
    * have emitted one. Ends when both streams have ended, or when one of them has ended without an
    * element. **Fails** as soon as one of them fails; the other is then cancelled.
    * {{{
    * val current: Stream[(String, Config)] =
    *   Stream.emits(requests).zipLatest(Stream.repeatEval(configChanged))
    * }}}
    */
  final def zipLatest[B](that: Stream[B]): Stream[(A, B)] =
    Stream.of(() => ZipLatestStage(open(), that.open()))

  /** Emits an element once no other has followed it for `time`. Of many elements in quick
    * succession, only the last is emitted. The last element of the stream is emitted at its end, or
    * before its error.
    *
    * Upstream runs on a fiber of its own and does not wait for the consumer. While the consumer is
    * busy, only the latest element is kept for it.
    * {{{
    * val reloaded = Stream.repeatEval(configChanged).debounce(1.second)
    * }}}
    */
  final def debounce(time: FiniteDuration): Stream[A] =
    Stream.positive("debounce", "time", time)
    Stream.of(() => DebounceStage(open(), time.toNanos))

  /** Emits the latest element at the end of each `period` in which one arrived. The last element of
    * the stream is emitted at its end, or before its error. Upstream runs on a fiber of its own and
    * does not wait for the consumer.
    * {{{
    * val shown =
    *   Stream.emits(ids).evalMap(visitsOf).sample(1.second).evalMap(n => Task(log(s"$n")))
    * }}}
    */
  final def sample(period: FiniteDuration): Stream[A] =
    Stream.positive("sample", "period", period)
    Stream.of(() => SampleStage(open(), period.toNanos))

  /** Emits the same elements, of which a fiber of its own makes up to `size` ahead of the consumer.
    * That fiber never waits: if the buffer is full, `overflow` decides which element is dropped, or
    * that the stream fails. To make it wait, use `prefetchN`.
    *
    * **Fails** with `BufferOverflow` under `Overflow.Fail`, after the elements in the buffer.
    * **Order**: kept.
    * {{{
    * val newest = Stream.repeatEval(fromNetwork).buffer(100, Overflow.DropOldest)
    * }}}
    */
  final def buffer(size: Int, overflow: Overflow): Stream[A] =
    require(size >= 1, s"Stream.buffer: the size was $size. It must be at least 1.")
    Stream.of(() => OverflowStage(open(), size, overflow))

  /** Combines all elements that arrive while the consumer is busy into one with `f`, and emits it.
    * Upstream runs on a fiber of its own and does not wait for the consumer.
    *
    * **Fails** with what `f` throws, after the elements that were combined before. **Order**: kept.
    * {{{
    * val sums: Stream[Int] = Stream.repeatEval(visitsOf(id)).conflate(_ + _)
    * }}}
    */
  final def conflate[B >: A](f: (B, B) => B): Stream[B] =
    batch[B](Long.MaxValue, _ => 0)(identity)(f)

  /** Combines the elements that arrive while the consumer is busy, and emits the result: `first` of
    * an element, then `combine` of that and of each further element, as long as their costs add up
    * to at most `limit`. An element with a higher cost is emitted alone. Upstream runs on a fiber
    * of its own. When the limit is reached, it waits for the consumer.
    *
    * **Fails** with what the functions throw, after the elements that were combined before.
    * **Order**: kept.
    * {{{
    * val batches = Stream.repeatEval(fromNetwork).batch(100, _ => 1)(Vector(_))(_ :+ _)
    * }}}
    */
  final def batch[B](limit: Long, cost: A => Long)(first: A => B)(combine: (B, A) => B): Stream[B] =
    require(limit >= 1, s"Stream.batch: the limit was $limit. It must be at least 1.")
    Stream.of { () =>
      val combined = combine.asInstanceOf[(Any, Any) => Any]
      BatchStage(open(), limit, Stream.erased(cost), Stream.erased(first), combined)
    }

  /** Emits the same elements, and `filler` whenever the consumer has waited for an element for
    * `idle`. No element is made ahead of demand.
    * {{{
    * val lines: Stream[String] = Stream.linesOf(path).keepAlive(15.seconds, ": still here")
    * }}}
    */
  final def keepAlive[B >: A](idle: FiniteDuration, filler: B): Stream[B] =
    Stream.positive("keepAlive", "time", idle)
    Stream.of(() => IdleStage(open(), idle.toNanos, () => filler))

  /** Emits the first value of the iterator that `f` returns for each element, then further values
    * of it as long as the consumer asks for more and the next element has not arrived. The end of
    * this stream ends the result at once.
    * {{{
    * val latest: Stream[Config] = Stream.repeatEval(configChanged).expand(Iterator.continually(_))
    * }}}
    */
  final def expand[B](f: A => Iterator[B]): Stream[B] =
    Stream.of(() => ExpandStage(open(), Stream.erased(f)))

  /** Emits the same elements, after a pause of `duration` before the first is asked for. For a
    * pause between elements, use `spaced`.
    * {{{
    * val polled = Stream.repeatEval(configChanged).delayBy(1.minute)
    * }}}
    */
  final def delayBy(duration: FiniteDuration): Stream[A] = Stream.exec(Task.sleep(duration)) ++ this

  /** Emits the same elements, and pauses for `delay` before each except the first. The pause begins
    * when the element has been pulled from upstream, after the use of the one before it.
    * {{{
    * val polite = Stream.emits(urls).spaced(1.second).map(fetch)
    * }}}
    */
  final def spaced(delay: FiniteDuration): Stream[A] =
    Stream.positive("spaced", "delay", delay)
    zipWithIndex.evalMap((a, n) => if n == 0 then Task.pure(a) else Task.sleep(delay).as(a))

  /** Emits the elements of the stream that `f` returns for the latest element. When a new element
    * arrives, the stream of the one before it is cancelled, even while the consumer is busy. The
    * new stream begins when that has ended. An element of the old stream that the consumer has not
    * taken is dropped. At most one element is made ahead.
    *
    * **Fails** as soon as this stream or a stream of `f` fails.
    * {{{
    * val current = Stream.repeatEval(configChanged).switchMap(c => Stream.resource(clientOf(c)))
    * }}}
    */
  final def switchMap[B](f: A => Stream[B]): Stream[B] =
    Stream.of(() => SwitchMapStage(open(), f.asInstanceOf[Any => Stream[Any]]))

  /** As `broadcastThrough`, but passes each element to one of `pipes` that is ready for it. No
    * element waits in a buffer. Ends when all pipes have ended.
    * {{{
    * val answers: Stream[String] = Stream
    *   .emits(requests)
    *   .balance(_.evalMap(r => ask(s"a.example/$r")), _.evalMap(r => ask(s"b.example/$r")))
    * }}}
    */
  final def balance[B](pipes: (Stream[A] => Stream[B])*): Stream[B] =
    require(pipes.nonEmpty, "Stream.balance: there was no pipe. Give it at least one.")
    Stream.of(() => FedStage.balance(open(), Stream.erasedPipes(pipes)))

  /** Emits the elements of the stream that `use` returns for a signal. The signal holds the latest
    * element of this stream, at first `initial`. This stream runs concurrently, and is cancelled
    * when the stream of `use` ends. The end of this stream changes nothing.
    *
    * **Fails** also as soon as this stream fails.
    * {{{
    * val users = Stream.repeatEval(configChanged).hold(config) { latest =>
    *   Stream.fromIterable(ids).evalMap(id => latest.get.flatMap(c => store(s"$id ${c.address}")))
    * }
    * }}}
    */
  final def hold[B >: A, C](initial: B)(use: Signal[B] => Stream[C]): Stream[C] =
    Stream.eval(Signal.of(initial)).flatMap(s => use(s).concurrently(evalMap(s.set)))

  /** Emits the same elements, but none while the value of `paused` is true: none between the return
    * of a `set(true)` and the next `set(false)`, and none before the first `set(false)` if the
    * value was true from the beginning. One element may be made meanwhile; it then waits.
    *
    * **Waits** until the value is false. **Cancelled** while it waits.
    * {{{
    * val pausable = Signal.of(false).map { paused =>
    *   Stream.emits(requests).evalMap(ask).pauseWhen(paused)
    * }
    * }}}
    */
  final def pauseWhen(paused: Signal.View[Boolean]): Stream[A] =
    evalTap(_ => paused.waitUntil(!_))

  /** Emits the same elements, but none while the latest element of `that` is true. `that` runs on a
    * fiber of its own, so elements may be emitted until its first element, or a `true`, has
    * arrived. The end of `that` changes nothing. For a `Signal`, pass the signal itself, not its
    * stream. **Fails** also as soon as `that` fails.
    * {{{
    * def polite(isBusy: Task[Boolean]): Stream[String] =
    *   Stream.emits(requests).evalMap(ask).pauseWhen(Stream.repeatEval(isBusy).metered(1.second))
    * }}}
    */
  final def pauseWhen(that: Stream[Boolean]): Stream[A] =
    that.hold(false)(paused => evalTap(_ => paused.waitUntil(!_)))

  /** Runs the task that `f` returns for each element and emits its value. At most `parallelism`
    * tasks run at a time, and one at a time for each key. Keys are compared by `==`. Up to `buffer`
    * further elements are pulled, which wait for their key, or, once their task has ended, for the
    * consumer.
    *
    * **Fails** with the first error, which cancels the other tasks. An error of this stream comes
    * after all results. **Order**: for each key, that of its elements; otherwise that in which the
    * tasks end. A slow key holds up no other, until `buffer` of its elements wait.
    * {{{
    * val stored = Stream.fromIterable(requests).parEvalMapBy(8)(request => request.take(1))(store)
    * }}}
    */
  final def parEvalMapBy[K, B](parallelism: Int, buffer: Int = 64)(key: A => K)(
      f: A => Task[B]
  ): Stream[B] =
    require(
      parallelism >= 1 && buffer >= 0,
      s"Stream.parEvalMapBy: the parallelism was $parallelism and the buffer $buffer. " +
        "They must be at least 1 and 0."
    )
    Stream.of(() => ByKeyStage(open(), parallelism, buffer, Stream.erased(key), Stream.erased(f)))

  /** Splits this stream into two: the elements for which `isFirst` is true, and the others. While
    * the resource is in use, a fiber runs this stream. Up to 16 elements wait in each of the two
    * streams. Run each of them once, both at the same time: if one is not run, the other will wait.
    * A stream that is over takes no more elements.
    *
    * **Fails**: an error of this stream or of `isFirst` comes in both streams, after the elements
    * before it. **Order**: kept. This stream is closed with the resource, after the use of its
    * elements.
    * {{{
    * val both = Stream.fromIterable(ids).partition(_ % 2 == 0).use { (even, odd) =>
    *   even.evalMap(load).toList.both(odd.count)
    * }
    * }}}
    */
  final def partition(isFirst: A => Boolean): Resource[(Stream[A], Stream[A])] =
    Partition(this, isFirst)

  // ---- as a task ----

  /** Runs the stream to its end and drops its elements.
    * {{{
    * val stored: Task[Unit] = Stream.linesOf(path).evalMap(store).drain
    * }}}
    */
  final def drain: Task[Unit] = RunStream(this, Step.Drain())

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

  /** Returns a publisher, which runs the stream anew for each subscriber, on a fiber of its own. It
    * does nothing before there is a subscriber. It asks the stream for an element only when the
    * subscriber has requested one. The end comes with the last element if this is a collection, and
    * otherwise with a request for one more element.
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

  /** As `fold`, but `f` returns a task, whose value is the result.
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

object Stream:
  private[weir] def of[A](make: () => Pull): Stream[A] = new Stream[A]:
    private[weir] def open(): Pull = make()

  private def erased[A, B](f: A => B): Any => B = f.asInstanceOf[Any => B]

  private def erasedPipes[A, B](
      pipes: Seq[Stream[A] => Stream[B]]
  ): Seq[Stream[Any] => Stream[Any]] =
    pipes.map(_.asInstanceOf[Stream[Any] => Stream[Any]])

  private def untilNone[A](stream: Stream[Option[A]]): Stream[A] =
    stream.takeWhile(_.isDefined).map(_.get)

  private def positive(operator: String, name: String, time: FiniteDuration): Unit =
    require(
      time.toNanos >= 1,
      s"Stream.$operator: the $name was $time. It must be more than 0."
    )

  /** Emits no elements and ends.
    * {{{
    * val lines: Stream[String] = if dryRun then Stream.empty else Stream.linesOf(path)
    * }}}
    */
  val empty: Stream[Nothing] = of(() => EmptySource)

  /** Emits `value`.
    * {{{
    * val one: Stream[String] = Stream.emit("id,name")
    * }}}
    */
  def emit[A](value: A): Stream[A] = of(() => EmitSource(value))

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
    of(() => IteratorSource(() => iterator, isStrict = false, classOf[Iterator[?]]))

  /** The same as `fromIterable`. */
  def emits[A](items: Iterable[A]): Stream[A] = fromIterable(items)

  /** Emits the elements of the source that `open` returns each time the stream runs. `open` runs
    * when the first element is asked for. The source is closed once, when the stream is over,
    * however it ends. `Source` has an example.
    *
    * **Waits** when the source does: it may block. **Cancelled** while the source waits, and
    * between elements. `open` and `Source.close` are masked, so leave slow opening to the first
    * `Source.next`. **Fails** with what `open`, `next` or `close` throws. After an error of `open`,
    * nothing is closed.
    * {{{
    * final class Countdown(var left: Int) extends Source[Int]:
    *   def next()(using Task.Direct): Int | Source.End =
    *     if left == 0 then Source.End else { left -= 1; left }
    *
    * val numbers: Stream[Int] = Stream.fromSource(Task(Countdown(10)))
    * }}}
    */
  def fromSource[A](open: Task[Source[A]]): Stream[A] = of(() => SourcePull(open))

  /** Emits the bytes of a file in blocks of `blockBytes`. The last block may be smaller. For a
    * pipe, each block has the bytes that one read returned. Each block is an array of its own,
    * which the consumer may keep. The file is opened when the stream runs, and closed when it is
    * over.
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
    of(() => BlockSource(() => open, blockBytes))

  /** Emits the lines of a file, without the `\n`, `\r` or both that end them.
    *
    * **Cancelled** as `fromPath`. **Fails** with an `IOException` if the bytes of a line are not
    * valid in the charset. The error names the line and comes after the lines before it.
    * {{{
    * val errors: Task[Long] = Stream.linesOf(path).filter(_.contains("ERROR")).count
    * }}}
    */
  def linesOf(path: Path, charset: Charset = StandardCharsets.UTF_8): Stream[String] =
    of(() => LinesStage(fromPath(path).open(), charset, s"Stream.linesOf: $path"))

  /** Calls `f` with a state, at first `zero`. `f` returns an element, which is emitted, and the
    * next state. Ends when `f` returns `None`.
    * {{{
    * val digits: Stream[Int] = Stream.unfold(1729)(n => Option.when(n > 0)((n % 10, n / 10)))
    * }}}
    */
  def unfold[S, A](zero: S)(f: S => Option[(A, S)]): Stream[A] = of(() => UnfoldSource(zero, f))

  /** Runs `task` and emits its value.
    * {{{
    * val orders: Stream[Order] = Stream.eval(ordersOf(id)).mapConcat(identity)
    * }}}
    */
  def eval[A](task: Task[A]): Stream[A] = of(() => EvalSource(task))

  /** Evaluates `code` each time the stream runs, and emits its value. `code` may block. It is the
    * same as `Stream.eval(Task(code))`.
    * {{{
    * val text: Stream[String] = Stream.delay(Files.readString(path))
    * }}}
    */
  def delay[A](code: => A): Stream[A] = eval(Task.delay(code))

  /** Runs `task` again and again, and emits its values. Never ends by itself.
    * {{{
    * val polled: Stream[Config] = Stream.repeatEval(fromNetwork).metered(1.second)
    * }}}
    */
  def repeatEval[A](task: Task[A]): Stream[A] = of(() => RepeatEvalSource(task))

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
  def resource[A](resource: Resource[A]): Stream[A] = of(() => ResourceSource(resource))

  /** Emits no elements and never ends. It can be cancelled. */
  val never: Stream[Nothing] = eval(Task.never)

  /** Emits no elements and fails with `error`.
    * {{{
    * val lines: Stream[String] = Stream.linesOf(path) ++ Stream.fail(IOException("no END"))
    * }}}
    */
  def fail(error: Throwable): Stream[Nothing] = of(() => FailSource(error))

  // ---- values, effects and state ----

  /** Emits the elements of `items`.
    * {{{
    * val three: Stream[Int] = Stream(1, 2, 3)
    * }}}
    */
  def apply[A](items: A*): Stream[A] = fromIterable(items)

  /** Runs `task`, emits no elements, and ends.
    * {{{
    * val lines = Stream.exec(Task(log("begins"))) ++ Stream.linesOf(path)
    * }}}
    */
  def exec(task: Task[Any]): Stream[Nothing] = eval(task).flatMap(_ => empty)

  /** Runs `task` and emits the elements of the collection that it returns.
    * {{{
    * val orders: Stream[Order] = Stream.evalSeq(ordersOf(id))
    * }}}
    */
  def evalSeq[A](task: Task[IterableOnce[A]]): Stream[A] = eval(task).mapConcat(identity)

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
    of(() => UnfoldEvalSource(zero, f))

  /** Emits `value` again and again. Never ends by itself.
    * {{{
    * val pairs: Stream[(String, Int)] = Stream.linesOf(path).zip(Stream.constant(1))
    * }}}
    */
  def constant[A](value: A): Stream[A] = iterated(Iterator.continually(value))

  /** Runs `task` again and again, and emits its values. Ends when it returns `None`.
    * {{{
    * val lines: Stream[String] = Stream.repeatEvalOption(Task(Option(readLine())))
    * }}}
    */
  def repeatEvalOption[A](task: Task[Option[A]]): Stream[A] =
    repeatEval(task).takeWhile(_.isDefined).map(_.get)

  /** Evaluates `stream` each time it runs, and emits the elements of the result. It is for state
    * that belongs to one run, and for recursion.
    * {{{
    * val numbered: Stream[String] = Stream.suspend {
    *   var count = 0
    *   Stream.linesOf(path).map { line => count += 1; s"$count $line" }
    * }
    * }}}
    */
  def suspend[A](stream: => Stream[A]): Stream[A] = empty ++ stream

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

  // ---- Reactive Streams ----

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
    of(() => PublisherSource.of(publisher, buffer))

  /** Returns a processor for one subscriber, which passes the elements that it receives through
    * `pipe`. The pipe runs once, from when there is a subscriber. It may run concurrently. `buffer`
    * is that of `fromPublisher`. One further element is made ready for the subscriber before it
    * requests it.
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

  // ---- time ----

  /** Emits `()` after `duration`, and ends.
    * {{{
    * val later: Stream[Config] = Stream.sleep(1.second).flatMap(_ => Stream.eval(fromNetwork))
    * }}}
    */
  def sleep(duration: FiniteDuration): Stream[Unit] = eval(Task.sleep(duration))

  /** Emits the time since the beginning at each `interval`. The first element comes after one
    * `interval`. If the consumer takes longer than an interval, the next element comes at once, and
    * the missed ones are left out. Never ends by itself.
    * {{{
    * val progress = Stream.awakeEvery(1.second).evalTap(t => Task(log(s"$t")))
    * }}}
    */
  def awakeEvery(interval: FiniteDuration): Stream[FiniteDuration] =
    positive("awakeEvery", "interval", interval)
    eval(Task.monotonic).flatMap(begin =>
      fixedRate(interval).evalMap(_ => Task.monotonic.map(_ - begin))
    )

  /** As `awakeEvery`, but emits `()`.
    * {{{
    * val measured: Stream[Int] = Stream.fixedRate(1.second).evalMap(_ => visitsOf(id))
    * }}}
    */
  def fixedRate(interval: FiniteDuration): Stream[Unit] =
    positive("fixedRate", "interval", interval)
    fromSchedule(Schedule.fixed(interval))

  /** Emits `()` after `delay`, and then each time `delay` after the consumer has asked for the next
    * element. Never ends by itself.
    * {{{
    * val polled: Stream[Config] = Stream.fixedDelay(1.second).evalMap(_ => fromNetwork)
    * }}}
    */
  def fixedDelay(delay: FiniteDuration): Stream[Unit] =
    positive("fixedDelay", "delay", delay)
    repeatEval(Task.sleep(delay))

  /** Emits `()` after each delay that `schedule` gives. Ends when the schedule stops.
    * {{{
    * val tries = Stream.fromSchedule(Schedule.exponential(10.millis).times(5))
    * }}}
    */
  def fromSchedule(schedule: Schedule[Unit]): Stream[Unit] =
    val nanoTime = Task.onRuntime(_.timers.nanoTime)
    eval(nanoTime.map(now => schedule.begin(ScheduleStart(now, Schedule.Random)))).flatMap(run =>
      repeatEvalOption(nanoTime.map(run.next((), _)).flatMap { delay =>
        if delay == ScheduleRun.Stop then Task.pure(None)
        else Task.sleep(delay.nanos).as(Some(()))
      })
    )

  // ---- files ----

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

  /** Emits the changes in `directory` from when the first is asked for. Changes below its
    * subdirectories are not emitted. Ends when the directory is deleted.
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
    * If another file takes the place of this one, as when logs are rotated, the rest of this one is
    * emitted first, then all of the other. A file that has become shorter is read from its
    * beginning. A file that is truncated and grows beyond its old length within one interval is not
    * recognized as a new one.
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
    positive("tailOf", "interval", interval)
    require(
      blockBytes >= 1,
      s"Stream.tailOf: the size of a block was $blockBytes. It must be at least 1."
    )
    fromSource(Task(TailSource(path, fromEnd, interval, blockBytes)))

  // ---- from queues and callbacks ----

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
  def fromQueue[A](queue: Queue[A]): Stream[A] = repeatEval(queue.take)

  /** As `fromQueue`, but ends at the first `None`.
    * {{{
    * val stored = Queue.bounded[Option[String]](100).flatMap { queue =>
    *   val filled = Stream.emits(requests).intoQueueNoneTerminated(queue)
    *   filled.both(Stream.fromQueueNoneTerminated(queue).evalForeach(store))
    * }
    * }}}
    */
  def fromQueueNoneTerminated[A](queue: Queue[Option[A]]): Stream[A] =
    repeatEvalOption(queue.take)

  /** The same as `channel.stream`. */
  def fromChannel[A](channel: Channel[A]): Stream[A] = channel.stream

  /** Emits the elements that callbacks pass, from any thread, to the `Emit` that `register` is
    * called with. `register` returns a resource that starts and stops the callbacks. It is acquired
    * when the first element is asked for, and released when the stream is over. At most `bound`
    * elements are buffered. `overflow` decides what happens to one more.
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
      register: Emit[A] => Resource[Any]
  ): Stream[A] =
    require(bound >= 1, s"Stream.async: the bound was $bound. It must be at least 1.")
    resource(Resource.defer {
      val buffer = CallbackBuffer[A](bound, overflow)
      val discarding = Resource.make(Task.unit)(_ => Task(buffer.discard()))
      // Discards before `register` releases, and also if `register` fails to acquire.
      discarding.flatMap(_ => register(buffer)).flatMap(_ => discarding).map(_ => buffer)
    }).flatMap(buffer => ChannelSource.stream(buffer.next))

  /** Emits the elements that `body` emits. `body` is code as that of a `Task.direct`: it may await,
    * loop over other streams, and block. It runs on a fiber of its own, in turns with the consumer:
    * an emit waits until the consumer asks for the next element. So no element is made ahead of
    * demand; for that, add `prefetchN`. The stream ends when `body` returns.
    *
    * **Cancelled** when the consumer asks for no more elements: `body` is cancelled at an await, at
    * an emit, or where it blocks, and its finalizers see a cancel. The stream waits for them.
    * **Fails** with what `body` throws, after the elements before it.
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
  def direct[A](body: Emitter[A] => Task.Direct ?=> Unit): Stream[A] =
    of(() => EmitterSource(body.asInstanceOf[Emitter[Any] => Task.Direct ?=> Unit]))

  /** The function by which the code of a `Stream.direct` emits elements. */
  abstract class Emitter[-A] private[weir] ():
    /** Emits `value` as the next element. Fibers that the block waits for may call it too: their
      * elements come in the order in which they were emitted.
      *
      * **Waits** until the consumer asks for the element after it. **Cancelled** when the consumer
      * asks for no more elements. Called in masked code then, it returns at once, and `value` is
      * dropped. **Fails** with an `IllegalStateException` after the end of the block.
      * {{{
      * val numbered: Stream[String] = Stream.direct { emit =>
      *   var n = 0
      *   for line <- Stream.linesOf(path) do { n += 1; emit(s"$n $line") }
      * }
      * }}}
      */
    def apply(value: A)(using Task.Direct): Unit

  /** The object to which the callbacks of a `Stream.async` pass elements. Its methods never wait.
    */
  abstract class Emit[-A] private[weir] ():
    /** Returns true if `value` is accepted as an element of the stream. Returns false if it was
      * dropped, which includes a call after the end and a call after the consumer has asked for no
      * more.
      * {{{
      * def received(emit: Stream.Emit[String], line: String): Unit =
      *   if !emit(line) then log(s"dropped: $line")
      * }}}
      */
    def apply(value: A): Boolean

    /** Ends the stream, after the elements in the buffer.
      * {{{
      * def received(emit: Stream.Emit[String], line: String): Unit =
      *   if line == "END" then emit.end() else emit(line): Unit
      * }}}
      */
    def end(): Unit

    /** Fails the stream with `error`, after the elements in the buffer. Does nothing after the end.
      * {{{
      * def closed(emit: Stream.Emit[String], code: Int): Unit =
      *   if code == 0 then emit.end() else emit.fail(IOException(s"closed with $code"))
      * }}}
      */
    def fail(error: Throwable): Unit
