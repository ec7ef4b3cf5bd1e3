package weir.stream

import weir.Outcome
import weir.kernel.{CancelSignal, RunLoop}
import weir.task.Failures

/** A running stream: a loop that is asked for one element after the other.
  *
  * It belongs to one fiber at a time, which is given with each call; the calls run as plain code of that fiber, and
  * may `await`. A pull does nothing before its first `next`.
  */
private[weir] abstract class Pull:

  /** The next element, or `Pull.End`, and so for ever after. '''Fails''' by throwing; then only `close` may follow. */
  def next(fiber: RunLoop): Any

  /** Ends the pull: stops its fibers, then runs its finalizers, also after an error or half-way. Called once, masked,
    * after the last element has been used, with how that use has ended. Pulls above call it for those below.
    */
  def close(fiber: RunLoop, outcome: Outcome[Unit]): Unit

  /** Tells that no more than `count` elements will be asked for, the end of the stream neither: so a fiber of this pull makes
    * no more of them. To be called before `next`; of several counts the lowest holds. A stage passes on what it knows of
    * the pull above it. One that cannot know how many it will ask for passes on nothing, nor does one of which a user may want
    * the first of many to end.
    */
  def atMost(count: Long): Unit = ()

  /** True if there is nothing left, neither an element nor anything to close: so nobody need keep
    * this pull. It is found out without running any code of the user's. To be asked after `next`.
    */
  def isSpent: Boolean = false

  /** True if there is nothing to close, whether elements are left or not. */
  def holdsNothing: Boolean = false

private[weir] object Pull:
  object End

  val succeeded: Outcome[Unit] = Outcome.Succeeded(())

  inline def isEnd(value: Any): Boolean = value.asInstanceOf[AnyRef] eq End

  /** `body`, then `close`, masked, whatever happened. An error of `close` goes under the one of `body`. */
  def closing[A](pull: Pull, fiber: RunLoop)(body: => A): A =
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
        if isAwaited then fiber.thrown = thrown // the tasks of `close` have made it forget that
      catch
        case later: Throwable =>
          thrown match
            case null => throw later
            case CancelSignal => fiber.runtime.report("a finalizer of a canceled fiber", later)
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

/** A stage that closes what is above it and nothing else. */
private[weir] abstract class Stage(upstream: Pull) extends Pull:
  def close(fiber: RunLoop, outcome: Outcome[Unit]): Unit = upstream.close(fiber, outcome)
  override def holdsNothing: Boolean = upstream.holdsNothing

/** A pull with nothing to close. */
private[weir] abstract class Source extends Pull:
  def close(fiber: RunLoop, outcome: Outcome[Unit]): Unit = ()
  override def holdsNothing: Boolean = true
