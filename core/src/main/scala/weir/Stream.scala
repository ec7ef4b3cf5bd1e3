package weir

import scala.concurrent.duration.FiniteDuration
import weir.fiber.HoldsUserCode
import weir.runtime.DurationText
import weir.std.StreamMonitor
import weir.stream.*

/** A description of a sequence of elements and of the effects that produce them.
  *
  * A stream is run by a task (`drain`, `toList`, `fold`, `count`). That task is a plain loop on one
  * fiber, except for the operators that run concurrently; their comments say so. The finalizers of
  * the stream run once: when it ends, fails or is cancelled, or when the consumer asks for no more
  * elements. Sizes are numbers of elements, unless their name says bytes.
  */
abstract class Stream[+A] private[weir] ()
    extends HoldsUserCode,
      StreamChanges[A],
      StreamCombinations[A],
      StreamConcurrency[A],
      StreamParallelMaps[A],
      StreamTimes[A],
      StreamEnds[A]:

  private[weir] def open(): Pull

  /** Opens the stream and appends `end` to its fused loop, if there is a fused class for that.
    * `Pull.hasEnd` of the result says whether `end` was appended.
    */
  private[weir] def openUntil(end: Step.End): Pull =
    val pull = open()
    val fused = FusedShapes.open(pull, Array(end), this)
    if fused ne null then fused else pull

  private[weir] def transform[B](make: => Transformer[A, B]): Stream[B] =
    Stream.of(() => TransformStage(open(), make))

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

object Stream extends StreamValues, StreamInputs:

  private[weir] def of[A](make: () => Pull): Stream[A] = new Stream[A]:
    private[weir] def open(): Pull = make()

  private[weir] def erased[A, B](f: A => B): Any => B = f.asInstanceOf[Any => B]

  private[weir] def positive(operator: String, name: String, time: FiniteDuration): Unit =
    require(
      time.toNanos >= 1,
      s"Stream.$operator: the $name was ${DurationText(time)}. It must be more than 0."
    )

  /** Returns `value`, which a function of the user has returned for an element. **Fails** if it is
    * negative.
    */
  private[weir] def notNegative(operator: String, name: String, value: Long): Long =
    if value < 0 then
      throw IllegalArgumentException(
        s"Stream.$operator: the $name of an element was $value. It must be at least 0."
      )
    value

  /** Emits no elements and ends.
    * {{{
    * val lines: Stream[String] = if dryRun then Stream.empty else Stream.linesOf(path)
    * }}}
    */
  val empty: Stream[Nothing] = of(() => EmptySource)

  /** Emits no elements and never ends. It can be cancelled. */
  val never: Stream[Nothing] = of(() => EvalSource(Task.never))

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
