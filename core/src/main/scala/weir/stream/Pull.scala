package weir.stream

import weir.Outcome
import weir.fiber.{CancelSignal, HoldsUserCode, TaskFiber}
import weir.group.Failures

/** A running stream, which is asked for one element after the other. README.md describes its life.
  *
  * It belongs to one fiber at a time, which is passed with each call. The calls run as plain code
  * of that fiber, and may await. A pull does nothing before its first `next`.
  */
private[weir] abstract class Pull extends HoldsUserCode:

  /** Returns the next element, or `Pull.End`; after the end, `Pull.End` again. **Fails** by
    * throwing: then only `close` may follow.
    */
  def next(fiber: TaskFiber): Any

  /** Takes up to `limit` elements that exist already, so that taking them neither waits nor runs
    * code of the user's. Returns null if none are known. Called after `next`. A stage that moves
    * elements to another fiber moves these together, and does not count them as made ahead.
    */
  private[stream] def takeReady(limit: Int): Chunk | Null = null

  /** Ends the pull: stops its fibers, then runs its finalizers, also after an error or before the
    * end. Called once, masked, after the last element has been used, with the outcome of that use.
    * A stage calls it for its upstream.
    */
  def close(fiber: TaskFiber, outcome: Outcome[Unit]): Unit

  /** Reports that no more than `count` elements will be asked for, and that the end of the stream
    * will not be asked for after them either. So a fiber of this pull makes no more. Called before
    * `next`; of several counts the lowest holds. A stage passes the count on to its upstream if it
    * knows how many elements it will ask for, unless the user may want the first result of many.
    */
  def atMost(count: Long): Unit = ()

  /** Reports that the elements are not used, as in `drain`: `next` may return the end without them.
    * A stage that runs effects on fibers of its own then hands no result over. Called before
    * `next`.
    */
  private[stream] def discard(): Unit = ()

  /** Returns true if there is nothing left, neither an element nor anything to close: then the pull
    * need not be kept. Runs no code of the user's. Called after `next`.
    */
  def isSpent: Boolean = false

  /** Returns true if the first `next` returns the result of the whole stream: see `FusedPull`. */
  def hasEnd: Boolean = false

  /** Returns true if there is nothing to close, whether elements are left or not. */
  def holdsNothing: Boolean = false

  /** Returns true if elements come from fibers of this pull's own, or of one upstream, or may do
    * so, as far as is known before the first `next`.
    */
  def hasFibers: Boolean = false

  /** Returns true if `next` is code that neither runs a task nor waits for a fiber: so it cannot
    * cancel the fiber that pulls, nor change its locals.
    */
  def isPlain: Boolean = false

  /** Returns true if all elements exist already: `takeReady` returns each of them, also without a
    * `next` before, and nothing has to be closed.
    */
  private[stream] def isReady: Boolean = false

  /** Returns true if this has one element, which an effect makes. A `flatMap` often makes the rest
    * of a program from it, such as `Stream.eval(Topic[Int]).flatMap(…)`, and that may have fibers.
    */
  def isOneEffect: Boolean = false

private[weir] object Pull:
  val End: Terminal.Ended.type = Terminal.Ended

  val succeeded: Outcome[Unit] = Outcome.Succeeded(())

  inline def isEnd(value: Any): Boolean = value.asInstanceOf[AnyRef] eq Terminal.Ended

  /** Runs `body`, then `close`, masked, however `body` has ended. An error of `close` is suppressed
    * under the error of `body`.
    */
  def closing[A](pull: Pull, fiber: TaskFiber)(body: => A): A =
    var thrown: Throwable | Null = null
    var isAwaited = false
    try body
    catch
      case error: Throwable =>
        thrown = error
        isAwaited = fiber.thrown eq error
        throw error
    finally
      val outcome = thrown match
        case null => succeeded
        case CancelSignal => Outcome.Canceled
        case error: Throwable => Outcome.Failed(error)
      try
        fiber.masked(pull.close(fiber, outcome))
        if isAwaited then fiber.thrown = thrown // the tasks of `close` have cleared it
      catch
        case later: Throwable =>
          thrown match
            case null => throw later
            case CancelSignal => fiber.runtime.report("a finalizer of a cancelled fiber", later)
            case error: Throwable =>
              Failures.add(error, later): Unit
              if isAwaited then fiber.thrown = error

  /** As `Failures.add`, which code that is inlined in other packages cannot name. */
  def bothFailed(first: Throwable | Null, later: Throwable): Throwable = Failures.add(first, later)

  /** Calls `first`, then `second`, also if `first` throws. */
  inline def both(inline first: Unit, inline second: Unit): Unit =
    var thrown: Throwable | Null = null
    try first
    catch case error: Throwable => thrown = error
    try second
    catch case later: Throwable => thrown = bothFailed(thrown, later)
    if thrown ne null then throw thrown

/** A stage that closes only its upstream. */
private[weir] abstract class Stage(upstream: Pull) extends Pull:
  def close(fiber: TaskFiber, outcome: Outcome[Unit]): Unit = upstream.close(fiber, outcome)
  override def holdsNothing: Boolean = upstream.holdsNothing
  override def hasFibers: Boolean = upstream.hasFibers

/** A stage that is plain if its upstream is. */
private[weir] abstract class PlainStage(upstream: Pull) extends Stage(upstream):
  final override def isPlain: Boolean = upstream.isPlain

/** A pull without an upstream, and with nothing to close. */
private[weir] abstract class PlainSource extends Pull:
  def close(fiber: TaskFiber, outcome: Outcome[Unit]): Unit = ()
  override def holdsNothing: Boolean = true
