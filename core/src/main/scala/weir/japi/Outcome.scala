package weir.japi

import java.util.Optional
import weir.Outcome as ScalaOutcome

/** The way in which a task or a fiber has ended: with a value, with an error, or cancelled. */
final class Outcome[A] private[japi] (underlying: ScalaOutcome[A]):

  def isSucceeded: Boolean = underlying.isInstanceOf[ScalaOutcome.Succeeded[?]]
  def isFailed: Boolean = underlying.isInstanceOf[ScalaOutcome.Failed[?]]
  def isCancelled: Boolean = !isSucceeded && !isFailed

  /** Returns the value. **Fails** with the error, or with a
    * `java.util.concurrent.CancellationException`, if there is no value.
    */
  @throws[Exception]
  def get(): A = underlying.get

  /** Returns the error, if this is a failure. */
  def error(): Optional[Throwable] = underlying match
    case ScalaOutcome.Failed(error) => Optional.of(error)
    case _ => Optional.empty

  override def toString: String = underlying.toString
