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
import weir.stream.*
import weir.sync.OneShot
import weir.task.{ScheduleRun, ScheduleStart}

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
    val pull = open()
    val fused = FusedShapes.open(pull, Array(end), this)
    if fused ne null then fused else pull

  private def step[B](step: Step): Stream[B] = Staged(this, step)

  // ---- on one fiber ----

  /** `f` of each element.
    * {{{
    * val lengths: Stream[Int] = Stream.linesOf(path).map(_.length)
    * }}}
    */
  final def map[B](f: A => B): Stream[B] = step(Step.Map(Stream.erased(f)))

  /** The elements for which `keep` is true.
    * {{{
    * val comments: Stream[String] = Stream.linesOf(path).filter(_.startsWith("#"))
    * }}}
    */
  final def filter(keep: A => Boolean): Stream[A] =
    step(Step.Filter(Stream.erased(keep)))

  /** The same as `filter`: what the compiler calls for an `if` in a `for`. */
  final def withFilter(keep: A => Boolean): Stream[A] = filter(keep)

  /** The elements of the streams that `f` makes of each element, one stream after the other.
    * {{{
    * val lines: Stream[String] = Stream.emits(files).flatMap(file => Stream.linesOf(file))
    * }}}
    */
  final def flatMap[B](f: A => Stream[B]): Stream[B] = FlatMapped(this, f)

  /** The values of the tasks that `f` makes of each element, run one after the other.
    * {{{
    * val users: Stream[User] = Stream.emits(ids).evalMap(load)
    * }}}
    */
  final def evalMap[B](f: A => Task[B]): Stream[B] =
    step(Step.EvalMap(Stream.erased(f)))

  /** The same elements, each once the task that `f` makes of it has run.
    * {{{
    * val users: Stream[User] = Stream.emits(ids).evalMap(load).evalTap(user => store(user.name))
    * }}}
    */
  final def evalTap(f: A => Task[Any]): Stream[A] = evalMap(a => f(a).as(a))

  /** The first `count` elements. Upstream does no work for a further one.
    * {{{
    * val newest: Task[List[String]] = Stream.repeatEval(ask("a.example")).take(3).toList
    * }}}
    */
  final def take(count: Long): Stream[A] = step(Step.Take(count))

  /** All but the first `count` elements.
    * {{{
    * val rows: Stream[String] = Stream.linesOf(path).drop(1) // without the header
    * }}}
    */
  final def drop(count: Long): Stream[A] = step(Step.Drop(count))

  /** The elements before the first for which `keep` is false.
    * {{{
    * val header: Stream[String] = Stream.linesOf(path).takeWhile(_.nonEmpty)
    * }}}
    */
  final def takeWhile(keep: A => Boolean): Stream[A] =
    step(Step.TakeWhile(Stream.erased(keep)))

  /** The elements in groups of `size`; the last group may be smaller, and is never empty.
    * {{{
    * val stored = Stream.linesOf(path).chunkN(500).evalMap(rows => store(rows.mkString("\n")))
    * }}}
    */
  final def chunkN(size: Int): Stream[Vector[A]] =
    require(size >= 1, s"Stream.chunkN: the size was $size. It must be at least 1.")
    Stream.of(() => ChunkStage(open(), size))

  /** The elements in groups of those that are there already, at most `limit` each: of a collection,
    * of a block that was read, of what has come from another fiber together. A group is never
    * empty. For another library that takes elements in groups: it waits for none, and no code of
    * yours runs ahead of what is asked for. Where only a count matters, use `chunkN`.
    * {{{
    * val stored = Stream.emits(ids).prefetchN(64).chunks().evalMap(ready => store(s"$ready"))
    * }}}
    */
  final def chunks(limit: Int = 256): Stream[Vector[A]] =
    require(limit >= 1, s"Stream.chunks: the limit was $limit. It must be at least 1.")
    Stream.of(() => ReadyChunks(open(), limit))

  /** `zero`, then for each element `f` of the result before it and of the element.
    * {{{
    * val balances: Stream[Int] = Stream(100, -30, 20).scan(0)(_ + _) // 0, 100, 70, 90
    * }}}
    */
  final def scan[B](zero: B)(f: (B, A) => B): Stream[B] =
    step(Step.Scan(zero, f.asInstanceOf[(Any, Any) => Any]))

  /** Pairs of elements, until one of the two streams ends.
    * {{{
    * val pairs: Stream[(Int, User)] = Stream.emits(ids).zip(Stream.emits(ids).evalMap(load))
    * }}}
    */
  final def zip[B](that: Stream[B]): Stream[(A, B)] =
    Stream.of(() => ZipStage(open(), that.open()))

  /** These elements, then those of `that`, which is made when these have ended.
    * {{{
    * val both: Stream[String] = Stream.emit("id,name") ++ Stream.linesOf(path)
    * }}}
    */
  final def ++[B >: A](that: => Stream[B]): Stream[B] = Concat(this, () => that)

  /** These elements; after an error, those of the stream that `f` makes of it. `f` is for every
    * error: for some of them there is `recoverWith`.
    *
    * **Fails** with what that stream or `f` throws. The error that `f` was given is suppressed
    * under what it throws.
    * {{{
    * val lines: Stream[String] =
    *   Stream.linesOf(path).handleErrorWith(e => Stream.emit(s"# not read: ${e.getMessage}"))
    * }}}
    */
  final def handleErrorWith[B >: A](f: Throwable => Stream[B]): Stream[B] = Handled(this, f)

  /** These elements; after an error for which `f` has a case, those of the stream of that case.
    * **Fails** with any other error, as it is.
    * {{{
    * val lines: Stream[String] =
    *   Stream.linesOf(path).recoverWith { case _: IOException => Stream.emits(requests) }
    * }}}
    */
  final def recoverWith[B >: A](f: PartialFunction[Throwable, Stream[B]]): Stream[B] =
    handleErrorWith(error => f.applyOrElse(error, Stream.fail))

  /** These elements; after an error for which `f` has a case, the value of that. **Fails** with
    * any other error, as it is.
    * {{{
    * val answers: Stream[String] =
    *   Stream.emits(servers).evalMap(ask).recover { case e: IOException => e.getMessage }
    * }}}
    */
  final def recover[B >: A](f: PartialFunction[Throwable, B]): Stream[B] =
    handleErrorWith(e => f.andThen[Stream[B]](b => Stream.emit(b)).applyOrElse(e, Stream.fail))

  /** The same elements; `finalizer` runs once when the stream is over, however it ends, also where
    * an operator such as `take(0)` or `scan` has ended before it asked for an element.
    * {{{
    * val lines = Stream.linesOf(path).onFinalize(Task(log(s"$path is closed")))
    * }}}
    */
  final def onFinalize(finalizer: Task[Unit]): Stream[A] = onFinalizeCase(_ => finalizer)

  /** As `onFinalize`, with a finalizer that is told how the stream is over: it has succeeded also
    * where the consumer asks for no more elements, and failed also where what comes after it has.
    * {{{
    * val lines = Stream.linesOf(path).onFinalizeCase {
    *   case Outcome.Failed(error) => Task(log(s"$path: $error"))
    *   case _ => Task.unit
    * }
    * }}}
    */
  final def onFinalizeCase(finalizer: Outcome[Unit] => Task[Unit]): Stream[A] =
    Finalized(this, finalizer)

  /** The values of `f` for a resource and each element. The resource is acquired once, when the
    * first element has come, and released once, when the stream is over. A stream without elements
    * acquires none.
    *
    * The release gets the outcome of the stream, as with `Stream.resource`. If `f` returns a task,
    * an `evalMap(identity)` after this runs it while the resource is open.
    * {{{
    * val totals: Stream[Int] = Stream.emits(ids).mapWithResource(connection)(total)
    * }}}
    */
  final def mapWithResource[R, B](resource: Resource[R])(f: (R, A) => B): Stream[B] =
    Stream.of(() => MapWithResourceStage(open(), resource, f.asInstanceOf[(Any, Any) => Any]))

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

  /** Pairs of each element and how many came before it.
    * {{{
    * val numbered: Stream[String] = Stream.linesOf(path).zipWithIndex.map((l, n) => s"${n + 1} $l")
    * }}}
    */
  final def zipWithIndex: Stream[(A, Long)] = step(Step.ZipWithIndex())

  /** The elements up to the first for which `keep` is false, and that one.
    * {{{
    * val toTheEnd: Stream[String] = Stream.linesOf(path).takeThrough(_ != "END") // with it
    * }}}
    */
  final def takeThrough(keep: A => Boolean): Stream[A] = step(Step.TakeThrough(Stream.erased(keep)))

  /** The elements from the first for which `drop` is false.
    * {{{
    * val code: Stream[String] = Stream.linesOf(path).dropWhile(_.startsWith("#"))
    * }}}
    */
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

  /** The elements that are not equal to the one before.
    * {{{
    * val states: Stream[Config] = Stream.repeatEval(fromNetwork).metered(1.second).changes
    * }}}
    */
  final def changes: Stream[A] = step(Step.Changes())

  private def transform[B](make: => Transformer[A, B]): Stream[B] =
    Stream.of(() => TransformStage(open(), make))

  /** The elements for which `drop` is false.
    * {{{
    * val rows: Stream[String] = Stream.linesOf(path).filterNot(_.isBlank)
    * }}}
    */
  final def filterNot(drop: A => Boolean): Stream[A] = filter(a => !drop(a))

  /** The elements for which the task that `keep` makes of them gives true.
    *
    * {{{
    * val valid: Stream[Int] = Stream.emits(ids).evalFilter(id => Task(id % 2 == 0))
    * }}}
    */
  final def evalFilter(keep: A => Task[Boolean]): Stream[A] =
    evalCollect(a => keep(a).map(is => Option.when(is)(a)))

  /** What the tasks that `f` makes of the elements give, where that is not none.
    * {{{
    * val known: Stream[User] =
    *   Stream.emits(ids).evalCollect(id => load(id).option) // without those that fail
    * }}}
    */
  final def evalCollect[B](f: A => Task[Option[B]]): Stream[B] = evalMap(f).unNone

  /** As `scan`, with the result of the task that `f` makes.
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

  /** As `mapAccumulate`, with the result of the task that `f` makes.
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

  /** The values of the options that have one.
    * {{{
    * val numbers: Stream[Int] = Stream.linesOf(path).map(_.toIntOption).unNone
    * }}}
    */
  final def unNone[B](using option: A <:< Option[B]): Stream[B] = mapConcat(option)

  /** The values of the options before the first none.
    * {{{
    * val numbers: Stream[Int] = Stream.linesOf(path).map(_.toIntOption).unNoneTerminate
    * }}}
    */
  final def unNoneTerminate[B](using option: A <:< Option[B]): Stream[B] =
    map(option).takeWhile(_.isDefined).map(_.get)

  /** The values on the right. **Fails** with the first error on the left: the opposite of
    * `attempt`.
    * {{{
    * val numbers: Stream[Int] = Stream.emits(fields).map(parse(_).toEither).rethrow
    * }}}
    */
  final def rethrow[B](using either: A <:< Either[Throwable, B]): Stream[B] =
    evalMap(a => Task.fromEither(either(a)))

  /** The elements, each on the right; an error of this stream is the last element, on the left.
    * {{{
    * val errors: Stream[Throwable] =
    *   Stream.emits(ids).evalMap(load).attempt.collect { case Left(error) => error }
    * }}}
    */
  final def attempt: Stream[Either[Throwable, A]] =
    map(a => Right(a): Either[Throwable, A]).handleErrorWith(e => Stream.emit(Left(e)))

  /** The same elements. **Fails** with what `f` makes of the error, or with that where `f` has no
    * case.
    * {{{
    * val users: Stream[User] = Stream
    *   .emits(ids)
    *   .flatMap(id => Stream.eval(load(id)).adaptError { case e => UserNotFound(id, e) })
    * }}}
    */
  final def adaptError(f: PartialFunction[Throwable, Throwable]): Stream[A] =
    handleErrorWith(error => Stream.fail(f.applyOrElse(error, identity)))

  /** The same elements. After an error for which `f` has a case its task runs; then the stream
    * **Fails** with that error, under which one of the task is suppressed.
    *
    * {{{
    * val watched = Stream.linesOf(path).onError { case e => Task(log(s"$path: $e")) }
    * }}}
    */
  final def onError(f: PartialFunction[Throwable, Task[Any]]): Stream[A] =
    handleErrorWith(error => Stream.eval(Task.fail(error).onError(f)))

  /** These elements; after an error, those of `that`.
    * {{{
    * val configs: Stream[Config] = Stream.eval(fromFile).orElse(Stream.eval(fromNetwork))
    * }}}
    */
  final def orElse[B >: A](that: => Stream[B]): Stream[B] = handleErrorWith(_ => that)

  /** These elements. After an error the stream begins anew, when `schedule` says; it **Fails** with
    * the last error once that says no more. The elements before an error have been given by then,
    * and come again, unless what this stream reads goes on where it stopped. The schedule counts
    * all errors of a run, however far apart: see `Schedule.resetAfter`.
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

  /** `value` for each element.
    * {{{
    * val dots: Stream[String] = Stream.linesOf(path).as(".")
    * }}}
    */
  final def as[B](value: B): Stream[B] = map(_ => value)

  /** `()` for each element. */
  final def void: Stream[Unit] = as(())

  /** The elements of these streams, one stream after the other.
    * {{{
    * val lines: Stream[String] = Stream.emits(files).map(file => Stream.linesOf(file)).flatten
    * }}}
    */
  final def flatten[B](using stream: A <:< Stream[B]): Stream[B] = flatMap(stream)

  /** `value`, then these elements.
    * {{{
    * val table: Stream[String] = Stream.linesOf(path).prepend("id,name")
    * }}}
    */
  final def prepend[B >: A](value: B): Stream[B] = Stream.emit(value) ++ this

  /** These elements; those of `that` if there are none.
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

  /** These elements again and again, without end.
    * {{{
    * val inTurn: Stream[String] = Stream.emits(servers).repeat.take(100)
    * }}}
    */
  final def repeat: Stream[A] = this ++ repeat

  /** These elements `count` times.
    * {{{
    * val twice: Stream[String] = Stream.linesOf(path).repeatN(2) // read twice
    * }}}
    */
  final def repeatN(count: Long): Stream[A] =
    if count <= 0 then Stream.empty else this ++ repeatN(count - 1)

  /** The same elements; each is printed to the standard error first, after `label`.
    * {{{
    * val found = Stream.emits(ids).debug("asked").evalMap(load).debug("loaded")
    * }}}
    */
  final def debug(label: String = "stream"): Stream[A] =
    map { a =>
      System.err.println(s"$label: $a"); a
    }

  /** The same elements; the stretch of the stream that ends here has this name where the stream is
    * `observed`. It begins after the name before, or at the source. Otherwise this is not there: it
    * costs nothing.
    * {{{
    * val stored = Stream.linesOf(path).named("read").prefetchN(16).evalMap(store).named("store")
    * }}}
    */
  final def named(name: String): Stream[A] = Named(this, name)

  /** The same elements; `monitor` counts what each named stretch above this point does: how long it
    * worked, waited for input and for room, and how many elements it passed on. Of an element it
    * costs about 100 ns for each stretch. With a name for the `consumer`, so is what is done with
    * the elements below this point, between one and the next.
    * {{{
    * def stored(monitor: StreamMonitor): Task[Unit] =
    *   Stream.linesOf(path).named("read").evalMap(store).named("store").observed(monitor).drain
    * }}}
    */
  final def observed(monitor: StreamMonitor, consumer: Option[String] = None): Stream[A] =
    Stream.of(() => ObservedPull(this, monitor, consumer.orNull))

  /** What `pipe` makes of this stream: an operator of your own, in the place of one of these.
    *
    * {{{
    * def numbered[A](lines: Stream[A]): Stream[String] = lines.zipWithIndex.map((a, n) => s"$n $a")
    *
    * val lines: Stream[String] = Stream.linesOf(path).through(numbered)
    * }}}
    */
  final def through[B](pipe: Stream[A] => Stream[B]): Stream[B] = pipe(this)

  /** The task that `sink` makes of this stream.
    * {{{
    * def asLog(lines: Stream[String]): Task[Unit] = lines.evalForeach(line => Task(log(line)))
    *
    * val logged: Task[Unit] = Stream.linesOf(path).to(asLog)
    * }}}
    */
  final def to[B](sink: Stream[A] => Task[B]): Task[B] = sink(this)

  /** The last `count` elements, once the stream has ended. Keeps so many.
    * {{{
    * val end: Task[List[String]] = Stream.linesOf(path).takeRight(10).toList
    * }}}
    */
  final def takeRight(count: Int): Stream[A] = transform(Transformer.TakeRight(count))

  /** All but the last `count` elements, each once `count` others have come after it.
    * {{{
    * val withoutSum: Stream[String] = Stream.linesOf(path).dropRight(1)
    * }}}
    */
  final def dropRight(count: Int): Stream[A] = transform(Transformer.DropRight(count))

  /** The elements that `key` makes other values of than of the one before.
    * {{{
    * val firstOfFolder = Stream.walk(path).changesBy(_.getParent)
    * }}}
    */
  final def changesBy[K](key: A => K): Stream[A] = transform(Transformer.ChangesBy(key))

  /** The first of equal elements. Keeps every one that is different.
    * {{{
    * val words: Stream[String] = Stream.linesOf(path).mapConcat(_.split(' ')).distinct
    * }}}
    */
  final def distinct: Stream[A] = distinctBy(identity)

  /** The first of the elements of each key. Keeps every key.
    * {{{
    * val users: Stream[User] = Stream.emits(ids).evalMap(load).distinctBy(_.name)
    * }}}
    */
  final def distinctBy[K](key: A => K): Stream[A] = transform(Transformer.DistinctBy(key))

  /** `f` of pairs of elements, until one of the two streams ends.
    * {{{
    * val rows: Stream[String] = Stream.linesOf(path).zipWith(Stream.emits(ids))((l, n) => s"$n,$l")
    * }}}
    */
  final def zipWith[B, C](that: Stream[B])(f: (A, B) => C): Stream[C] = zip(that).map(f.tupled)

  /** Pairs of each element and the one after it.
    * {{{
    * val isLast: Stream[(Int, Boolean)] =
    *   Stream.emits(ids).zipWithNext.map((a, b) => (a, b.isEmpty))
    * }}}
    */
  final def zipWithNext: Stream[(A, Option[A])] = transform(Transformer.WithNext[A]())

  /** Pairs of the element before, and each element.
    * {{{
    * val gains: Stream[Int] =
    *   Stream(3, 5, 9).zipWithPrevious.collect { case (Some(before), now) => now - before }
    * }}}
    */
  final def zipWithPrevious: Stream[(Option[A], A)] =
    mapAccumulate(Option.empty[A])((before, a) => (Some(a), (before, a)))

  /** Pairs of elements, until both streams have ended; where one of them has no more elements,
    * `left` or `right` is in their place.
    * {{{
    * val rows: Stream[(String, Int)] = Stream.linesOf(path).zipAll(Stream.emits(ids))("", 0)
    * }}}
    */
  final def zipAll[A1 >: A, B](that: Stream[B])(left: A1, right: B): Stream[(A1, B)] =
    Stream.of(() => ZipAllStage(open(), that.open(), left, right))

  /** As `zipAll`, with `f` of the pairs.
    * {{{
    * val sums: Stream[Int] = Stream(1, 2, 3).zipAllWith(Stream(10, 20))(0, 0)(_ + _)
    * }}}
    */
  final def zipAllWith[A1 >: A, B, C](that: Stream[B])(left: A1, right: B)(
      f: (A1, B) => C
  ): Stream[C] = zipAll(that)(left, right).map(f.tupled)

  /** Elements of the two streams in turn, until one of them ends.
    * {{{
    * val fair: Stream[String] = Stream.emits(requests).interleave(Stream.linesOf(path))
    * }}}
    */
  final def interleave[B >: A](that: Stream[B]): Stream[B] =
    zipWith(that)((a, b) => List[B](a, b)).mapConcat(identity)

  /** The elements with `separator` between them.
    * {{{
    * val text: Stream[String] = Stream.linesOf(path).intersperse("\n")
    * }}}
    */
  final def intersperse[B >: A](separator: B): Stream[B] =
    transform(Transformer.Intersperse[B](separator))

  /** Windows of `size` elements, each `step` elements after the one before. The last one is smaller
    * if elements are left that are in no other window.
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

  /** Groups of neighbours whose weights together are at most `limit`, or of one element that is
    * heavier. No group is empty.
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

  /** Groups of neighbours of the same key, with that.
    *
    * {{{
    * val byFolder = Stream.emits(files).groupAdjacentBy(_.getParent)
    * }}}
    */
  final def groupAdjacentBy[K](key: A => K): Stream[(K, Vector[A])] =
    transform(Transformer.Adjacent(key))

  /** What is between the elements for which `at` is true; those are left out. Between two of them
    * that are neighbours there is an empty group.
    * {{{
    * val paragraphs: Stream[Vector[String]] = Stream.linesOf(path).split(_.isBlank)
    * }}}
    */
  final def split(at: A => Boolean): Stream[Vector[A]] = transform(Transformer.Split(at))

  // ---- concurrently ----

  /** The same elements, made ahead by a fiber of their own, the producer. At most `size` elements
    * are made and not used, and one more while the producer waits for room; those of a collection,
    * which exist already, do not count. The producer is woken when a quarter of the room is free
    * again. When the consumer asks for no more, it is cancelled.
    *
    * **Order**: kept; an error comes after the elements before it.
    * {{{
    * val loadedAhead = Stream.emits(ids).evalMap(load).prefetchN(8).evalMap(u => store(u.name))
    * }}}
    */
  final def prefetchN(size: Int): Stream[A] =
    require(size >= 1, s"Stream.prefetchN: the size was $size. It must be at least 1.")
    Stream.of(() => PrefetchStage.elements(open(), size))

  /** As `prefetchN`, with room for `limitBytes` instead of a number of elements. An element takes
    * the room that `sizeBytes` returns for it, but at least one byte. An element larger than the
    * limit is buffered alone.
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

  /** The same elements, made ahead by a fiber of their own, the producer. It makes one element
    * while the consumer uses the one before it, and begins with an element only when the one before
    * it has been taken. `take` requests no further element than it returns.
    *
    * **Order**: as with `prefetchN`.
    * {{{
    * val pages = Stream.emits(urls).map(fetch).prefetchStrict.evalMap(store)
    * }}}
    */
  final def prefetchStrict: Stream[A] = Stream.of(() => PrefetchStrictStage(open()))

  /** The elements of both streams as they come. **Fails** as soon as one of them does; the other is
    * then cancelled.
    * {{{
    * val events: Stream[Config] = Stream.repeatEval(configChanged).merge(Stream.eval(fromFile))
    * }}}
    */
  final def merge[B >: A](that: Stream[B]): Stream[B] =
    Stream.fromIterable[Stream[B]](List(this, that)).parJoin(2)

  /** The elements of these streams as they come, of at most `limit` streams at a time; up to 64
    * elements are buffered. **Fails** as soon as one of them does; the others are then cancelled.
    * {{{
    * val lines: Stream[String] = Stream.emits(files).map(file => Stream.linesOf(file)).parJoin(4)
    * }}}
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

  /** As `parEvalMap`, where the parallelism is the value of a signal, which may change while the
    * stream runs. Where there are more effects than it says, they go on, and none begins; with 0
    * all wait. Changes that come close together may be seen as one.
    *
    * **Fails** also with an `IllegalArgumentException` when the value is negative.
    * {{{
    * val users = Signal.of(8).map { parallelism =>
    *   Stream.emits(ids).parEvalMap(parallelism, buffer = 64)(load)
    * }
    * }}}
    */
  final def parEvalMap[B](parallelism: Signal.View[Int], buffer: Int)(f: A => Task[B]): Stream[B] =
    parMapResized(parallelism, buffer, f, ordered = true, "parEvalMap")

  /** As `parEvalMapUnordered`, where the parallelism is the value of a signal: see `parEvalMap`.
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

  /** The elements in groups: of `size`, or of those that came within `time` of the first one in the
    * group. A group is never empty. While the consumer is busy, up to `size` elements are gathered,
    * and one more is made.
    *
    * **Waits** for the first element, then no longer than `time`. **Order**: kept; the end or an
    * error comes after a group of what came before it, which does not wait for `time`.
    * {{{
    * val stored =
    *   Stream.fromIterable(ids).groupWithin(100, 1.second).evalMap(Task.traverse(_)(load))
    * }}}
    */
  final def groupWithin(size: Int, time: FiniteDuration): Stream[Vector[A]] =
    require(size >= 1, s"Stream.groupWithin: the size was $size. It must be at least 1.")
    Stream.positive("groupWithin", "time", time)
    Stream.of(() => GroupWithinStage.groups(open(), size, time.toNanos))

  /** The same elements, no two of them within `interval`. The first one comes at once; an element
    * that is late does not bring the next ones closer together.
    *
    * **Waits** until the element is due. **Cancelled** while it waits.
    * {{{
    * val polled = Stream.repeatEval(fromNetwork).metered(1.second)
    * }}}
    */
  final def metered(interval: FiniteDuration): Stream[A] =
    Stream.positive("metered", "interval", interval)
    limited("metered", 1, interval, 1)(limiter => evalTap(_ => limiter.acquire))

  /** The same elements, at most `count` in each time `per`, evenly spaced; with a `burst`, so many
    * at once after a pause. `RateLimiter` says how they are counted.
    *
    * **Waits** until the element may come. **Cancelled** while it waits.
    * {{{
    * val sent = Stream.emits(requests).throttle(100, 1.second, burst = 10).evalMap(store)
    * }}}
    */
  final def throttle(count: Int, per: FiniteDuration, burst: Int = 1): Stream[A] =
    limited("throttle", count, per, burst)(limiter => evalTap(_ => limiter.acquire))

  /** The same elements. **Fails** with `RateExceeded` at the first that comes faster than
    * `throttle` would let it pass.
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

  /** The same elements, while `that` runs beside, from the first element that is asked for. Its
    * elements are not used. When this ends, or is not consumed to its end, `that` is cancelled. The
    * end of `that` changes nothing. Nothing is made ahead.
    *
    * **Fails** also as soon as `that` does; what this was doing is then cancelled.
    * {{{
    * val watched =
    *   Stream.fromIterable(ids).evalMap(load).concurrently(Stream.repeatEval(configChanged))
    * }}}
    */
  final def concurrently(that: Stream[Any]): Stream[A] = beside(that.drain, ends = false)

  /** The elements before `task` ends, which begins with the first that is asked for. What this was
    * doing then is cancelled. When this ends first, `task` is cancelled. Nothing is made ahead.
    *
    * For a `Deferred` pass its `get` as it is: no element comes after the value has been set, and
    * none at all if it was set before the stream began. With another task, an element that was made
    * before its end may still come after it.
    *
    * **Fails** also as soon as `task` does.
    * {{{
    * val untilStop =
    *   Deferred[Unit].map(stop => Stream.repeatEval(fromNetwork).interruptWhen(stop.get))
    * }}}
    */
  final def interruptWhen(task: Task[Any]): Stream[A] = task match
    case set: OneShot.Wait[?] => beside(task, ends = true, () => set.isSet)
    case _ => beside(task, ends = true)

  /** As `interruptWhen`, when the value of `stop` is true: no element comes once a `set(true)` has
    * returned, and none at all if it was true before. A `true` that is replaced at once may be
    * missed.
    * {{{
    * val polled = Signal.of(false).map { stop =>
    *   Stream.repeatEval(fromNetwork).interruptWhenTrue(stop)
    * }
    * }}}
    */
  final def interruptWhenTrue(stop: Signal.View[Boolean]): Stream[A] =
    beside(stop.waitUntil(identity), ends = true, () => stop.present)

  /** As `interruptWhen`, at the first `true` of `that`. It has a fiber of its own, so elements may
    * come until the `true` has arrived. The end of `that` without one changes nothing. For a
    * `Signal` pass the signal, not its stream.
    * {{{
    * val polled = Stream.repeatEval(fromNetwork).interruptWhenTrue(Stream.sleep(1.minute).as(true))
    * }}}
    */
  final def interruptWhenTrue(that: Stream[Boolean]): Stream[A] =
    interruptWhen(
      that.filter(identity).take(1).count.flatMap(n => if n == 0 then Task.never else Task.unit)
    )

  /** The same elements. **Fails** with a `TimeoutException` when the stream has not ended within
    * `total` of the first element that was asked for; what it was doing is then cancelled. The time
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

  /** The same elements. **Fails** with a `TimeoutException` when the consumer has waited for one
    * for longer than `limit`; what the stream was doing is then cancelled. The time that the
    * consumer takes does not count. Nothing is made ahead.
    * {{{
    * val alive: Stream[Array[Byte]] = Stream.tailOf(path).idleTimeout(30.seconds)
    * }}}
    */
  final def idleTimeout(limit: FiniteDuration): Stream[A] =
    Stream.positive("idleTimeout", "limit", limit)
    val error = () => TimeoutException(s"The stream had no element within $limit.")
    Stream.of(() => IdleStage.timeout(open(), limit.toNanos, error))

  /** The elements of all `pipes` as they come, each of which gets all elements of this, which runs
    * once. Up to 16 elements wait for each pipe; the slowest sets the pace. A pipe that ends early
    * gets no more. It ends when all pipes have ended.
    *
    * A pipe sees an end only if this stream has ended. So code after a `++` in a pipe, such as a
    * commit, does not run after a cancel or an error, or if the consumer asks for no more elements.
    *
    * **Fails** as soon as a pipe does; the others are then cancelled. An error of this comes to
    * each pipe, after the elements before it. **Order**: each pipe gets the elements in order.
    * {{{
    * val both = Stream
    *   .fromIterable(ids)
    *   .broadcastThrough(_.evalMap(load), _.evalMap(id => store(s"$id")))
    * }}}
    */
  final def broadcastThrough[B](pipes: (Stream[A] => Stream[B])*): Stream[B] =
    require(pipes.nonEmpty, "Stream.broadcastThrough: there was no pipe. Give it at least one.")
    Stream.of(() => FedStage.broadcast(open(), Stream.erasedPipes(pipes)))

  /** The elements of both until this ends; `that` is then cancelled. **Fails** as `merge`.
    * {{{
    * val withTicks: Stream[String] =
    *   Stream.linesOf(path).mergeHaltLeft(Stream.fixedRate(1.second).as("tick"))
    * }}}
    */
  final def mergeHaltLeft[B >: A](that: Stream[B]): Stream[B] =
    Stream.untilNone(withEnd.merge(that.map(Some(_))))

  /** The elements of both until `that` ends; this is then cancelled. **Fails** as `merge`. */
  final def mergeHaltRight[B >: A](that: Stream[B]): Stream[B] =
    Stream.untilNone(map(Some(_)).merge(that.withEnd))

  /** The elements of both until one of them ends; the other is then cancelled. **Fails** as
    * `merge`.
    */
  final def mergeHaltBoth[B >: A](that: Stream[B]): Stream[B] =
    Stream.untilNone[B](withEnd.merge(that.withEnd))

  /** Not by `++`, which would close this before its last elements have been used. */
  private def withEnd: Stream[Option[A]] = transform(Transformer.WithEnd[A]())

  /** The elements of both as they come; where both have one, that of this. At most one element of
    * each is made ahead: the next one of this as soon as the consumer has one, so that it is there
    * first. **Fails** as `merge`.
    * {{{
    * val urgentFirst: Stream[String] = Stream.linesOf(path).mergePreferred(Stream.emits(requests))
    * }}}
    */
  final def mergePreferred[B >: A](that: Stream[B]): Stream[B] =
    Stream.of(() => MergePreferredStage(open(), that.open()))

  /** As `parEvalMap`, with no limit to the tasks that run at the same time: for tasks that are few.
    */
  final def parEvalMapUnbounded[B](f: A => Task[B]): Stream[B] = parEvalMap(Int.MaxValue)(f)

  /** As `parJoin`, with no limit to the streams that run at the same time: for streams that are
    * few.
    */
  final def parJoinUnbounded[B](using elements: A <:< Stream[B]): Stream[B] = parJoin(Int.MaxValue)

  /** Pairs of elements, which both streams make at the same time, until one of the two ends.
    * **Fails** as soon as one of them does; the other is then cancelled.
    * {{{
    * val both: Stream[(User, Int)] =
    *   Stream.emits(ids).evalMap(load).parZip(Stream.emits(ids).evalMap(visitsOf))
    * }}}
    */
  final def parZip[B](that: Stream[B]): Stream[(A, B)] =
    Stream.of(() => ParZipStage(open(), that.open()))

  /** Pairs of the latest elements of both, from when both have one: one pair for each element that
    * comes. It ends when both have ended, or one of them without an element. **Fails** as soon as
    * one of them does; the other is then cancelled.
    * {{{
    * val current: Stream[(String, Config)] =
    *   Stream.emits(requests).zipLatest(Stream.repeatEval(configChanged))
    * }}}
    */
  final def zipLatest[B](that: Stream[B]): Stream[(A, B)] =
    Stream.of(() => ZipLatestStage(open(), that.open()))

  /** The elements after which no other came for `time`, and the last one, which comes with the end
    * or before the error. So of many that come close together there is only the last.
    *
    * Upstream runs on a fiber of its own and does not wait for the consumer: while that is busy,
    * only the latest element is kept for it.
    * {{{
    * val reloaded = Stream.repeatEval(configChanged).debounce(1.second)
    * }}}
    */
  final def debounce(time: FiniteDuration): Stream[A] =
    Stream.positive("debounce", "time", time)
    Stream.of(() => DebounceStage(open(), time.toNanos))

  /** The latest element at the end of each `period` in which one came, and the last one, which
    * comes with the end or before the error. Upstream runs on a fiber of its own and does not wait
    * for the consumer.
    * {{{
    * val shown =
    *   Stream.emits(ids).evalMap(visitsOf).sample(1.second).evalMap(n => Task(log(s"$n")))
    * }}}
    */
  final def sample(period: FiniteDuration): Stream[A] =
    Stream.positive("sample", "period", period)
    Stream.of(() => SampleStage(open(), period.toNanos))

  /** The same elements, up to `size` of them made ahead by a fiber of their own, which never waits:
    * where the buffer is full, `overflow` says what happens. To have it wait, use `prefetchN`.
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

  /** What came while the consumer was busy, combined by `f` into one element. Upstream runs on a
    * fiber of its own and does not wait for the consumer.
    *
    * **Fails** with what `f` throws, after what was combined before. **Order**: kept.
    * {{{
    * val sums: Stream[Int] = Stream.repeatEval(visitsOf(id)).conflate(_ + _)
    * }}}
    */
  final def conflate[B >: A](f: (B, B) => B): Stream[B] =
    batch[B](Long.MaxValue, _ => 0)(identity)(f)

  /** What came while the consumer was busy, combined: `first` of an element, then `combine` of that
    * and of each element, as long as their costs are at most `limit` together. An element whose
    * cost is higher comes alone. When the limit is reached, upstream waits for the consumer; it
    * runs on a fiber of its own.
    *
    * **Fails** with what the functions throw, after what was combined before. **Order**: kept.
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

  /** The same elements, and `filler` whenever the consumer has waited for one for `idle`. Nothing
    * is made ahead.
    * {{{
    * val lines: Stream[String] = Stream.linesOf(path).keepAlive(15.seconds, ": still here")
    * }}}
    */
  final def keepAlive[B >: A](idle: FiniteDuration, filler: B): Stream[B] =
    Stream.positive("keepAlive", "time", idle)
    Stream.of(() => IdleStage(open(), idle.toNanos, () => filler))

  /** For each element the first of what `f` makes of it, and more of that as long as the consumer
    * asks and the next element is not there. The end of this comes at once.
    * {{{
    * val latest: Stream[Config] = Stream.repeatEval(configChanged).expand(Iterator.continually(_))
    * }}}
    */
  final def expand[B](f: A => Iterator[B]): Stream[B] =
    Stream.of(() => ExpandStage(open(), Stream.erased(f)))

  /** The same elements, after a pause of `duration` before the first is asked for. For a pause
    * between elements, use `spaced`.
    * {{{
    * val polled = Stream.repeatEval(configChanged).delayBy(1.minute)
    * }}}
    */
  final def delayBy(duration: FiniteDuration): Stream[A] = Stream.exec(Task.sleep(duration)) ++ this

  /** The same elements, with `delay` between the use of one and the next one.
    * {{{
    * val polite = Stream.emits(urls).spaced(1.second).map(fetch)
    * }}}
    */
  final def spaced(delay: FiniteDuration): Stream[A] =
    Stream.positive("spaced", "delay", delay)
    zipWithIndex.evalMap((a, n) => if n == 0 then Task.pure(a) else Task.sleep(delay).as(a))

  /** The elements of the stream that `f` makes of the latest element. When an element comes, the
    * stream of the one before is cancelled, also while the consumer is busy, and the next one
    * begins when that has ended. An element of the old stream that the consumer has not taken is
    * dropped. At most one element is made ahead.
    *
    * **Fails** as soon as this does, or a stream of `f`.
    * {{{
    * val current = Stream.repeatEval(configChanged).switchMap(c => Stream.resource(clientOf(c)))
    * }}}
    */
  final def switchMap[B](f: A => Stream[B]): Stream[B] =
    Stream.of(() => SwitchMapStage(open(), f.asInstanceOf[Any => Stream[Any]]))

  /** As `broadcastThrough`, but each element goes to one of `pipes`, which is ready for it. None
    * waits in a buffer. Where all pipes have ended, so has the stream.
    * {{{
    * val answers: Stream[String] = Stream
    *   .emits(requests)
    *   .balance(_.evalMap(r => ask(s"a.example/$r")), _.evalMap(r => ask(s"b.example/$r")))
    * }}}
    */
  final def balance[B](pipes: (Stream[A] => Stream[B])*): Stream[B] =
    require(pipes.nonEmpty, "Stream.balance: there was no pipe. Give it at least one.")
    Stream.of(() => FedStage.balance(open(), Stream.erasedPipes(pipes)))

  /** The elements of the stream that `use` makes of a signal of the latest element of this, at
    * first `initial`. This runs beside, and is cancelled when that stream ends. The end of this
    * changes nothing.
    *
    * **Fails** also as soon as this does.
    * {{{
    * val users = Stream.repeatEval(configChanged).hold(config) { latest =>
    *   Stream.fromIterable(ids).evalMap(id => latest.get.flatMap(c => store(s"$id ${c.address}")))
    * }
    * }}}
    */
  final def hold[B >: A, C](initial: B)(use: Signal[B] => Stream[C]): Stream[C] =
    Stream.eval(Signal.of(initial)).flatMap(s => use(s).concurrently(evalMap(s.set)))

  /** The same elements, which wait while the value of `paused` is true: no element comes between
    * the return of a `set(true)` and the next `set(false)`, or before the first `set(false)` if it
    * was true from the beginning. One element may be made meanwhile, and waits.
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

  /** The same elements, which wait while the latest element of `that` is true. `that` has a fiber
    * of its own, so elements may come until its first element, or a `true`, has arrived. The end of
    * `that` changes nothing. For a `Signal` pass the signal, not its stream. **Fails** also as soon
    * as `that` does.
    * {{{
    * def polite(isBusy: Task[Boolean]): Stream[String] =
    *   Stream.emits(requests).evalMap(ask).pauseWhen(Stream.repeatEval(isBusy).metered(1.second))
    * }}}
    */
  final def pauseWhen(that: Stream[Boolean]): Stream[A] =
    that.hold(false)(paused => evalTap(_ => paused.waitUntil(!_)))

  /** The values of the tasks that `f` makes of the elements, at most `parallelism` running at a
    * time, and one at a time for each key. Up to `buffer` more elements are taken, which wait for
    * their key, or for the consumer once they are done. Keys are compared by `==`.
    *
    * **Fails** with the first error, which cancels the other tasks; an error of this comes after
    * all results. **Order**: for each key, that of the elements; otherwise that in which the tasks
    * end. A key that is slow holds up no other, until `buffer` of its elements wait.
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

  /** Two streams, of the elements for which `isFirst` is true, and of the others. While the
    * resource is in use, a fiber runs this. Up to 16 elements wait in each of the two, which are
    * each to be run once, at the same time: where one of them is not run, the other will wait. One
    * that is over takes no more.
    *
    * **Fails**: an error of this, or of `isFirst`, comes in both, after the elements before it.
    * **Order**: kept. This is closed with the resource, after the use of its elements.
    * {{{
    * val both = Stream.fromIterable(ids).partition(_ % 2 == 0).use { (even, odd) =>
    *   even.evalMap(load).toList.both(odd.count)
    * }
    * }}}
    */
  final def partition(isFirst: A => Boolean): Resource[(Stream[A], Stream[A])] =
    Partition(this, isFirst)

  // ---- as a task ----

  /** Nothing, once the stream has ended.
    * {{{
    * val stored: Task[Unit] = Stream.linesOf(path).evalMap(store).drain
    * }}}
    */
  final def drain: Task[Unit] = RunStream(this, Step.Drain())

  /** All elements.
    * {{{
    * val users: Task[List[User]] = Stream.emits(ids).evalMap(load).toList
    * }}}
    */
  final def toList: Task[List[A]] = RunStream(this, Step.ToList())

  /** The last result of `f`, which is called with the result before, at first `zero`, and each
    * element.
    * {{{
    * val longest: Task[Int] = Stream.linesOf(path).fold(0)((most, line) => most.max(line.length))
    * }}}
    */
  final def fold[B](zero: B)(f: (B, A) => B): Task[B] =
    RunStream(this, Step.Fold(zero, f.asInstanceOf[(Any, Any) => Any]))

  /** Calls `f` for each element, as the code of the enclosing `Task.direct`: `f` may `await`. When
    * this has returned or thrown, the stream's finalizers have run.
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

  /** One run of the stream, whose elements are asked for one by one, as in code that reads several
    * streams in turns. It begins with the first element that is asked for, on the fiber that asks,
    * and is closed with the outcome of the resource. Fibers may share it: they take turns, and a
    * release waits for the one that is waiting for an element.
    *
    * **Fails**, that is `Source.next`: with the error of the stream, also when it is called again;
    * with an `IllegalStateException` after the release, and after a cancel within a `next`.
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

  /** A task that takes the next element each time it runs; `None` at the end, and from then on. It
    * is `toSource` for code that is not in direct style.
    *
    * Fibers that share it take turns. The stream is closed at the release, which waits for a fiber
    * that takes. **Cancelled** while it takes: then no more can be taken. **Fails** as the stream
    * does, again each time; and with an `IllegalStateException` once it has been released.
    * {{{
    * val two: Task[List[Option[String]]] =
    *   Stream.linesOf(path).toPull.use(line => Task.sequence(List(line, line)))
    * }}}
    */
  final def toPull: Resource[Task[Option[A]]] =
    StreamSource(this).map(
      _.take.map(value => if Pull.isEnd(value) then None else Some(value.asInstanceOf[A]))
    )

  /** The first element and a stream of the others; none if there is no element. That stream goes on
    * with this run, which the resource closes: it is for inside of `use`, and another run of it
    * goes on where the one before has stopped.
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

  /** An iterator of the elements, for code that takes one. `hasNext` runs the stream up to the next
    * element on the calling thread, which it blocks; nothing is made ahead. An interrupt of that
    * thread cancels this, and throws `InterruptedException`. Otherwise as `toSource`.
    * {{{
    * val longest: Task[String] =
    *   Stream.linesOf(path).toIterator.use(lines => Task(lines.maxBy(_.length)))
    * }}}
    */
  final def toIterator: Resource[Iterator[A]] = StreamSource.iterator(this)

  /** A publisher, for each of whose subscribers the stream runs anew, on a fiber of its own; the
    * elements of a strict collection without a stage come from the thread that requests them, up to
    * 256 in one request. It does nothing before that, and asks the stream for an element once one
    * is requested; the end comes with the last element of a collection, and otherwise with a
    * request for one more.
    *
    * **Waits** while nothing is requested. **Cancelled** by the subscriber: cancels the run;
    * `cancel` does not wait for its finalizers. **Fails**: the subscriber's `onError` is called
    * after the finalizers, as `onComplete` is; an element that is null is an error. What the
    * subscriber throws ends the run, and is reported on the standard error.
    *
    * Where `org.reactivestreams` is asked for: `FlowAdapters.toPublisher(stream.toPublisher)`.
    * {{{
    * val bytes = Stream.fromPath(path).map(java.nio.ByteBuffer.wrap(_))
    * val body = java.net.http.HttpRequest.BodyPublishers.fromPublisher(bytes.toPublisher)
    * }}}
    */
  final def toPublisher[B >: A](using runtime: Runtime): Flow.Publisher[B] =
    StreamPublisher(this, runtime).asInstanceOf[Flow.Publisher[B]]

  /** How many elements there are.
    * {{{
    * val lines: Task[Long] = Stream.linesOf(path).count
    * }}}
    */
  final def count: Task[Long] = RunStream(this, Step.Count())

  /** The first element, if there is one. Asks for no more.
    * {{{
    * val header: Task[Option[String]] = Stream.linesOf(path).head
    * }}}
    */
  final def head: Task[Option[A]] = take(1).last

  /** The last element, if there is one.
    * {{{
    * val latest: Task[Option[String]] = Stream.linesOf(path).last
    * }}}
    */
  final def last: Task[Option[A]] = fold(Option.empty[A])((_, a) => Some(a))

  /** The first element for which `is` is true. Asks for no more after it, as do the next four.
    *
    * {{{
    * val firstLong: Task[Option[String]] = Stream.linesOf(path).find(_.length > 100)
    * }}}
    */
  final def find(is: A => Boolean): Task[Option[A]] = filter(is).head

  /** The first value of `f`, where it is defined.
    * {{{
    * val number: Task[Option[Int]] =
    *   Stream.linesOf(path).map(_.toIntOption).collectFirst { case Some(n) => n }
    * }}}
    */
  final def collectFirst[B](f: PartialFunction[A, B]): Task[Option[B]] = collect(f).head

  /** Whether `is` is true for an element.
    * {{{
    * val hasError: Task[Boolean] = Stream.linesOf(path).exists(_.contains("ERROR"))
    * }}}
    */
  final def exists(is: A => Boolean): Task[Boolean] = find(is).map(_.isDefined)

  /** Whether `is` is true for each element. */
  final def forall(is: A => Boolean): Task[Boolean] = exists(a => !is(a)).map(!_)

  /** `f` of the result before, at first the first element, and each further one; none if there is
    * no element.
    * {{{
    * val longest: Task[Option[String]] =
    *   Stream.linesOf(path).reduce((a, b) => if a.length < b.length then b else a)
    * }}}
    */
  final def reduce[B >: A](f: (B, B) => B): Task[Option[B]] =
    fold(Option.empty[B])((before, a) => Some(before.fold(a: B)(f(_, a))))

  /** As `fold`, with the result of the task that `f` makes.
    *
    * {{{
    * val balance = Stream.emits(ids).evalFold(0)((sum, id) => visitsOf(id).map(sum + _))
    * }}}
    */
  final def evalFold[B](zero: B)(f: (B, A) => Task[B]): Task[B] = Task.defer {
    var state = zero
    evalMap(a => f(state, a).map(b => state = b)).drain.map(_ => state)
  }

  /** Runs the task that `f` makes of each element, one after the other.
    * {{{
    * val stored: Task[Unit] = Stream.linesOf(path).evalForeach(store)
    * }}}
    */
  final def evalForeach(f: A => Task[Any]): Task[Unit] = evalMap(f).drain

  /** All elements. */
  final def toVector: Task[Vector[A]] = toCollection(Vector)

  /** All elements, in a collection of this kind.
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

  /** The sum of the elements.
    * {{{
    * val cents: Task[Int] = Stream.evalSeq(ordersOf(id)).map(_.cents).sum
    * }}}
    */
  final def sum[B >: A](using number: Numeric[B]): Task[B] =
    fold(number.zero)((sum, a) => number.plus(sum, a))

  /** The elements as text, with `separator` between them.
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

  /** No elements.
    * {{{
    * val lines: Stream[String] = if dryRun then Stream.empty else Stream.linesOf(path)
    * }}}
    */
  val empty: Stream[Nothing] = of(() => EmptySource)

  /** One element.
    * {{{
    * val one: Stream[String] = Stream.emit("id,name")
    * }}}
    */
  def emit[A](value: A): Stream[A] = of(() => EmitSource(value))

  /** The elements of `items`.
    * {{{
    * val users: Stream[User] = Stream.fromIterable(ids).evalMap(load)
    * }}}
    */
  def fromIterable[A](items: Iterable[A]): Stream[A] = Iterated(items)

  /** The elements of the iterator that `iterator` makes each time the stream runs. Its `next` may
    * block. **Fails** with an `IllegalStateException` if that is the iterator of the run before.
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

  /** The elements of the source that `open` returns each time the stream runs. `open` is run when
    * the first element is asked for, and the source is closed once, when the stream is over,
    * however it ends. `Source` has an example.
    *
    * **Waits** where the source does: it may block. **Cancelled** while the source waits, and
    * between elements; `open` and `Source.close` are masked, so what takes long to open is better
    * opened by the first `Source.next`. **Fails** with what `open`, `next` or `close` throws; after
    * an error of `open` there is nothing to close.
    * {{{
    * final class Countdown(var left: Int) extends Source[Int]:
    *   def next()(using Task.Direct): Int | Source.End =
    *     if left == 0 then Source.End else { left -= 1; left }
    *
    * val numbers: Stream[Int] = Stream.fromSource(Task(Countdown(10)))
    * }}}
    */
  def fromSource[A](open: Task[Source[A]]): Stream[A] = of(() => SourcePull(open))

  /** The bytes of a file, in blocks of `blockBytes`, of which the last one may be smaller; of a
    * pipe, what each read has returned. Each block is an array of its own, which the consumer may
    * keep. The file is opened when the stream runs, and closed when it is over.
    *
    * **Cancelled** also while it reads, and while it opens a named pipe that nobody writes to.
    * {{{
    * val bytes: Task[Long] = Stream.fromPath(path).map(_.length.toLong).sum
    * }}}
    */
  def fromPath(path: Path, blockBytes: Int = 65536): Stream[Array[Byte]] =
    blocks("fromPath", blockBytes)(ByteInput.ofPath(path))

  /** The bytes of the input that `open` returns each time the stream runs, as `fromPath`. It is
    * closed once.
    *
    * **Cancelled** while it reads: interrupts the read, and closes the input. A cancel waits for a
    * read that neither of them ends, such as one of `System.in`: pass
    * `FileInputStream(FileDescriptor.in)` instead. `open` is masked. **Fails** with an
    * `IllegalStateException` if `open` returns the input of the run before.
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

  /** The lines of a file, without the `\n`, `\r` or both that end them.
    *
    * **Cancelled** as `fromPath`. **Fails** with an `IOException` that names the line where the
    * bytes are not of this charset, after the lines before that one.
    * {{{
    * val errors: Task[Long] = Stream.linesOf(path).filter(_.contains("ERROR")).count
    * }}}
    */
  def linesOf(path: Path, charset: Charset = StandardCharsets.UTF_8): Stream[String] =
    of(() => LinesStage(fromPath(path).open(), charset, s"Stream.linesOf: $path"))

  /** The elements that `f` makes of the state, at first `zero`, until it returns none.
    * {{{
    * val digits: Stream[Int] = Stream.unfold(1729)(n => Option.when(n > 0)((n % 10, n / 10)))
    * }}}
    */
  def unfold[S, A](zero: S)(f: S => Option[(A, S)]): Stream[A] = of(() => UnfoldSource(zero, f))

  /** One element, the value of `task`.
    * {{{
    * val orders: Stream[Order] = Stream.eval(ordersOf(id)).mapConcat(identity)
    * }}}
    */
  def eval[A](task: Task[A]): Stream[A] = of(() => EvalSource(task))

  /** One element: the value of `code`, which is evaluated each time the stream runs, and may block.
    * The same as `Stream.eval(Task(code))`.
    * {{{
    * val text: Stream[String] = Stream.delay(Files.readString(path))
    * }}}
    */
  def delay[A](code: => A): Stream[A] = eval(Task.delay(code))

  /** The values of `task`, run again and again.
    * {{{
    * val polled: Stream[Config] = Stream.repeatEval(fromNetwork).metered(1.second)
    * }}}
    */
  def repeatEval[A](task: Task[A]): Stream[A] = of(() => RepeatEvalSource(task))

  /** One element, the value of `acquire`; `release` of it runs once, when the stream is over,
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

  /** One element, the resource, which is released once, when the stream is over. Its finalizers get
    * the outcome of the stream: it has succeeded also where the consumer asks for no more elements.
    * {{{
    * val totals: Stream[Int] =
    *   Stream.resource(connection).flatMap(db => Stream.emits(ids).map(id => total(db, id)))
    * }}}
    */
  def resource[A](resource: Resource[A]): Stream[A] = of(() => ResourceSource(resource))

  /** No elements, and no end. */
  val never: Stream[Nothing] = eval(Task.never)

  /** Fails with `error`.
    * {{{
    * val lines: Stream[String] = Stream.linesOf(path) ++ Stream.fail(IOException("no END"))
    * }}}
    */
  def fail(error: Throwable): Stream[Nothing] = of(() => FailSource(error))

  // ---- values, effects and state ----

  /** The elements of `items`.
    * {{{
    * val three: Stream[Int] = Stream(1, 2, 3)
    * }}}
    */
  def apply[A](items: A*): Stream[A] = fromIterable(items)

  /** No elements; the stream ends once `task` has run.
    * {{{
    * val lines = Stream.exec(Task(log("begins"))) ++ Stream.linesOf(path)
    * }}}
    */
  def exec(task: Task[Any]): Stream[Nothing] = eval(task).flatMap(_ => empty)

  /** The elements of the collection that `task` returns.
    * {{{
    * val orders: Stream[Order] = Stream.evalSeq(ordersOf(id))
    * }}}
    */
  def evalSeq[A](task: Task[IterableOnce[A]]): Stream[A] = eval(task).mapConcat(identity)

  /** The numbers `from`, `from + step` and so on, before `until`. `step` may be negative.
    * {{{
    * val even: Stream[Int] = Stream.range(0, 100, step = 2)
    * }}}
    */
  def range(from: Int, until: Int, step: Int = 1): Stream[Int] =
    require(step != 0, "Stream.range: the step was 0. It must be positive or negative.")
    rangeLong(from, until, step).map(_.toInt)

  /** As `range`, of `Long`. */
  def rangeLong(from: Long, until: Long, step: Long = 1): Stream[Long] =
    require(step != 0, "Stream.rangeLong: the step was 0. It must be positive or negative.")
    unfold(from)(n =>
      Option.when(if step > 0 then n < until else n > until) {
        val next = n + step
        (n, if (next > n) == (step > 0) then next else until) // the sum may overflow
      }
    )

  /** `zero`, then each time `f` of the element before, without end.
    * {{{
    * val powers: Stream[Long] = Stream.iterate(1L)(_ * 2).take(10)
    * }}}
    */
  def iterate[A](zero: A)(f: A => A): Stream[A] = iterated(Iterator.iterate(zero)(f))

  /** As `iterate`, with a task for each element but the first. */
  def iterateEval[A](zero: A)(f: A => Task[A]): Stream[A] =
    emit(zero) ++ unfoldEval(zero)(before => f(before).map(after => Some((after, after))))

  /** The elements that the tasks make which `f` makes of the state, at first `zero`, until one
    * returns none: for pages that are asked for one after the other.
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

  /** `value`, without end.
    * {{{
    * val pairs: Stream[(String, Int)] = Stream.linesOf(path).zip(Stream.constant(1))
    * }}}
    */
  def constant[A](value: A): Stream[A] = iterated(Iterator.continually(value))

  /** The values of `task`, run again and again until it returns none.
    * {{{
    * val lines: Stream[String] = Stream.repeatEvalOption(Task(Option(readLine())))
    * }}}
    */
  def repeatEvalOption[A](task: Task[Option[A]]): Stream[A] =
    repeatEval(task).takeWhile(_.isDefined).map(_.get)

  /** The elements of the stream that `stream` makes each time it runs: for state of a run, and for
    * recursion.
    * {{{
    * val numbered: Stream[String] = Stream.suspend {
    *   var count = 0
    *   Stream.linesOf(path).map { line => count += 1; s"$count $line" }
    * }
    * }}}
    */
  def suspend[A](stream: => Stream[A]): Stream[A] = empty ++ stream

  /** The value; **Fails** with what is on the left.
    * {{{
    * val numbers: Stream[Int] =
    *   Stream.emits(fields).flatMap(field => Stream.fromEither(parse(field).toEither))
    * }}}
    */
  def fromEither[A](either: Either[Throwable, A]): Stream[A] = either.fold(fail, emit)

  /** The value, or no element. */
  def fromOption[A](option: Option[A]): Stream[A] = fromIterable(option.toList)

  /** The value; **Fails** with the error. */
  def fromTry[A](result: Try[A]): Stream[A] = fromEither(result.toEither)

  /** The elements of the JDK's stream that `open` makes each time this runs. It is closed once.
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

  /** The elements of `publisher`, subscribed to when the first is asked for, and anew each time the
    * stream runs. `buffer` elements are requested at first; then, as they are used up, as many
    * again, in batches of half of that. At most `buffer` are held, or requested and not there yet.
    *
    * **Waits** for the next element. **Cancelled**, and where no more elements are asked for:
    * cancels the subscription, which does not wait for the publisher. **Fails** with the
    * publisher's error, after the elements before it; and with an `IllegalStateException` where the
    * publisher breaks a rule of Reactive Streams. **Order**: the publisher's.
    *
    * Publishers of the interface `org.reactivestreams` come by `FlowAdapters.toFlowPublisher`.
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

  /** A processor that puts what its publisher signals through `pipe`, for one subscriber. The pipe
    * runs once, from when the subscriber comes; it may run concurrently. `buffer` is as that of
    * `fromPublisher`; besides, one element is ready for the subscriber before it is requested.
    *
    * **Cancelled** by the subscriber: cancels the pipe, and so the subscription to the publisher.
    * **Fails**: with the error of the publisher or of the pipe the subscriber's `onError` is
    * called. It is called with an `IllegalStateException` for a second subscriber.
    * {{{
    * val names: java.util.concurrent.Flow.Processor[Int, String] =
    *   Stream.processor[Int, String](_.parEvalMap(8)(id => load(id).map(_.name)))
    * }}}
    */
  def processor[A, B](pipe: Stream[A] => Stream[B], buffer: Int = 64)(using
      runtime: Runtime
  ): Flow.Processor[A, B] =
    require(buffer >= 1, s"Stream.processor: the buffer was $buffer. It must be at least 1.")
    val erased = pipe.asInstanceOf[Stream[Any] => Stream[Any]]
    StreamProcessor(erased, buffer, runtime).asInstanceOf[Flow.Processor[A, B]]

  // ---- time ----

  /** One element, after `duration`.
    * {{{
    * val later: Stream[Config] = Stream.sleep(1.second).flatMap(_ => Stream.eval(fromNetwork))
    * }}}
    */
  def sleep(duration: FiniteDuration): Stream[Unit] = eval(Task.sleep(duration))

  /** An element at each `interval` from the beginning, without end: the time since then. The first
    * comes after one `interval`. If the consumer takes longer than that, the next element comes at
    * once, and those that were missed are left out.
    * {{{
    * val progress = Stream.awakeEvery(1.second).evalTap(t => Task(log(s"$t")))
    * }}}
    */
  def awakeEvery(interval: FiniteDuration): Stream[FiniteDuration] =
    positive("awakeEvery", "interval", interval)
    eval(Task.monotonic).flatMap(begin =>
      fixedRate(interval).evalMap(_ => Task.monotonic.map(_ - begin))
    )

  /** As `awakeEvery`, without the time.
    * {{{
    * val measured: Stream[Int] = Stream.fixedRate(1.second).evalMap(_ => visitsOf(id))
    * }}}
    */
  def fixedRate(interval: FiniteDuration): Stream[Unit] =
    positive("fixedRate", "interval", interval)
    fromSchedule(Schedule.fixed(interval))

  /** An element `delay` after the beginning, and each time `delay` after the consumer has asked for
    * the next, without end.
    * {{{
    * val polled: Stream[Config] = Stream.fixedDelay(1.second).evalMap(_ => fromNetwork)
    * }}}
    */
  def fixedDelay(delay: FiniteDuration): Stream[Unit] =
    positive("fixedDelay", "delay", delay)
    repeatEval(Task.sleep(delay))

  /** An element after each wait of `schedule`, until that stops.
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

  /** `path` and what is below it, a directory before its entries, down to `maxDepth` levels; links
    * are not followed. Directories are read when the consumer comes to them.
    *
    * **Cancelled** between paths. **Fails** with an `IOException` where a directory cannot be read.
    * {{{
    * val sources = Stream.walk(path).filter(_.toString.endsWith(".scala"))
    * }}}
    */
  def walk(path: Path, maxDepth: Int = Int.MaxValue): Stream[Path] =
    require(maxDepth >= 0, s"Stream.walk: the depth was $maxDepth. It must be at least 0.")
    fromSource(Task(WalkSource(Files.walk(path, maxDepth))))

  /** The changes in `directory`, not those below its directories, from when the first is asked for.
    * It ends when the directory is deleted.
    *
    * **Waits** for the next change. **Fails** with an `IOException` if there is no such directory.
    * **Order**: changes of one file keep theirs; several of them may be one.
    * {{{
    * val created = Stream.watch(path).collect { case FileChange.Created(file) => file }
    * }}}
    */
  def watch(directory: Path): Stream[FileChange] = fromSource(Task(WatchSource(directory)))

  /** The bytes of a file that grows, without end: what it has, or with `fromEnd` what is added, as
    * it is added. Each `interval` it is looked for more. If another file takes the place of this
    * one, as when logs are rotated, the rest of this one comes first, then all of that one; a file
    * that becomes shorter is read from its beginning. Where there is no file, one is waited for.
    *
    * A file that is cut and has grown beyond its old length within one interval is not seen to be
    * another one.
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

  /** The values of `queue`, without end. Each is taken when the stream asks for it, and by one
    * taker: several streams share the values.
    * {{{
    * val stored = Queue.bounded[String](100).flatMap { queue =>
    *   val filled = Stream.emits(requests).intoQueue(queue)
    *   filled.both(Stream.fromQueue(queue).take(2).evalForeach(store))
    * }
    * }}}
    */
  def fromQueue[A](queue: Queue[A]): Stream[A] = repeatEval(queue.take)

  /** As `fromQueue`, up to the first none.
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

  /** The elements that callbacks give to the `Emit` that `register` gets, from any thread.
    * `register` says how to begin and how to stop: its resource is acquired when the first element
    * is asked for, and released when the stream is over. `bound` elements are buffered at most;
    * `overflow` says what becomes of one more.
    *
    * **Waits** for the next element. **Fails** after the elements before it with the error given to
    * `Emit.fail`, and, with `Overflow.Fail`, with a `BufferOverflow`.
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

  /** The elements that `body` emits, which is code as that of a `Task.direct`: it may await, loop
    * over other streams, and block. It runs on a fiber of its own, in turns with the consumer: an
    * emit waits until the consumer asks for the next element. So nothing is made ahead: for that,
    * add `prefetchN`. The stream ends when `body` does.
    *
    * **Cancelled** when the consumer wants no more: `body` is cancelled where it awaits, emits or
    * blocks, and the stream waits for its finalizers, for which that is a cancel. **Fails** with
    * what `body` throws, after the elements before it.
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

  /** What the code of `Stream.direct` gives its elements to. */
  abstract class Emitter[-A] private[weir] ():
    /** Makes `value` the next element. Also for the fibers that the block waits for: their elements
      * come in the order in which they were emitted.
      *
      * **Waits** until the consumer asks for the element after it. **Cancelled** when the consumer
      * wants no more; in what is masked then, it returns at once, and there is no element.
      * **Fails** with an `IllegalStateException` after the end of the block.
      * {{{
      * val numbered: Stream[String] = Stream.direct { emit =>
      *   var n = 0
      *   for line <- Stream.linesOf(path) do { n += 1; emit(s"$n $line") }
      * }
      * }}}
      */
    def apply(value: A)(using Task.Direct): Unit

  /** What the callbacks of `Stream.async` give their elements to. Its methods never wait. */
  abstract class Emit[-A] private[weir] ():
    /** True if `value` is an element of the stream now; false if it was dropped, or comes after the
      * end or after the consumer has asked for no more.
      * {{{
      * def received(emit: Stream.Emit[String], line: String): Unit =
      *   if !emit(line) then log(s"dropped: $line")
      * }}}
      */
    def apply(value: A): Boolean

    /** Ends the stream, after what is in the buffer.
      * {{{
      * def received(emit: Stream.Emit[String], line: String): Unit =
      *   if line == "END" then emit.end() else emit(line): Unit
      * }}}
      */
    def end(): Unit

    /** Ends the stream with `error`, after what is in the buffer. Nothing after the end.
      * {{{
      * def closed(emit: Stream.Emit[String], code: Int): Unit =
      *   if code == 0 then emit.end() else emit.fail(IOException(s"closed with $code"))
      * }}}
      */
    def fail(error: Throwable): Unit
